"""What each part of a request wants: that something is done, or not, or only to these, or not to those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from libs.models.offline.clauses import KINDS, Clause, Mood
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
    chosen = selects(part) or any(word.unknown for word in part.words)
    if part.says("keep") and not part.acts and not part.says("only", "duplicate") and chosen:
        return replace(part, mood=Mood.SPARE)
    chooses = selects(part) or bool(part.filters) or (part.says("file", "folder") and not part.says("all", "name"))
    if part.says("only") and not part.acts and not part.says("keep", "duplicate") and chooses:
        return replace(part, mood=Mood.ONLY)
    if part.joined == "but" and selects(part) and not (part.acts or part.says("only", "keep", "duplicate")):
        return replace(part, mood=Mood.SPARE)  # "all images but report.pdf"
    if not part.says("not"):
        return part
    return replace(part, mood=Mood.NEVER if part.acts and not selects(part) else Mood.SPARE)


def selects(part: Clause) -> bool:
    return bool(part.names or part.says(*KINDS) or any(extension_of(word.folded) for word in part.words))


def negated(parts: Sequence[Clause]) -> list[Clause]:
    """Carry a "don't" along its list: in "don't delete, move or rename anything" all three are forbidden."""
    read: list[Clause] = []
    for at, part in enumerate(parts):
        before = read[-1] if read else None
        if before and before.mood is not Mood.DO and part.mood is Mood.DO and part.acts and _continues(parts, at):
            part = replace(part, mood=before.mood if selects(part) else Mood.NEVER)
        read.append(part)
    return read


def _continues(parts: Sequence[Clause], at: int) -> bool:
    part = parts[at]
    if part.joined == "or" or any(word.folded in ("anything", "any") for word in part.words):
        return True
    return part.joined == "," and at + 1 < len(parts) and parts[at + 1].joined == "or"
