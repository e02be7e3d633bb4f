"""Reading a request: names are set apart from words, and the words are cut into clauses that each ask, forbid or
spare something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from libs.models.offline import courtesy
from libs.models.offline.clauses import AND, BUT, OR, Clause, Item, Measure, Mood, Reading
from libs.models.offline.measures import Measured, measured
from libs.models.offline.moods import mooded, negated, selects
from libs.models.offline.naming import known_as, masked, names
from libs.models.offline.verbs import reunited, verbal
from libs.retrieval.lexicon import Language, listed
from libs.retrieval.words import Word, language_of, words

SPLITTING_NOT = frozenset(("not", "don_t", "dont", "do_not", "never", "without", "ohne", "sin", "neither"))


ARROW = re.compile(r"\s(?:->|=>|→|-->)(?=\s)")
""" "PDFs -> Docs"."""


def read(text: str, known: Sequence[str] = (), *, now: datetime | None = None) -> Reading:
    """Read a request. `known` are names that exist in the workspace; said exactly so, they are names here too.
    Without a `now`, sizes and times stay words.
    """
    text = ARROW.sub(
        lambda found: f" {'to':<{len(found.group()) - 1}}" if len(found.group()) > 2 else found.group(), text
    )
    named = names(text, known)
    plain = masked(text, named)
    language = language_of(plain)
    plain = courtesy.plain(plain, known)
    measures = [_measure(text, one) for one in (measured(plain, now) if now else ())]
    plain = masked(plain, measures)
    # The English article would else pass for the Spanish preposition.
    said = [known_as(_article(word, language), known) for word in words(plain)]
    items: list[Item] = reunited(sorted((*said, *named, *measures), key=lambda item: item.start), plain)
    said_for = [part for part in _parts(items, plain) if not _reason(part)]
    parts = negated([mooded(verbal(part)) for part in said_for])
    return Reading(text, language, tuple(_returned(list(_gathered(parts)))))


def _article(word: Word, language: Language) -> Word:
    return replace(word, folded="an") if word.folded == "a" and language != "es" else word


def _measure(text: str, one: Measured) -> Measure:
    return Measure(text[one.start : one.end], "<measure>", one.start, one.end, filler=True, filters=one.filters)


def _parts(items: Sequence[Item], text: str) -> Iterator[Clause]:
    """Cut at punctuation, at `and`, `or`, `then`, and before `except` and `without`."""
    held: list[Item] = []
    joined, end = "", 0
    for item in items:
        stop = _stop(text[end : item.start]) if held else ""
        said = item.folded if isinstance(item, Word) else ""
        link = _link(said)
        cuts = stop or link or _cuts(item)
        if cuts and held:
            yield Clause(tuple(held), joined=joined)
            held = []
        if cuts:
            joined = link or stop or "and"
        if not link:
            held.append(item)
        end = item.end
    if held:
        yield Clause(tuple(held), joined=joined)


def _reason(part: Clause) -> bool:
    """ "Because I'm still using it" asks for nothing."""
    return isinstance(part.items[0], Word) and "because" in part.items[0].concepts


def _link(said: str) -> str:
    joints = (("and", AND), ("or", OR), ("but", BUT))
    return next((link for link, spoken in joints if said in spoken), "")


def _stop(between: str) -> str:
    if re.search(r"[.;:!?\n]|\s[-–—]+\s", between):
        return "."
    return "," if "," in between else "and" if "&" in between or "+" in between else ""


def _cuts(item: Item) -> bool:
    if not isinstance(item, Word):
        return False
    return (
        "because" in item.concepts
        or "except" in item.concepts
        or "then" in item.concepts
        or item.folded in SPLITTING_NOT
    )


def _gathered(parts: Sequence[Clause]) -> Iterator[Clause]:
    """Put parts that ask nothing by themselves to the one before: "from Photos, and Music". The first goes to the
    next.
    """
    held: Clause | None = None
    for part in parts:
        if held is None:
            held = part
        elif part.joined == "," and _relative(part) and part.mood is held.mood:
            held = held.joins(part)
        elif part.mood is held.mood is Mood.DO and not _stands(part) and _goes_elsewhere(held, part):
            yield held
            held = replace(part, items=(*(item for item in held.items if _moves(item)), *part.items))
        elif part.mood is held.mood and not _stands(part) and part.joined != ".":
            held = held.joins(part)
        elif part.mood is held.mood and not _stands(held):
            held = replace(held.joins(part), joined=held.joined)
        elif part.mood is Mood.DO and not _stands(part) and held.mood is Mood.SPARE:
            held = held.joins(part)
        else:
            yield held
            held = part
    if held is not None:
        yield held


def _relative(part: Clause) -> bool:
    """ "…, was doppelt ist": the end of what came before."""
    first = part.items[0]
    return isinstance(first, Word) and first.folded in ("was", "that", "which", "que", "die") and not part.acts


def _moves(item: Item) -> bool:
    return isinstance(item, Word) and "move" in item.concepts


def _goes_elsewhere(held: Clause, part: Clause) -> bool:
    """ "Move zips to Packed and exes to Setups": the same done to others, with another end."""
    if not held.says("move") or not selects(part):
        return False
    ends = [any(_end(clause.items, n) for n in range(1, len(clause.items))) for clause in (held, part)]
    return all(ends)


def _end(items: Sequence[Item], at: int) -> bool:
    item = items[at]
    return isinstance(item, Word) and item.folded in ("to", "into", "nach", "a") and at + 1 < len(items)


def _returned(clauses: list[Clause]) -> list[Clause]:
    """Where something goes belongs to what is moved: in "move all but a.png into Photos" the end is the beginning's."""
    for at in range(1, len(clauses)):
        main, spare = clauses[at - 1], clauses[at]
        if spare.mood is not Mood.SPARE or main.mood is not Mood.DO or not main.says("move", "pack", "organize"):
            continue
        cut = next((n for n in range(1, len(spare.items)) if _leads_somewhere(spare.items, n)), None)
        if cut is not None and not any(_leads_somewhere(main.items, n) for n in range(1, len(main.items))):
            clauses[at - 1] = main.joins(replace(spare, items=spare.items[cut:]))
            clauses[at] = replace(spare, items=spare.items[:cut])
    return clauses


TOWARDS = listed("to into onto nach in en a al im ins")


def _leads_somewhere(items: Sequence[Item], at: int) -> bool:
    item = items[at]
    return isinstance(item, Word) and item.folded in TOWARDS and at + 1 < len(items)


def _stands(part: Clause) -> bool:
    return part.acts or part.says("duplicate") or part.mood is not Mood.DO
