"""How an outcome is worded: in the request's language, and citing its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from libs.events.values import Candidate
from libs.models.offline import phrasebook as say
from libs.models.offline.archives import is_archive
from libs.models.offline.clauses import ACTIONS, Clause, Reading
from libs.models.offline.ground import Ground
from libs.models.offline.phrasebook import Phrases
from libs.models.offline.quantities import BY
from libs.models.ports import Answered, Offer, Unclear, Why
from libs.retrieval.formality import formally
from libs.retrieval.lexicon import Language, listed
from libs.retrieval.likeness import nearest, terms
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold, language_of, words
from libs.skills import ToolDefinition


def use_of(tool: ToolDefinition, language: Language) -> str:
    """What it is good for, in plain words; of one that is not ours in its own."""
    ours = say.USES.get(tool.name)
    return ours[language] if ours else tool.description.split(". ")[0].rstrip(".").lower()


def candidate(tool: ToolDefinition, score: float, *, language: Language) -> Candidate:
    """A skill to choose, by what its tool is good for."""
    told = use_of(tool, language)
    return Candidate(skill=tool.skill, score=round(score, 3), description=f"{told[:1].upper()}{told[1:]}.")


END = regex(r"[.,;:!?\n](?=\s|$)")


@dataclass(frozen=True, slots=True)
class Voice:
    """Speaks about one request, and about the tools that there are."""

    reading: Reading
    tools: Mapping[str, ToolDefinition]
    formal: bool = False
    """Is German spoken with Sie?"""

    def say(self, phrases: Phrases, **values: str) -> str:
        template = phrases[self.reading.language]
        return (formally(template) if self.formal and self.reading.language == "de" else template).format(**values)

    def quoted(self, name: str) -> str:
        return self.say(say.QUOTED, name=name)

    def answers(self, phrases: Phrases, why: Why = Why.ANSWER, **values: str) -> Answered:
        return Answered(self.say(phrases, **values), why)

    def asks(self, phrases: Phrases, *missing: str, **values: str) -> Unclear:
        about, partly = values.get("said", ""), phrases in (say.ONLY_PART, say.WHETHER)
        return Unclear(self.say(phrases, **values), missing=missing, about=about, partly=partly)

    def said(self, *clauses: Clause) -> str:
        """The clauses as they were written."""
        return " … ".join(self._written(clause) for clause in clauses)

    def _written(self, clause: Clause) -> str:
        """What was put plainly as it was put: where it stands, half of something else was written."""
        span = slice(min(item.start for item in clause.items), max(item.end for item in clause.items))
        plain, text = self.reading.plain[span], self.reading.text
        invented = not {word.folded for word in words(plain)} <= {word.folded for word in words(text)}
        if invented:
            return text[span.start : next((found.start() for found in END.finditer(text, span.stop)), len(text))]
        return text[span] if plain in ("", text[span]) else " ".join(plain.split())

    def declines(self) -> Answered:
        return self.answers(say.DECLINED, Why.DECLINED, examples=self.examples())

    def by_which(self, question: Phrases, said: Sequence[Word], *, units: Sequence[str]) -> Unclear:
        """Asks by what to sort, and offers the request with each in the place of what was said."""
        names = [self.say(say.UNITS[unit]) for unit in units]
        offers = tuple(Offer(name, self._sorted_by(said, name)) for name in names)
        text = self.reading.text[said[0].start : said[-1].end]
        return replace(self.asks(question, "by", said=text), offers=offers)

    def which_junk(self, said: Sequence[Word]) -> Unclear:
        """Asks what is worth nothing here, and offers the request with each sort in the place of what was said."""
        start, end = said[0].start, said[-1].end
        text = self.reading.text
        names = [self.say(sort) for sort in say.JUNK]
        offers = tuple(Offer(name, f"{text[:start]}{name}{text[end:]}") for name in names)
        choices = self.say(say.OR).join(f"({n}) {name}" for n, name in enumerate(names, 1))
        asked = self.asks(say.WHICH_JUNK, "paths", said=text[start:end], choices=choices)
        return replace(asked, offers=offers)

    def _sorted_by(self, said: Sequence[Word], unit: str) -> str:
        """What an idiom has put plainly stands elsewhere in the text, and "alphabetically" needs a "by"."""
        text, by = self.reading.text, self.say(say.BY, unit=unit)
        if any(text[word.start : word.end] != word.text for word in said):
            return f"{text.rstrip(' .!?')} {by}"
        start, end = said[0].start, said[-1].end
        led = {*fold(text[:start]).split()[-1:]} & BY
        return f"{text[:start]}{unit if led else by}{text[end:]}"

    def lacks(self, tool: ToolDefinition, params: Sequence[str]) -> Unclear:
        """What a tool still has to be told."""
        roles = [tool.roles.get(param, param) for param in params]
        asked = [self.say(say.MISSING[role]) for role in roles if role in say.MISSING]
        question = " ".join(asked) or self.say(say.REQUIRED, missing=", ".join(params))
        return Unclear(question, (self.candidate(tool, 1.0),), tuple(params))

    def no_such(self, name: str, ground: Ground) -> Unclear:
        """A name that is not there is asked about, with those that look like it."""
        if near := [*dict.fromkeys(ground.deep(name) or ground.inner(name) or ground.close(name))]:
            names = self.say(say.OR).join(map(self.quoted, near))
            offers = tuple(Offer(one, self._instead(name, one)) for one in near)
            asked = self.asks(say.MEANT, "path", name=name, names=names)
            return replace(asked, offers=offers, named=tuple(near), about=name)
        asked = self.asks(say.NO_SUCH, "path", name=name, among=self.among((ground.names or ())[:8]))
        return replace(asked, about=name)

    def offers(self, about: str, ground: Ground) -> Unclear | None:
        """The few files that come nearest to words that nobody understood, to choose from."""
        about = about[next((word.start for word in words(about) if not {*word.concepts} & ACTIONS), 0) :]
        near = nearest(terms(about), ground.paths or ()) if self.reading.text.count(about) == 1 else []
        if not about or not near or len(near) > FEW:
            return None
        names = self.say(say.OR).join(map(self.quoted, near))
        offers = tuple(Offer(one, self._instead(about, one)) for one in near)
        return replace(self.asks(say.NEAR, "paths", said=about, names=names), offers=offers, named=tuple(near))

    def which_of(self, clause: Clause, there: Sequence[str]) -> Unclear:
        """Of several files that could be meant, which."""
        asked = self.asks(say.NO_SUCH_ONE, "paths", said=self.said(clause), among=self.among(there[:8]))
        return replace(asked, named=tuple(there))

    def _instead(self, name: str, real: str) -> str:
        """The request with the name as it is really written."""
        said = re.compile(rf"[\"“”„«»`'‘’]?{re.escape(name)}[\"“”„«»`'‘’]?", re.IGNORECASE)
        return said.sub(lambda _: f'"{real}"', self.reading.text, count=1)

    def proposes(self, offers: Sequence[Offer], candidates: Sequence[Candidate], *, said: str) -> Unclear:
        """One is proposed for a yes, of several one is chosen; all in plain words."""
        if len(offers) == 1:
            return Unclear(self.say(say.PROPOSED, label=offers[0].label), tuple(candidates), offers=tuple(offers))
        choices = self.say(say.OR).join(f"({n}) {offer.label}" for n, offer in enumerate(offers, 1))
        return Unclear(self.say(say.CHOOSE, said=said, choices=choices), tuple(candidates), offers=tuple(offers))

    def leaving_out(self, said: Sequence[str], proposed: Unclear) -> Unclear:
        """A proposal that tells what of the request is no part of it: not what one of its files is called."""
        said = [one for one in said if not _called(one, proposed.named)]
        if not said:
            return proposed
        return replace(proposed, question=f"{self.say(say.LEFT_OUT, said=' … '.join(said))} {proposed.question}")

    def among(self, names: Sequence[str]) -> str:
        return self.say(say.AMONG, names=", ".join(names)) if names else ""

    def candidate(self, tool: ToolDefinition, score: float) -> Candidate:
        return candidate(tool, score, language=self.reading.language)

    def ability(self, skill: str) -> str:
        """What a skill is good for, in plain words."""
        ours = say.ABILITIES.get(skill)
        told = (
            tool.description.split(". ")[0].rstrip(".").lower() for tool in self.tools.values() if tool.skill == skill
        )
        return self.say(ours) if ours else next(told, skill)

    def abilities(self) -> str:
        """What each skill is good for; of one that is not ours, its tools' own sentences."""
        told: dict[str, str] = {}
        for tool in _foremost(self.tools.values()):
            if (ours := say.ABILITIES.get(tool.skill)) is not None:
                told[tool.skill] = self.say(ours)
            else:
                told[tool.name] = tool.description.split(". ")[0].rstrip(".").lower()
        return "; ".join(told.values())

    def examples_of(self, ground: Ground) -> str:
        """What could be said instead, with names that are here as far as there are any, and of the kind that was
        spoken of where one was.
        """
        files = [name for name in ground.files if not name.startswith((".", "~"))]
        named, archive = next(iter(files), ""), next(filter(is_archive, files), "")
        word = (files[-1].rpartition(".")[0] or files[-1]) if files else ""
        new = f"{named.rpartition('.')[0]} 2.{named.rpartition('.')[2]}" if "." in named else ""
        held = {"file": named, "folder": min(ground.folders, default=""), "archive": archive, "new": new}
        plain = {name: _plain(found) for name, found in held.items() if found} | ({"word": word} if word else {})
        wanted = [kind for kind in say.EXAMPLES if self.reading.says(kind)]
        wanted += ["pack"] if self.reading.says("archives") and not {*wanted} & {"pack", "unpack"} else []
        forms = [say.EXAMPLES[kind][self.reading.language] for kind in wanted or say.SAFE]
        spoken_here = [form.format(**plain) for form in forms if {*re.findall(r"{(\w+)}", form)} <= plain.keys()]
        return ", ".join(map(self.quoted, spoken_here)) or self.examples()

    def examples(self) -> str:
        """What could be said instead, one example of each skill."""
        told: dict[str, str] = {}
        for tool in _foremost(self.tools.values()):
            usual = [phrase for phrase in tool.phrases if not re.search("[`«]", phrase)]
            spoken = [phrase for phrase in usual if language_of(phrase) == self.reading.language]
            plain = next(iter(spoken or (usual if self.reading.language == "en" else ())), None)
            if plain:
                told.setdefault(tool.skill, self.quoted(plain))
        return ", ".join(told.values())


FEW = 5
"""So many files are offered to choose from."""


def _plain(name: str) -> str:
    """A name as it is said so that nobody can misread it."""
    return f'"{name}"' if " " in name else name


def _foremost(tools: Iterable[ToolDefinition]) -> list[ToolDefinition]:
    """What is worth telling: each skill's changes, and the reads of skills that change nothing."""
    tools = list(tools)
    changing = {tool.skill for tool in tools if tool.mutates}
    return [tool for tool in tools if tool.mutates or tool.skill not in changing]


PART = regex(r"[^\W\d_]+|\d+")
SPARING = listed("not except keep untouched only")


def _called(said: str, files: Sequence[str]) -> bool:
    """Does one of these have all that was said in its name?"""
    read = words(said)
    told = {*PART.findall(fold(" ".join(word.text for word in read if not word.filler)))}
    spared = any(not SPARING.isdisjoint(word.concepts) for word in read)
    return bool(told) and not spared and any(told <= {*PART.findall(fold(path))} for path in files)
