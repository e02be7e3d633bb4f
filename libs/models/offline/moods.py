"""What each part of a request wants: that something is done, or not, or only to these, or not to those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from libs.models.offline.clauses import ACTIONS, JUNK, KINDS, Clause, Mood
from libs.models.offline.pronouns import points_back
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word, extension_of

LETS = listed("leave lass lasse lassen deja dejar dejes deje")
"""Words that leave things alone only where nothing else is done with them."""


def mooded(part: Clause) -> Clause:
    if part.says("only") and part.says("not") and selects(part) and not part.acts:
        return replace(part, mood=Mood.SPARE)  # "only report.pdf not"
    if part.acts and all(word.folded in LETS for word in part.words if "untouched" in word.concepts):
        items = (
            replace(i, concepts=(), filler=True) if isinstance(i, Word) and i.folded in LETS else i for i in part.items
        )
        part = replace(part, items=tuple(items)) if part.says("untouched") else part
    if part.says("except") or (part.says("untouched") and not part.says("only")):
        return replace(part, mood=Mood.SPARE)
    chosen = selects(part) or bool(part.filters) or part.says("empty") or any(word.unknown for word in part.words)
    if part.says("keep") and not part.acts and not part.says("only", "duplicate") and chosen:
        return replace(part, mood=Mood.SPARE)
    chooses = selects(part) or bool(part.filters) or (part.says("file", "folder") and not part.says("all", "name"))
    if part.says("only") and not part.acts and not part.says("keep", "duplicate") and chooses:
        return replace(part, mood=Mood.ONLY)
    elsewhere = any(word.folded in ("to", "into", "nach", "onto") for word in part.words[1:])
    asks = any(word.folded in MODALS for word in part.words)
    spares = part.joined == "but" and selects(part) and not (elsewhere or asks)
    if spares and not (part.acts or part.says("only", "keep", "duplicate")):
        return replace(part, mood=Mood.SPARE)  # "all images but report.pdf"
    if _still_needed(part):
        of_them = points_back(part.words) and not selects(part)
        return replace(part, mood=Mood.TOLD, items=()) if of_them else replace(part, mood=Mood.SPARE)
    if not part.says("not"):
        return part
    return replace(part, mood=Mood.NEVER if part.acts and not selects(part) else Mood.SPARE)


MODALS = listed("might could should would can may must konnte konnten sollte sollten kann darf podria podrian puede")
NEEDS = listed("need needs brauche brauchen braucht necesito necesita necesitamos want")
STILL = listed("still noch aun todavia")


def _still_needed(part: Clause) -> bool:
    """ "The invoices I still need": left alone, whatever else is done."""
    said = {word.folded for word in part.words}
    return bool(said & NEEDS and said & STILL) and not part.acts and not part.says("not")


def selects(part: Clause) -> bool:
    return bool(part.names or part.says(*KINDS) or any(extension_of(word.folded) for word in part.words))


def negated(parts: Sequence[Clause]) -> list[Clause]:
    """Carry a "don't" along its list: in "don't delete, move or rename anything" all three are forbidden."""
    read: list[Clause] = []
    for at, part in enumerate(parts):
        before = read[-1] if read else None
        if (
            before
            and before.mood not in (Mood.DO, Mood.TOLD)
            and part.mood is Mood.DO
            and part.acts
            and _continues(parts, at)
        ):
            part = replace(part, mood=before.mood if selects(part) else Mood.NEVER)
        if before and _wants_not(before) and part.mood is Mood.DO and _first(part) in THAT:
            part = replace(part, mood=Mood.NEVER)
        if _not_them_too(part, read):
            part = replace(part, mood=Mood.NEVER)
        if _one_of_each(part) and any(one.says("duplicate") for one in read):
            part = replace(part, mood=Mood.TOLD, items=())
        read.append(part)
    return read


def _one_of_each(part: Clause) -> bool:
    """ "… and leave one of each": which is what removing the copies does."""
    said = {word.folded for word in part.words}
    return part.mood is Mood.SPARE and not selects(part) and bool(said & ONE) and bool(said & EACH)


ONE = listed("one eine einen eins una uno single")
EACH = listed("each every je jeweils jeder jedem jede cada")


def _not_them_too(part: Clause, before: Sequence[Clause]) -> bool:
    """ "Delete the empty files, but don't touch the duplicates yet": another job is not to be done as well, and none of
    the empty ones is spared for being like the others.
    """
    jobs = [one for one in before if one.mood is Mood.DO]
    other = part.mood is Mood.SPARE and part.says("duplicate") and not selects(part)
    return other and bool(jobs) and all(one.says(*JUNK) for one in jobs)


def _wants_not(part: Clause) -> bool:
    """ "Ich will nicht, dass …": the deed that is not wanted follows."""
    reminds = any(word.folded.startswith(("vergess", "forget", "olvid")) for word in part.words)
    return part.says("not") and not (part.acts or selects(part) or reminds)


def _first(part: Clause) -> str:
    first = part.items[0]
    return first.folded if isinstance(first, Word) else ""


THAT = listed("dass das that que")


def all_but(parts: Sequence[Clause]) -> list[Clause]:
    """ "Copy everything but the PDFs to Docs": those stay out, though it says after them where the others go."""
    read = list(parts)
    for at in range(1, len(read)):
        before, part = read[at - 1], read[at]
        plain = part.mood is Mood.DO and not part.acts and (selects(part) or part.says("folder", "file"))
        whole = before.mood is Mood.DO and before.says("all") and before.acts and not selects(before)
        if part.joined == "but" and plain and whole and not _led(before):
            read[at] = replace(part, mood=Mood.SPARE)
    return read


def _led(part: Clause) -> bool:
    return any(word.folded in ("to", "into", "nach", "onto") for word in part.words)


def corrected(parts: Sequence[Clause]) -> list[Clause]:
    """ "Not the pictures but the music": what comes after "but" gets the deed that the others are spared."""
    read = list(parts)
    for at in range(1, len(read)):
        before, part = read[at - 1], read[at]
        denied = before.mood in (Mood.SPARE, Mood.NEVER) and before.says("not") and not before.says("except")
        if part.joined != "but" or not denied or part.acts or part.says("not", "untouched", "keep", "except"):
            continue
        verb = _verb(before) or (_verb(read[at - 2]) if at > 1 else ())
        if verb and (selects(part) or any(word.unknown for word in part.words)):
            bare = at > 1 and not _verb(before) and len(read[at - 2].items) == len(verb)
            read[at] = replace(part, mood=Mood.DO, items=(*verb, *part.items))
            read[at - 1] = replace(before, mood=Mood.SPARE)
            if bare:
                read[at - 2] = replace(read[at - 2], items=())
    return [part for part in read if part.items]


def _verb(part: Clause) -> tuple[Word, ...]:
    return tuple(word for word in part.words if ACTIONS & {*word.concepts})


def _continues(parts: Sequence[Clause], at: int) -> bool:
    part = parts[at]
    if part.joined == "or" or any(word.folded in ("anything", "any") for word in part.words):
        return True
    return part.joined == "," and at + 1 < len(parts) and parts[at + 1].joined == "or"
