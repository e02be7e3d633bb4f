"""Files told by different things in one wish: "delete the empty files and the temporary files" is for both, and not for
what is both at once.

Kinds that are listed are a choice among patterns, which one list can show; what is empty, of an age or a size, or a
folder is not. So such a wish becomes one for each part of the list, with the same deed in the same place. Where a word
may hold for all of the list ("empty jpg and png files", "txt and pdf files older than a year") nothing is split: that
picks the fewest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from libs.models.offline.clauses import ACTIONS, JUNK, KINDS, Clause, Item, Measure, Mood, Name, Named
from libs.models.offline.numerals import ARTICLES
from libs.models.offline.paths import file_like
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word, extension_of

DEEDS = listed("remove move copy list find clean")
"""What may be done twice over: two archives would be something else than one."""
OF_COPIES = listed("remove list find clean")
"""What may be done with duplicates, which are known by being compared."""
TOWARDS = listed("to into onto nach in en a al im ins from aus de")
NOUNS = listed("file folder") | {*KINDS}
PLAIN = listed("here all recursive empty") | NOUNS
STARTS = listed("starts ends prefix suffix")
"""What leads to a pattern: "the ones starting with ~"."""
LED = listed("the these those los las el la esos esas") | ARTICLES
OWN = listed("der die das den")
SORTS = listed("empty folder duplicate")
"""What no pattern shows."""
EMPTIES = listed("empty folder file all here recursive")
LEFT_BEHIND = listed("tmp temp bak crdownload part partial") | JUNK
"""Endings and kinds of what nobody made."""
CLEARED = JUNK | {"duplicate"}
ONES = listed("the los las")
"""With one of these even a part that has no noun speaks of files: "the ones over 10 MB", "los que pesan más"."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the list, without the deed and the place."""

    items: tuple[Item, ...]

    @property
    def words(self) -> list[Word]:
        return [item for item in self.items if isinstance(item, Word)]

    @property
    def kinds(self) -> frozenset[str]:
        """What patterns could tell."""
        told = {concept for word in self.words for concept in word.concepts if concept in KINDS}
        told |= {word.folded for word in self.words if _ending(word)}
        return frozenset(told) | {item.text for item in self.items if isinstance(item, Named)}

    @property
    def bounds(self) -> frozenset[str]:
        """What they could not."""
        told = {str(item.filters) for item in self.items if isinstance(item, Measure) and item.filters}
        told |= {concept for word in self.words for concept in word.concepts if concept in SORTS}
        return frozenset(told)

    @property
    def junk(self) -> bool:
        return not CLEARED.isdisjoint(self.bounds | self.kinds)

    @property
    def copies(self) -> bool:
        return "duplicate" in self.bounds

    @property
    def bare_copies(self) -> bool:
        """ "The duplicates": a noun of its own, that says nothing of what else is listed."""
        return self.copies and all(word.filler or {*word.concepts} <= {"duplicate", "all"} for word in self.words)

    @property
    def noun(self) -> Word | None:
        return next((word for word in self.words if NOUNS & {*word.concepts} or _ending(word)), None)

    @property
    def by_itself(self) -> bool:
        """Does it begin with its own article, or speak of files of any kind?"""
        return not self.kinds or self.led_by(LED) or any("all" in word.concepts for word in self.words[:1])

    @property
    def empties(self) -> bool:
        """ "The empty folders", and no word more."""
        plain = all(word.filler or {*word.concepts} <= EMPTIES for word in self.words)
        return plain and len(self.words) == len(self.items) and "empty" in self.bounds and self.noun is not None

    @property
    def named(self) -> bool:
        """Only files by their names."""
        named = [item for item in self.items if isinstance(item, Named)]
        plain = all(word.filler for word in self.words) and not self.bounds
        return bool(named) and plain and all(item.kind is Name.PATH and file_like(item) for item in named)

    @property
    def by_pattern(self) -> bool:
        """ "Die mit ~ vorne": files by what their names have."""
        return any(isinstance(item, Named) and item.kind is Name.GLOB for item in self.items)

    def led_by(self, said: frozenset[str]) -> bool:
        return bool(self.words) and self.words[0].folded in said

    @property
    def bound_last(self) -> bool:
        """Is what bounds it said after the kind that it names?"""
        bounds = [word for word in self.words if isinstance(word, Measure) or "empty" in word.concepts]
        return bool(self.kinds and bounds and self.noun and bounds[-1].start > self.noun.start)

    @property
    def known(self) -> bool:
        """Nothing in it that a rule further on would have to make sense of."""
        if self.named:
            return True
        patterns = all(_file(item) for item in self.items if isinstance(item, Named))
        plain = PLAIN | STARTS if self.by_pattern else PLAIN
        return patterns and all(word.filler or _ending(word) or {*word.concepts} & plain for word in self.words)


def apart(clause: Clause) -> list[Clause]:
    """The clause once for each part of its list where each picks files of its own, else as it is."""
    deeds = [item for item in clause.items if isinstance(item, Word) and not ACTIONS.isdisjoint(item.concepts)]
    groups = [group for group in clause.groups(clause.items) if not all(map(_of_the_deed, group))]
    if clause.mood is not Mood.DO or len(groups) < 2 or not _one_deed(deeds, groups):
        return [clause]
    before, groups[0] = _place_first(groups[0], deeds[0])
    groups, everywhere = _everywhere(groups)
    if len(groups) > 1 and _heads(groups[0], deeds):
        everywhere += [item for item in groups[0] if isinstance(item, Word) and "recursive" in item.concepts]
        groups = groups[1:]
    if not groups:
        return [clause]
    groups[-1], after = _place_last(groups[-1])
    after = [*everywhere, *after]
    parts = _named_together([Part(tuple(item for item in group if item not in deeds)) for group in groups])
    either = any(part.items and part.items[0].start in clause.ors for part in parts)
    if any(part.copies for part in parts) and OF_COPIES.isdisjoint(deeds[0].concepts):
        return [clause]
    if not _differ(parts, either=either) or ("clean" in deeds[0].concepts and not all(part.junk for part in parts)):
        return [clause]
    shared = (*before, *deeds, *after)
    told = [(*part.items, *(() if part.noun or part.named else (_files(part),))) for part in parts]
    made = [tuple(sorted((*items, *shared), key=lambda item: item.start)) for items in told]
    joined = (clause.joined, *("and" for _ in made[1:]))
    return [
        replace(clause, items=items, joined=link, links=frozenset((items[0].start,)))
        for items, link in zip(made, joined, strict=True)
    ]


def _named_together(parts: Sequence[Part]) -> list[Part]:
    """ "The empty files, bounce.tmp and a.bak": what is named is one part, wherever the list goes on."""
    told: list[Part] = []
    for part in parts:
        if told and told[-1].named and part.named:
            told[-1] = Part((*told[-1].items, *part.items))
        else:
            told.append(part)
    return told


def _of_the_deed(item: Item) -> bool:
    """ "(The empty files and the temporary ones:) clear them away": the deed, and what points back to the list."""
    if isinstance(item, Named | Measure) or item.unknown:
        return False
    return {*item.concepts} <= ACTIONS | {"here"}


def _files(part: Part) -> Word:
    end = part.items[-1].end
    return Word("files", "files", end, end, concepts=("file",))


def _differ(parts: Sequence[Part], *, either: bool) -> bool:
    """Is each part of the list told by itself, and not all of them by what one list could show?"""
    junk = all(part.junk for part in parts)
    if _empties_last(parts) or _empties_apart(parts):
        return True
    if any(part.copies for part in parts):
        return _copies_apart(parts)
    if not all(junk or (part.known and (part.kinds or part.bounds - {"folder"})) for part in parts):
        return False
    if len({part.bounds for part in parts}) == 1:
        return False
    bare = [part for part in parts if part.noun is None and not part.named and not part.by_pattern]
    if bare:
        return junk or all(part.bounds and (either or part.led_by(ONES)) for part in bare)
    reach = any(one.bounds and one.kinds and not other.by_itself for one, other in pairwise(parts))
    return junk or not (reach or (parts[-1].bound_last and not any(part.bounds for part in parts[:-1])))


def _empties_last(parts: Sequence[Part]) -> bool:
    """ "The tmp and bak files and also the empty ones": nobody asks whether what programs leave behind is empty."""
    *first, last = parts
    left = all(part.kinds and part.kinds <= LEFT_BEHIND and not part.bounds for part in first)
    ones = any(word.folded in ("ones", "vacios", "vacias", "leeren") for word in last.words)
    return left and last.bounds == {"empty"} and not last.kinds and ones


def _empties_apart(parts: Sequence[Part]) -> bool:
    """ "The screenshots and the empty folders": before its own noun it says nothing of the others."""
    apart = all(part.led_by(LED | OWN) for part in parts)
    empty = [n for n, part in enumerate(parts) if part.empties and (n or apart or part.bounds >= {"folder"})]
    others = [part for n, part in enumerate(parts) if n not in empty]
    told = all(not part.bounds and not all(word.filler for word in part.words) for part in others)
    return len(empty) == 1 and bool(others) and told


def _copies_apart(parts: Sequence[Part]) -> bool:
    """Copies are found among all that is listed ("duplicate photos and videos"), unless what follows cannot be that."""
    pairs = [(one, other) for one, other in pairwise(parts) if one.copies]
    return all(other.junk or other.named or (one.bare_copies and other.led_by(LED | OWN)) for one, other in pairs)


def _place_first(group: Sequence[Item], deed: Word) -> tuple[list[Item], list[Item]]:
    """ "In Downloads delete …": the place that stands before the deed, and the rest."""
    at = group.index(deed) if deed in group else 0
    led = at > 0 and isinstance(group[0], Word) and group[0].folded in TOWARDS
    return ([*group[:at]], [*group[at:]]) if led else ([], [*group])


def _place_last(group: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """The last part, and the place that is said after it."""
    found = (n for n, item in enumerate(group) if n and isinstance(item, Word) and _leads(item))
    at = next((n for n in found if any(Part((item,)).noun or _file(item) for item in group[:n])), len(group))
    return [*group[:at]], [*group[at:]]


def _file(item: Item) -> bool:
    return isinstance(item, Named) and (item.kind is Name.GLOB or file_like(item))


def _everywhere(groups: list[list[Item]]) -> tuple[list[list[Item]], list[Item]]:
    """The parts, and what stands among them and says that all are meant at any depth: "…, in every folder, …"."""
    deep = [group for group in groups if all(isinstance(item, Word) and _deep(item) for item in group)]
    deep = [group for group in deep if any("recursive" in word.concepts for word in group if isinstance(word, Word))]
    return [group for group in groups if group not in deep], [item for group in deep for item in group]


def _deep(word: Word) -> bool:
    return word.filler or {*word.concepts} <= {"recursive", "here"}


def _one_deed(deeds: Sequence[Word], groups: Sequence[Sequence[Item]]) -> bool:
    """Once, or as a German verb with its other half: "schmeiß … weg"."""
    same = len({deed.concepts for deed in deeds}) == 1 and not DEEDS.isdisjoint(deeds[0].concepts)
    return same and (len({*deeds}) == 1 or any(all(deed in group for deed in deeds) for group in groups))


def _heads(group: Sequence[Item], deeds: Sequence[Word]) -> bool:
    """ "All the rubbish: tmp, Thumbs.db and the empty files": a word for the whole list."""
    said = [item for item in group if item not in deeds]
    words = [item for item in said if isinstance(item, Word) and not isinstance(item, Measure)]
    plain = all(word.filler or {*word.concepts} <= {"junk", "all", "here", "recursive"} for word in words)
    return plain and len(words) == len(said) and any("junk" in word.concepts for word in words)


def _leads(word: Word) -> bool:
    return word.folded in TOWARDS or "recursive" in word.concepts


def _ending(word: Word) -> bool:
    return word.unknown and extension_of(word.folded) is not None
