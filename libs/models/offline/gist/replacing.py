"""A text of names that another takes the place of, learnt from an example or from its own sign: "los que empiezan por
presup_ cambialos a Presupuesto, ej Presupuesto Lopez grifo".

Who writes `presup_` with its line means the letters that stand in names so. What takes its place has a joint of its
own: a blank where one is spoken of, or where the other words of the names have one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from libs.models.offline.gist import shown
from libs.models.offline.gist.aiming import chosen, scope
from libs.models.offline.gist.deeds import Deed, restyle
from libs.models.offline.gist.reshaping import Fixed, Rule, by_rule
from libs.models.offline.gist.rewriting import exchange
from libs.models.offline.gist.spelling import Files, Part, parts, standing, stem, tight
from libs.models.offline.gist.story import Some, Story
from libs.models.offline.ground import singulars
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold, one_slip
from libs.skills.shapes import FIELD, Field

SIGNED = regex(r"(?<![\w-])(?P<text>[^\W_]+(?:[_-][^\W_]+){0,2})(?P<sign>[_-])(?=$|[\s,.;:!?\"”“»'’)])")
BLANK = regex(r"\b(?:spaces?|blanks?|gap|leerzeichen|leerstelle|espacios?|hueco)\b", re.IGNORECASE)
LINE = regex(r"\b(?:underscores?|unterstrich\w*|guion(?:es)?\s+bajos?|gui[oó]n\s+bajo)\b", re.IGNORECASE)
LEAST, WORDS_MOST, NEW_MOST = 3, 3, 4
LITTLE = listed("and und y e a to in zu por con with mit the das den der die el la un una ein an just nur solo")
VERBS = regex(
    r"\b(?:put|write|use|say|make\s+it|change\s+(?:it\s+)?to|replace\s+(?:it\s+)?(?:with|by)|turn\s+(?:it\s+)?into|should\s+(?:be|say|read)|to|into|with"
    r"|by|schreib\w*|nimm|mach\w*|durch|mit|in|zu|lieber|soll(?:en|te)?|pon\w*|p[oó]n|ponle|usa|escribe|cambia\w*\s+a|por|a|que\s+(?:diga|ponga)n?|pongan?"
    r"|instead|better|mejor)\s+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Change:
    """A text at the beginning or the end of a name, and what stands there instead."""

    path: str
    old: str
    new: str
    at_end: bool = False


def heard(story: Story) -> Iterator[Deed]:
    """By an example first, then by what the text with its sign shall be."""
    yield from _deeds(story, (*_shown(story), *_signed(story)))
    yield from _shorter(story)


def _shorter(story: Story) -> Iterator[Deed]:
    """ "Klangaufnahme is too long, just write klang"."""
    if TOO_LONG.search(story.text) is None:
        return
    told = parts(story.text)
    for old in told:
        for new in told:
            shorter = (
                len(new.text) >= LEAST and fold(old.text).startswith(fold(new.text)) and len(new.text) < len(old.text)
            )
            free = shorter and standing(new.text, story.ground.paths or ()) is None
            if free and (deed := exchange(story, old.text, new.text, beside=())) is not None:
                yield deed


TOO_LONG = regex(
    r"\b(?:too\s+long|shorten\w*|shorter|abbreviat\w*|zu\s+lang\w*|k[uü]e?rze\w*|abk[uü]e?rz\w*|(?:muy|demasiado)\s+larg[oa]s?|acort\w*|abrevi\w*)\b",
    re.IGNORECASE,
)


def surely(story: Story) -> Iterator[Deed]:
    """By an example, or with the blank that is spoken of."""
    yield from _deeds(story, (*_shown(story), *(_signed(story) if BLANK.search(story.text) else ())))


def _deeds(story: Story, changes: Iterable[_Change]) -> Iterator[Deed]:
    for change in changes:
        if not change.old:
            yield from _in_front(story, change)
            continue
        rule = _rule(change)
        held = rule.held(scope(story, story.ground.paths or ())) if rule else ()
        if rule is not None and (deed := by_rule(held, rule)) is not None:
            yield deed


def _in_front(story: Story, change: _Change) -> Iterator[Deed]:
    """ "AR_Lebensbaum": more in front of all that are spoken of."""
    some = chosen(story)
    held = [path for path in some.files if not stem(path).startswith(change.new)] if some else []
    if change.path in held:
        yield restyle(Some(tuple(held)), prefix=change.new)


def _rule(change: _Change) -> Rule | None:
    """The rest of each name is its own."""
    name, old = stem(change.path), change.old
    if FIELD.search(name) or not name.casefold().replace(old.casefold(), "", 1):
        return None
    word, sign = (
        (old.lstrip(SIGNS), old[: len(old) - len(old.lstrip(SIGNS))])
        if change.at_end
        else (old.rstrip(SIGNS), old[len(old.rstrip(SIGNS)) :])
    )
    text = Field("text", "text")
    if change.at_end:
        return Rule((text, sign, Fixed(0, word)), (text, change.new))
    return Rule((Fixed(0, word), sign, text), (change.new, text))


SIGNS = " _-–."


def _shown(story: Story) -> Iterator[_Change]:
    """An example that is a file's name but for its first words, or its last ones."""
    told = parts(story.text)
    for lead in shown.LEADS.finditer(story.text):
        at = next((n for n, part in enumerate(told) if part.start >= lead.end()), len(told))
        if shown.LEADS.match(story.text, lead.end()) or lead.group().strip(" ,:").casefold() == "so":
            continue  # "also zum Beispiel"; "so his war record" leads to no example
        run = _tight(story.text, told[at:])
        if not run or run[0].start > lead.end() + 1:
            continue
        for path in story.ground.paths or ():
            yield from _of_one(story, path, run)


def _tight(text: str, told: Sequence[Part]) -> Sequence[Part]:
    """As far as a name goes."""
    for n in range(1, len(told)):
        if not tight(text, told[n - 1], told[n]):
            return told[:n]
    return told


def _of_one(story: Story, path: str, run: Sequence[Part]) -> Iterator[_Change]:
    name, own = stem(path), parts(stem(path))
    for new in range(1, NEW_MOST + 1):
        joint = story.text[run[new - 1].end : run[new].start] if new < len(run) else ""
        same = run[new : new + len(own)]
        if joint and not joint.isspace() and len(same) == len(own) and all(map(_same, same, own)):
            yield _Change(path, "", story.text[run[0].start : run[new].start])
    for old in range(1, min(len(own), WORDS_MOST + 1)):
        rest = own[old:]
        for new in range(1, NEW_MOST + 1):
            same = run[new : new + len(rest)]
            if len(same) == len(rest) and all(map(_same, same, rest)) and _enough(rest):
                before, after = name[: rest[0].start], story.text[run[0].start : same[0].start]
                if _kin(story, name[: own[old - 1].end], story.text[run[0].start : run[new - 1].end], run):
                    yield _Change(path, before, after)


def _same(said: Part, real: Part) -> bool:
    return fold(said.text) == fold(real.text)


def _enough(rest: Sequence[Part]) -> bool:
    return len(rest) > 1 or (rest[0].text.isalpha() and len(rest[0].text) > LEAST)


def _kin(story: Story, old: str, new: str, run: Sequence[Part]) -> bool:
    """May the one stand for the other: is it short for it, is it misspelled, or is it said in the story as well?"""
    left, right = fold(old), fold(new)
    if left == right:
        return old != new
    said = re.search(rf"(?<!\w){re.escape(old)}(?![^\W_])", story.text[: run[0].start], re.IGNORECASE)
    return bool(said) or one_slip(left, right) or (len(left) >= LEAST and right.startswith(left))


def _signed(story: Story) -> Iterator[_Change]:
    """ "presup_": as it stands in names, with what shall be there instead: a longer form of it, or what is led to."""
    for found in SIGNED.finditer(story.text):
        held = [path for path in story.ground.paths or () if stem(path).casefold().startswith(found.group().casefold())]
        for new in _instead(story, found) if held else ():
            joint = _joint(story, held, found["sign"])
            yield _Change(held[0], stem(held[0])[: len(found.group())], f"{new}{joint}")


def _instead(story: Story, found: re.Match[str]) -> Iterator[str]:
    old = fold(found["text"])
    told = [part for part in parts(story.text) if not found.start() <= part.start < found.end()]
    yield from (part.text for part in told if _longer(old, fold(part.text)))
    for part in told:
        there = standing(part.text, story.ground.paths or ()) is not None
        small = fold(part.text) in LITTLE or BLANK.fullmatch(part.text) or LINE.fullmatch(part.text)
        if (
            part.start > found.end()
            and part.text[:1].isupper()
            and not (there or small)
            and VERBS.search(story.text[: part.start])
        ):
            yield part.text


def _longer(old: str, new: str) -> bool:
    return (
        len(old) >= LEAST and new.startswith(old) and len(new) > len(old) and singulars(old).isdisjoint(singulars(new))
    )


def _joint(story: Story, held: Files, sign: str) -> str:
    """What stands between the new text and the rest."""
    if BLANK.search(story.text):
        return " "
    if LINE.search(story.text):
        return "_"
    return " " if any(" " in stem(path) for path in held) else sign
