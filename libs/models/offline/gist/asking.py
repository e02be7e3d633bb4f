"""The question in a story: which sentences ask, what they ask about, and whether anything but a look is wanted.

"Shirley swore she'd pay. Which message was that in?" asks in its second sentence about the first. So what a question
is about are its own words where it has any, and else those of the sentence before it. The word right behind "which"
is only where to look: a kind of papers, or the folder that is called so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from typing_extensions import override

from libs.models.offline.clauses import KINDS
from libs.models.offline.gist.story import SENTENCE, Some, Span, Story
from libs.models.offline.gist.talk import HOLDERS, POINTS, TALK, THEIRS
from libs.models.offline.ground import singulars, words_of
from libs.models.offline.looking import ASKS, CAN_GO, OURS, PAST, changes, frame, strange_verb
from libs.models.offline.telling import FINITE
from libs.retrieval.lexicon import FAMILIES, Language, listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, fold, language_of, words

PART = regex(
    r"[,()–—]+|\s-\s|(?<!\w)(?:and|but|because|cos|cause|und|aber|weil|denn|y|e|pero|porque)(?!\w)", re.IGNORECASE
)
"""Where one part of a sentence ends and the next begins."""
ABOUT = regex(
    r"(?<!\w)(?:(?:about|regarding|concerning|mention\w*|über|ueber|bezüglich|sobre|acerca\s+de|mencion\w*)"
    r"|(?:was|alles|etwas|irgendwas)\s+(?:zu[mr]?|vo[nm])|(?:algo|lo)\s+(?:del?|sobre)|(?:anything|everything|got)\s+(?:on|from|by|of)|habl\w+\s+de(?:l|\s+l[ao]s?)?)(?!\w)\s*",
    re.IGNORECASE,
)
"""What follows one of these is what it is about."""
BEHIND = regex(
    r"(?<!\w)(?:which|what|how\s+many|welche[nmrs]?|wie\s*viele?|cu[aá]l(?:es)?|qu[eé]|cu[aá]nt[oa]s|algun[oa]s?|those|these|any)\s+"
    r"(?:(?:ones?\s+)?of\s+|de\s+|von\s+)?"
    r"(?:(?:my|the|our|those|these|mis?|l[oa]s?|el|mein(?:en|e|er)?|den|der|unsere[nr]?)\s+)*(?P<noun>[^\W\d_]+)"
    r"|(?<!\w)(?:in|en)\s+(?:my|mein(?:en|em|er)?|mis?)\s+(?P<own>[^\W\d_]+)",
    re.IGNORECASE,
)
"""Where to look stands behind one of these."""
FORMS: Mapping[Language, str] = {
    "en": r"which|where|wheres|whats?|when|who|whose|how\s+(?:many|much|big|old|large|long)",
    "de": (
        r"(?<!alles\s)(?<!das\s)was|wo|wer|wann|welche[nmrs]?|wie\s*viele?|wieviel"
        r"|wie\s+(?:gro(?:ß|ss)|alt|schwer|hie(?:ß|ss)\w*)"
    ),
    "es": (
        r"d[oó]nde|qué|(?:en|de|dime|a)\s+que|cu[aá]l(?:es)?|quién(?:es)?|cuándo|cu[aá]nt[oa]s?"
        r"|c[oó]mo\s+se\s+llamab?an?"
    ),
}
INTERROGATIVE = {spoken: regex(rf"(?<!\w)(?:{form})(?!\w)", re.IGNORECASE) for spoken, form in FORMS.items()}
WRITTEN = regex(
    r"(?<!\w)(?:wr[oi]te|written|writing|typed?|noted?|jotted|says?|said|mention\w*|call\s+for|ha(?:s|ve)\s+(?:\w+\s+){1,3}(?:in|on)\s+(?:it|them)"
    r"|\w*geschrieben|\w*notiert|steht|stand|stehen|vorkommt|vorkam|erwähnt|apunt\w+|escrib\w+|escrit\w+|anot\w+"
    r"|habl\w+|dicen?|ponen?|puse|aparecen?|mencion\w+|salen?)(?!\w)",
    re.IGNORECASE,
)
"""Who speaks of writing asks for what is in a text."""
INSIDE = regex(
    r"(?<!\w)(?:in|from|inside|through|im|aus|vom|von|of|en|dentro\s+de|del?)\s+"
    r"(?:(?:the|my|our|all|these|those|der|den|dem|mein(?:en|em|er)?|l[oa]s?|el|mis?)\s+)*$",
    re.IGNORECASE,
)
OF = regex(r"(?<!\w)(?:of|de|del|von|vom)\s+(?:(?:the|my|der|den|dem|l[oa]s|mis?)\s+)?$", re.IGNORECASE)
ALL_ABOUT = regex(
    r"(?<!\w)(?:what(?:['’]?ve)?\s+(?:all\s+)?(?:(?:have|do)\s+)?(?:i|we)\s+(?:got|have)(?:\s+here)?\s+(?:on|about|regarding)"
    r"|(?:anything|everything|stuff)\s+(?:on|about|regarding|to\s+do\s+with)"
    r"|was\s+(?:hab(?:e|en)?|gibt(?:['’]?s|\s+es)?)\s+(?:(?:ich|wir|hier|denn|so|alles)\s+)*(?:zu[mr]?|über)|(?:alles|irgendwas|etwas|was)\s+(?:zu[mr]?|über)"
    r"|(?:d[oó]nde|qu[eé])\s+(?:tengo|est[aá]|tenemos|hay)\s+(?:todo\s+)?lo\s+del?"
    r"|qu[eé]\s+(?:tengo|tenemos|hay)\s+(?:aqu[ií]\s+)?(?:sobre|acerca)|(?:todo|algo)\s+(?:sobre|acerca))\s+(?=\w)",
    re.IGNORECASE,
)
"""And who asks for all about something for both."""
SAID_BY = regex(
    r"(?<!\w)what\s+(?:did|does|do)\s+(?:\w+\s+){1,3}(?:want|need|say|ask|order|mean|decide|promise|prefer|suggest|offer|charge|require|think)(?!\w)"
    r"|(?<!\w)was\s+(?:will|wollten?|sagte?n?|meinte?n?|braucht\w*|möchte|verlangt\w*|bestellt\w*)\s+(?!ich|du|wir|man)\w+"
    r"|(?<!\w)was\s+ha(?:t|ben)\s+(?!ich|wir)\w+\s+(?:\w+\s+){0,3}?(?:gesagt|bestellt|verlangt|gewollt|gemeint)(?!\w)"
    r"|(?<!\w)qu[eé]\s+(?:quer[ií]an?|quieren?|dijo|dijeron|pidi[oó]|pidieron|pide|necesitaban?|encarg[oó]|mand[oó])(?!\w)",
    re.IGNORECASE,
)
"""What somebody wanted or said is written down, if anywhere."""
IN_WHICH = regex(r"(?<!\w)(?:in|en)\s+(?:which|what|welche[nmrs]?|cu[aá]l(?:es)?|algun[oa]s?)(?!\w)", re.IGNORECASE)
LEAST, SHORT = 3, 5
"""Letters of a word that may be what is asked about."""
MODAL = regex(
    r"(?<!\w)(?:please|pls|plz|(?:can|could|would|will)\s+(?:you|u)|want(?:ed)?\s+(?:you\s+)?to|need\s+(?:you\s+)?to|like\s+(?:you\s+)?to|have\s+to|must|should|let'?s"
    r"|bitte|(?:kann|könn(?:te)?)st\s+du|können\s+sie|(?:ich|wir)\s+(?:will|wollen|möchten?|muss|müssen)|will\s+ich|möcht?e?\s+ich|soll(?:en|te|st)?|puedes?|podr[ií]as?|quiero|quisiera|hay\s+que|tengo\s+que|por\s+favor)(?!\w)",
    re.IGNORECASE,
)
"""Before a deed, these make a wish of it."""
ASIDE = listed("call calls called put puts take takes taken save saved keep kept keeps call_for")
"""Deeds that are as often told of."""


class _Placeless(Story):
    """A story whose words name files alone."""

    @override
    @cached_property
    def places(self) -> tuple[tuple[str, tuple[Word, ...]], ...]:
        return ()


@dataclass(frozen=True)
class Question:
    """What a story asks; `sentences` are those that do, with the one before where they only point to that."""

    story: Story
    sentences: tuple[Span, ...]

    @cached_property
    def text(self) -> str:
        """Its sentences, in the places where they stand."""
        blank = [*re.sub(r"[^\n]", " ", self.story.text)]
        for start, end in self.sentences:
            blank[start:end] = self.story.text[start:end]
        return "".join(blank)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return self._within(self.sentences)

    def says(self, *concepts: str) -> bool:
        return any(not {*word.concepts}.isdisjoint(concepts) for word in self.words)

    @cached_property
    def written(self) -> bool:
        return any(found.search(self.text) for found in (WRITTEN, ALL_ABOUT, SAID_BY, IN_WHICH))

    @cached_property
    def points(self) -> bool:
        """Does it speak of something that was told before?"""
        return any(word.folded in POINTS and not self._timed(word) for word in self.words)

    @cached_property
    def points_inside(self) -> bool:
        """Does it speak of a place that was told before: "her folder", "how many are in there"?"""
        return any(word.folded in THEIRS for word in self.words)

    @cached_property
    def holder(self) -> tuple[Word, ...]:
        """The words for where it stands: "which of my letters", "in my notes"."""
        found = list(BEHIND.finditer(self.text))
        places = [match.start(group) for match in found for group in ("noun", "own") if match[group]]
        return tuple(word for word in self.words if word.start in places and (holds(word) or self._in_a_folder(word)))

    @cached_property
    def own(self) -> tuple[Word, ...]:
        """The words that carry what it is about, but for where it stands."""
        each = ([word for word in self._within([span]) if self._carries(word)] for span in reversed(self.sentences))
        return next((told for carrying in each if (told := self._chief(carrying))), ())

    def _chief(self, carrying: Sequence[Word]) -> tuple[Word, ...]:
        """Of the words of one sentence those that are behind its question, where there are any."""
        about = [word for word in carrying if self._behind(ABOUT, word)]
        asked = [word for word in carrying if self._behind(INTERROGATIVE[self.story.language], word)]
        return _once(self._numbered(about or asked or self._things(carrying)))

    def _numbered(self, told: Sequence[Word]) -> Iterator[Word]:
        """With the digit that goes with a name: "flat 2"."""
        for word in told:
            yield word
            yield from (
                one for one in self.words if one.start == word.end + 1 and len(one.text) == 1 and one.text.isdigit()
            )

    @property
    def topic(self) -> tuple[Word, ...]:
        """The same; of a question that says nothing else, where it stands."""
        return self.own or _once(word for word in self.holder if not of_a_kind(word) and word.folded not in HOLDERS)

    @property
    def empty(self) -> bool:
        """Does it say nothing but where, as "which message was that in"?"""
        told = any(of_a_kind(word) or not {*word.concepts}.isdisjoint(TELLING) for word in self.words)
        pointing = self.points or not self.holder
        return not (self.own or told or any(map(self._timed, self.words))) and pointing

    @cached_property
    def folder(self) -> str:
        """The one that is named in it, or that was told of before where it points there."""
        first = self.sentences[0][0]
        own = [place for place, naming in self.story.places if self._is_place(place, naming)]
        told = [place for place, naming in self.story.places if self.points_inside and naming[0].start < first]
        return next((place for place in (*own, *self._partly(), *told) if self.story.ground.below(place)), ".")

    def _is_place(self, place: str, naming: Sequence[Word]) -> bool:
        """Is it called just so, or spoken of as a place? "A new customer" is no folder Customers, and in "insurance of
        hives" it tells which insurance.
        """
        text, start, end = self.story.text, naming[0].start, naming[-1].end
        if not any(first <= start < last for first, last in self.sentences):
            return False
        before = next((word for word in reversed(self.words) if word.end <= start and not word.filler), None)
        of = OF.search(text, 0, start) is not None
        told = of and ((before is not None and carries(before)) or self._elsewhere(place, naming))
        exact = fold(text[start:end]) == fold(place.rpartition("/")[2]) and not all(map(of_a_kind, naming))
        return not told and (
            exact or not {*naming}.isdisjoint(self.holder) or INSIDE.search(text, 0, start) is not None
        )

    def _elsewhere(self, place: str, naming: Sequence[Word]) -> bool:
        """Does a file that is not in the folder say its name?"""
        others = tuple(path for path in self.story.ground.paths or () if not path.startswith(f"{place}/"))
        return all(not singulars(word.folded).isdisjoint(words_of(others)) for word in naming)

    def _partly(self) -> Sequence[str]:
        """The one folder that has the word for where it stands in its name."""
        for word in self.holder:
            names = ((one, (one.rpartition("/")[2],)) for one in self.story.folders)
            held = [one for one, name in names if singulars(word.folded) & words_of(name)]
            if len(held) == 1:
                return held
        return ()

    def choosing(self, said: Sequence[Word]) -> Some:
        """The files that these words choose, within the folder that is spoken of."""
        naming = [word for place, words_ in self.story.places for word in words_ if place == self.folder]
        near = sorted((word for word in said if word not in naming), key=lambda word: word.start)
        ends = (0, *(end for word in near for end in (word.start, word.end)), len(self.story.text))
        story = _Placeless(self.story.text, self.story.ground, self.story.categories, self.story.now)
        some = story.some(beside=tuple(zip(ends[::2], ends[1::2], strict=True)))
        below = self.story.ground.below(self.folder)
        inside = tuple(path for path in some.files if path in below)
        return Some(inside or below, self.folder, some.words if inside else ())

    def parts(self, *concepts: str) -> tuple[Span, ...]:
        """The parts of its sentences where one of these is said."""
        return self.around(word.start for word in self.words if not {*word.concepts}.isdisjoint(concepts))

    def around(self, places: Iterable[int]) -> tuple[Span, ...]:
        """The parts of its sentences that these places are in."""
        held = [*places]
        cut = (part for span in self.sentences for part in _cut(self.story.text, PART, span))
        return tuple((start, end) for start, end in cut if any(start <= place < end for place in held))

    def with_the_one_before(self) -> Question:
        """What only points is about the nearest sentence that says something."""
        if not self.empty:
            return self
        first = self.sentences[0][0]
        told = [span for span in _cut(self.story.text, SENTENCE) if span not in self.sentences]
        near = [*(span for span in reversed(told) if span[0] < first), *(span for span in told if span[0] > first)]
        wider = (replace(self, sentences=tuple(sorted((span, *self.sentences)))) for span in near)
        return next((one for one in wider if not one.empty), self)

    def _behind(self, lead: re.Pattern[str], word: Word) -> bool:
        """Does it stand in one part of a sentence with this, and after it?"""
        (part,) = self.around([word.start]) or ((word.start, word.end),)
        return lead.search(self.story.text, part[0], word.start) is not None

    def _in_a_folder(self, word: Word) -> bool:
        names = tuple(folder.rpartition("/")[2] for folder in self.story.folders)
        return not word.filler and len(word.folded) >= LEAST and not singulars(word.folded).isdisjoint(words_of(names))

    def _things(self, carrying: Sequence[Word]) -> Sequence[Word]:
        """ "It" is nobody who has a name: where there are both, the person stays out."""
        alone = self.points and self.story.language != "de" and not any(w.folded in PERSONAL for w in self.words)
        plain = [word for word in carrying if word.text[:1].islower() or word.text[:1].isdigit()]
        return plain if alone and plain else carrying

    def _carries(self, word: Word) -> bool:
        return (
            (carries(word) or self._borne(word))
            and not self._timed(word)
            and word not in self.holder
            and not self._named(word)
        )

    def _borne(self, word: Word) -> bool:
        """Is it a word for a look, and one of a name: "the DOT inspection"?"""
        known = words_of(self.story.ground.paths or ())
        return {*word.concepts} <= {*NOUNS} and bool(word.concepts) and not singulars(word.folded).isdisjoint(known)

    def _timed(self, word: Word) -> bool:
        return any(one.start <= word.start < one.end for one in self.story.times)

    def _named(self, word: Word) -> bool:
        return any(word in naming for place, naming in self.story.places if place == self.folder)

    def _within(self, spans: Sequence[Span]) -> tuple[Word, ...]:
        return tuple(word for word in self.story.words if any(start <= word.start < end for start, end in spans))


NOUNS = listed("report explain parse summary")
TELLING = listed("newest oldest largest smallest howmany duplicate empty size")


def _once(said: Iterable[Word]) -> tuple[Word, ...]:
    return tuple({word.folded: word for word in said}.values())


WHERETO = regex(
    r"(?<!\w)(?:dahin|dorthin|hin|hinein|rein|raus|fort|into|onto|away|instead|lieber|statt|from\s+now\s+on|adentro|afuera|en\s+vez)(?!\w)",
    re.IGNORECASE,
)
WHETHER = regex(
    r"\W*(?:has|have|did|does|hat|haben|hatte|ha|han|pag[oó]|firm[oó]|mand[oó]|envi[oó]|lleg[oó])\s+"
    r"(?!you|u|i|we|du|sie|ihr|ich|wir)\w",
    re.IGNORECASE,
)
""" "Has Huber paid yet?", of somebody else than the two who speak."""
PERSONAL = listed("her his she he him who")


def question(story: Story) -> Question | None:
    """None where nothing is asked, or something shall be changed, or nobody said what is there."""
    if story.ground.paths is None:
        return None
    sentences = [span for span in _cut(story.text, SENTENCE) if not _greets(story.text[slice(*span)])]
    marked = [span for span in sentences if story.text[span[1] : span[1] + 1] == "?"]
    bidden = [span for span in sentences if span in marked or _bids(story.text[slice(*span)])]
    asking = bidden if marked else [span for span in sentences if _asks(story.text[slice(*span)])]
    asks = any(_asks(story.text[slice(*span)]) for span in asking)
    asks = asks or any(WHETHER.match(story.text, *span) for span in marked)
    if not asks or any(_orders(story.text[slice(*span)], span in asking) for span in sentences):
        return None
    return Question(story, tuple(asking)).with_the_one_before()


def _greets(sentence: str) -> bool:
    said = words(sentence)
    return any("greeting" in word.concepts for word in said) and all(
        word.filler or {*word.concepts} == {"greeting"} for word in said
    )


def of_ours(asked: Question) -> bool:
    """Is it about what is here?"""
    told = asked.holder and any(word.folded in HOLDERS for word in asked.holder)
    here = asked.story.says("file", "folder", "find", *KINDS, "duplicate")
    return bool(told or here or asked.written or asked.story.places or OURS.search(asked.story.text))


def carries(word: Word) -> bool:
    """May what is asked about be called so?"""
    known = bool(word.concepts) and "foreign" not in word.concepts
    short = len(word.folded) < (2 if word.folded.isdigit() else LEAST)
    slipped = word.slip and word.text[:1].isupper()
    little = (word.filler and not slipped) or word.folded in frame() or word.folded in TALK or word.folded in HOLDERS
    return not (known or short or little or of_a_kind(word))


def holds(word: Word) -> bool:
    return carries(word) or word.folded in HOLDERS


def of_a_kind(word: Word) -> bool:
    return not {*word.concepts}.isdisjoint({*KINDS, *FAMILIES}) or extension_of(word.folded) is not None


def _cut(text: str, at: re.Pattern[str], span: Span | None = None) -> Iterator[Span]:
    start, last = span or (0, len(text))
    for found in at.finditer(text, start, last):
        if found.start() > start:
            yield start, found.start()
        start = found.end()
    if start < last:
        yield start, last


def _asks(sentence: str) -> bool:
    return ASKS.search(sentence) is not None or INTERROGATIVE[language_of(sentence)].search(sentence) is not None


def _bids(sentence: str) -> bool:
    """ "Show me …", "such mal": a look that is bidden."""
    first = next((word for word in words(sentence) if not word.filler), None)
    return first is not None and not {*first.concepts}.isdisjoint(("list", "find"))


def _orders(sentence: str, asks: bool) -> bool:
    """Is something to be changed? What comes behind a "which" or "where" in one part of a sentence is asked about."""
    plain = CAN_GO.sub(lambda found: " " * len(found.group()), sentence)
    for done in PAST:
        plain = done.sub(lambda found: found.group().replace(found[1], " " * len(found[1])), plain)
    parts = [plain[slice(*part)] for part in _cut(plain, PART)]
    strange = strange_verb(sentence) and (MODAL.search(sentence) or len(words(sentence)) <= SHORT)
    return bool(strange) or any(_ordered(part, asks) or (asks and _goes(part)) for part in parts)


def _goes(part: str) -> bool:
    """ "Put it where it belongs", "run it and show me …": is something to be done before anything is asked?"""
    said = words(part)
    first = next((word for word in said if not word.filler), None)
    foreign = first is not None and "foreign" in first.concepts
    return foreign or (WHERETO.search(part) is not None and not _asks(part))


def _ordered(part: str, asks: bool) -> bool:
    said = words(part)
    at = next((n for n, word in enumerate(said) if changes(word) and word.folded not in ASIDE), None)
    if at is None:
        return False
    before = part[: said[at].start]
    if asks and _asks(before):
        return False
    if any(word.folded in FINITE["en"] | FINITE["de"] | FINITE["es"] for word in said[at + 1 : at + 2]):
        return False  # "dispatch told me"
    first = not any(not word.filler for word in said[:at])
    return asks or first or MODAL.search(part) is not None
