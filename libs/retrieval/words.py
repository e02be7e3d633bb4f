"""From text to words and concepts: folding, tokens with their place, synonyms, typos, and a text's language."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from libs.retrieval.lexicon import CLITICS, CONCEPTS, EXTENSIONS, FILLERS, Language, listed
from libs.retrieval.lookalikes import LOOKALIKES
from libs.retrieval.regexes import regex

TOKEN = regex(r"\w+")
CUT = regex(r"[\0\x1e.,;:!?\n]")
"""Between two words: no phrase goes across."""
LONGEST = 4
"""Words in the longest phrase of the lexicon."""


@dataclass(frozen=True, slots=True)
class Word:
    """One or several words of a text that mean one thing. `start` and `end` are its place in the text."""

    text: str
    folded: str
    start: int
    end: int
    concepts: tuple[str, ...] = ()
    filler: bool = False
    slip: bool = False
    """Was it read as a known word with a slip of the keyboard?"""

    @property
    def unknown(self) -> bool:
        return not (self.concepts or self.filler)


def fold(text: str) -> str:
    """Lower case without accents, so that `Lösche`, `LOSCHE` and `losche` are one word."""
    if text.isascii():
        return text.lower()
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


@lru_cache(maxsize=512)
def words(text: str) -> tuple[Word, ...]:
    """The words of a text in order; phrases of the lexicon come as one word, a known word is preferred to a typo."""
    tokens = [token for found in TOKEN.finditer(text) for token in _unjoined(found.group(), found.start())]
    folded = [fold(token) for token, _, _ in tokens]
    friends = _false_friends(folded)
    read: list[Word] = []
    at = 0
    apart = [bool(CUT.search(text[left[2] : right[1]])) for left, right in pairwise(tokens)]
    while at < len(tokens):
        together = next((n for n in range(at, len(apart)) if apart[n]), len(tokens) - 1) + 1
        width = _phrase(folded[:together], at)
        start, end = tokens[at][1], tokens[at + width - 1][2]
        said = "_".join(folded[at : at + width])
        found, slip = _meant(said) if said not in friends else ((), False)
        filler = not found and (said in _fillers() or _slipped_filler(said))
        read.append(Word(text[start:end], said, start, end, found, filler, slip))
        at += width
    return tuple(read)


FALSE_FRIENDS: Mapping[str, Language] = {
    "van": "es",
    "todo": "es",
    "dice": "es",
    "mayor": "es",
    "art": "de",
    "leg": "de",
    "lied": "de",
    "such": "de",
    "kick": "de",
}
"""Words of this language that are common in English, where they mean something else."""


def _false_friends(folded: Sequence[str]) -> frozenset[str]:
    """Those that mean nothing here, as the words beside them are English."""
    told = FALSE_FRIENDS.keys() & {*folded}
    if not told:
        return frozenset()
    votes = Counter(speaker for token in folded if token not in told for speaker in _speakers(token))
    return frozenset(token for token in told if votes["en"] > votes[FALSE_FRIENDS[token]])


def concepts(text: str) -> Counter[str]:
    """What a text is about: its concepts, and its unknown words as `=word`. Fillers mean nothing."""
    told: Counter[str] = Counter()
    for word in words(text):
        told.update(word.concepts or (() if word.filler else (f"={word.folded}",)))
    return told


def extension_of(word: str) -> str | None:
    """`pdf` for `PDFs`; None for a word that names no extension."""
    known = _extensions()
    return word if word in known else word[:-1] if word.endswith("s") and word[:-1] in known else None


def language_of(text: str, *before: str) -> Language:
    """The language with the most known words; when they tie, that of what was said `before` (the newest first), which
    may be English for want of anything else.
    """
    votes: Counter[Language] = Counter({"en": 0})
    tokens = TOKEN.findall(fold(text))
    for token in tokens if len(text.strip()) > 1 else ():  # "y" and "s" answer in any language
        votes.update(_speakers(token))
    best: Language = max(("en", "de", "es"), key=lambda language: votes[language])
    tied = [*votes.values()].count(votes[best]) > 1 or not votes[best]
    return language_of(*before) if tied and before else best


def concepts_of(word: str) -> tuple[str, ...]:
    """The concepts of one folded word or phrase; of the nearest known word when it is a plain typo."""
    return _meant(word)[0]


@lru_cache(maxsize=4096)
def _meant(word: str) -> tuple[tuple[str, ...], bool]:
    """Its concepts, and whether it was understood only as a slip."""
    exact, stems = _forms()
    found = (*exact.get(word, ()), *(concept for stem, concept in stems if word.startswith(stem)))
    if found or word in _fillers() or extension_of(word):
        return tuple(dict.fromkeys(found)), False
    if known := _compound(word) or _inflected(word):
        return known, False
    near = _nearest(word)
    return near, bool(near) or _slipped_filler(word)


LEAST_FILLER = 5


@lru_cache(maxsize=4096)
def _slipped_filler(word: str) -> bool:
    if len(word) < LEAST_FILLER or not word.isalpha() or word in LOOKALIKES:
        return False
    near = (known for known in _fillers() if known[0] == word[0] and len(known) >= LEAST_FILLER)
    return any(_slipped(known, word) for known in near)


def _unjoined(token: str, start: int) -> list[tuple[str, int, int]]:
    """`bórralos` is `bórra` and `los`: a Spanish verb and the pronoun that is written onto it."""
    folded = fold(token)
    whole = [(token, start, start + len(token))]
    if len(folded) != len(token) or folded in _forms()[0] or folded in _fillers():
        return whole
    for clitic in CLITICS:
        stem = folded.removesuffix(clitic)
        if stem != folded and len(stem) >= 3 and _spanish_verb(stem):
            first = next((to for to in TO_WHOM if clitic.startswith(to) and clitic != to), "")
            cut = len(stem) + len(first)
            ends = sorted({len(stem), cut, len(token)})
            return [(token[a:b], start + a, start + b) for a, b in pairwise((0, *ends))]
    return whole


TO_WHOM = ("me", "se", "te", "nos")
"""The first of two pronouns."""
VERBS = listed("remove organize report list find move copy rename create change pack unpack summary parse explain")


def _spanish_verb(stem: str) -> bool:
    exact, stems = _verbs_in_spanish()
    return stem in exact or any(stem.startswith(known) and len(stem) - len(known) <= 3 for known in stems)


@cache
def _verbs_in_spanish() -> tuple[frozenset[str], tuple[str, ...]]:
    spoken = [form for concept in VERBS for form in CONCEPTS[concept]["es"].split()]
    return frozenset(form for form in spoken if not form.endswith("*")), tuple(f[:-1] for f in spoken if f[-1] == "*")


ENDINGS = {
    "ing": ("", "e"),
    "est": ("e", "en"),
    "st": ("e", "en", ""),
    "aras": ("ar",),
    "ases": ("ar",),
    "ara": ("ar",),
    "ase": ("ar",),
    "ieras": ("er", "ir"),
    "ieses": ("er", "ir"),
    "iera": ("er", "ir"),
    "iese": ("er", "ir"),
}
"""Of verbs, by what the known form ends with instead."""


def _inflected(word: str) -> tuple[str, ...]:
    """Another form of a known verb: "chucking", "packst", "movieses"."""
    exact, _ = _forms()
    for end, instead in ENDINGS.items():
        stem = word.removesuffix(end)
        if stem == word or len(stem) < 3:
            continue
        bases = [stem + put for put in instead]
        if end == "ing" and stem[-1] == stem[-2]:
            bases.append(stem[:-1])
        for base in bases:
            if verbs := tuple(concept for concept in exact.get(base, ()) if concept in VERBS):
                return verbs
    return ()


HEADS = ("dateien", "datei", "dateinamen")


def _compound(word: str) -> tuple[str, ...]:
    """`Tempdateien`: a German compound of files, where what stands before is known as well."""
    for head in HEADS:
        modifier = word.removesuffix(head)
        if modifier != word and len(modifier) >= 3:
            meant = concepts_of(modifier) or concepts_of(modifier.rstrip("sn"))
            return (*meant, "file") if meant else ()
    return ()


def _phrase(folded: list[str], at: int) -> int:
    """How many tokens, from 1, the longest phrase that starts here takes."""
    exact, _ = _forms()
    widths = range(min(LONGEST, len(folded) - at), 1, -1)
    return next((width for width in widths if "_".join(folded[at : at + width]) in exact), 1)


def _nearest(word: str) -> tuple[str, ...]:
    """One slip of the keyboard is forgiven in a word that starts like a known one: two letters swapped in any word, a
    letter lost or doubled in words of five, another letter in words of six.
    """
    exact, stems = _forms()
    if len(word) < 4 or not word.isalpha() or word in LOOKALIKES:
        return ()
    near = [known for known in exact if known[0] == word[0] and _slipped(known, word)]
    if near:
        return exact[min(near, key=lambda known: sorted(known) != sorted(word))]
    for stem, concept in stems:
        starts = (word[: len(stem) + shift] for shift in (-1, 0, 1))
        if len(stem) >= 7 <= len(word) and stem[0] == word[0] and any(one_slip(stem, start) for start in starts):
            return (concept,)
    return ()


def _slipped(known: str, word: str) -> bool:
    if not one_slip(known, word):
        return False
    swapped = len(known) == len(word) and sorted(known) == sorted(word)
    least = 4 if swapped else 6 if len(known) == len(word) else 5
    return min(len(known), len(word)) >= least


def one_slip(left: str, right: str) -> bool:
    """True when one letter was added, lost, changed, or swapped with its neighbour."""
    if left == right or abs(len(left) - len(right)) > 1:
        return False
    shorter, longer = sorted((left, right), key=len)
    at = next((i for i, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))
    if len(shorter) < len(longer):
        return shorter[at:] == longer[at + 1 :]
    swapped = left[at : at + 2] == right[at : at + 2][::-1] and left[at + 2 :] == right[at + 2 :]
    return swapped or left[at + 1 :] == right[at + 1 :]


@cache
def _forms() -> tuple[Mapping[str, tuple[str, ...]], tuple[tuple[str, str], ...]]:
    exact: dict[str, tuple[str, ...]] = {}
    stems: list[tuple[str, str]] = []
    for concept, _, form in _entries():
        if form.endswith("*"):
            stems.append((form[:-1], concept))
        elif concept not in exact.get(form, ()):
            exact[form] = (*exact.get(form, ()), concept)
    return exact, tuple(dict.fromkeys(stems))


def _entries() -> Iterator[tuple[str, Language, str]]:
    for concept, languages in CONCEPTS.items():
        for language, forms in languages.items():
            for form in forms.split():
                yield concept, language, form


@cache
def _fillers() -> frozenset[str]:
    return frozenset(word for fillers in FILLERS.values() for word in fillers.split())


@cache
def _extensions() -> frozenset[str]:
    return frozenset(EXTENSIONS.split())


@cache
def _vocabulary() -> tuple[Mapping[str, frozenset[Language]], tuple[tuple[str, Language], ...]]:
    exact: dict[str, set[Language]] = {}
    stems: list[tuple[str, Language]] = []
    for language, fillers in FILLERS.items():
        for word in fillers.split():
            exact.setdefault(word, set()).add(language)
    for _, language, form in _entries():
        if form.endswith("*"):
            stems.append((form[:-1], language))
        else:
            exact.setdefault(form, set()).add(language)
    return {word: frozenset(spoken) for word, spoken in exact.items()}, tuple(stems)


@lru_cache(maxsize=4096)
def _speakers(token: str) -> frozenset[Language]:
    exact, stems = _vocabulary()
    return exact.get(token, frozenset()) | {language for stem, language in stems if token.startswith(stem)}
