"""Which tool a clause means: concepts shared with the phrases that each tool declares, and nearness of the vectors
beside it.

Scores are from 0 to 1 and S4-46 decides on them: above 0.70 and 0.05 ahead of the next, else the person is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from libs.models.offline.places import Ground, places
from libs.models.offline.reading import KINDS, Clause, Name, Named, read
from libs.retrieval import Embedder, Matrix, confident
from libs.retrieval.vectors import Match
from libs.retrieval.words import extension_of
from libs.skills import ToolDefinition

LEXICAL, VECTOR = 0.85, 0.15
SAME, MODIFIER, STRANGE = 1.0, 0.4, 0.5
HESITATION = 0.3
"""Taken from a tool that changes something for each word of the clause that nobody understood."""
WHICH = (
    "file",
    "folder",
    "here",
    "all",
    "only",
    "recursive",
    "newest",
    "oldest",
    "shortest",
    "wellknown",
    "keep",
    "age",
)
HOW = ("then", "first", "not", "except", "untouched", "greeting")
SILENT = frozenset((*KINDS, *WHICH, *HOW))
"""Concepts that say which or how, not what."""

Signs = dict[str, float]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A tool and its score for a clause."""

    tool: ToolDefinition
    score: float


class Matcher:
    """Ranks tools for clauses. What it computes of a tool's phrases is kept by the digest of the skill."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._seen: dict[tuple[str, str], tuple[tuple[Signs, ...], Matrix]] = {}

    async def rank(self, clause: Clause, tools: Sequence[ToolDefinition], ground: Ground) -> tuple[Ranked, ...]:
        """Best first; equal scores by name."""
        asked = signs(clause, ground)
        query = await self._embedder.embed_query(_spoken(clause))
        ranked = []
        for tool in tools:
            phrases, rows = await self._known(tool)
            lexical = max((_alike(asked, phrase) for phrase in phrases), default=0.0)
            near = self._embedder.calibrate(float((rows @ query).max(initial=0.0)))
            doubt = HESITATION * sum(1 for sign in asked if sign.startswith("=")) if tool.mutates else 0.0
            ranked.append(Ranked(tool, max(0.0, min(1.0, LEXICAL * lexical + VECTOR * near - doubt))))
        return tuple(sorted(ranked, key=lambda found: (-round(found.score, 9), found.tool.name)))

    async def _known(self, tool: ToolDefinition) -> tuple[tuple[Signs, ...], Matrix]:
        key = (tool.name, tool.digest)
        if key not in self._seen:
            phrases = (*tool.phrases, tool.description)
            rows = await self._embedder.embed_document(phrases)
            self._seen[key] = tuple(_phrase_signs(phrase) for phrase in phrases), rows
        return self._seen[key]


def sure(ranked: Sequence[Ranked]) -> bool:
    return confident([Match(found.tool.name, found.score) for found in ranked])


def signs(clause: Clause, ground: Ground) -> Signs:
    """What a clause says, weighed. `=word` is a word nobody knows; where something is looked for, those words are
    what is looked for.
    """
    told: Signs = dict.fromkeys(clause.concepts - SILENT, SAME)
    if clause.says("move", "organize"):
        told.pop("create", None)
    if clause.says("find", "list"):
        told.pop("foreign", None)
    if clause.says("age") and not clause.says("keep", "create"):
        told["age"] = SAME
    if clause.says("keep") and not clause.acts:
        told["keep"] = SAME
    where = {place.item for place in places(clause, ground) if not place.beside}
    names = [name for name in clause.names if name not in where]
    unknown = [word for word in clause.words if word.unknown and not extension_of(word.folded) and word not in where]
    strange = [word.folded for word in unknown]
    named = clause.says("find", "content", "rename") or (
        clause.says("create") and clause.says("folder", "file", "name")
    )
    if named and strange:
        told["<quote>"] = MODIFIER
    else:
        told |= {f"={word}": STRANGE for word in strange if not word.isdigit()}
    if any(name.kind is Name.QUOTE for name in names):
        told["<quote>"] = MODIFIER
    if any(name.kind is Name.PATH for name in names):
        told["<path>"] = MODIFIER
    if _picks(clause):
        told["<some>"] = MODIFIER
    return told


def _picks(clause: Clause) -> bool:
    globs = any(name.kind is Name.GLOB for name in clause.names)
    return globs or clause.says(*KINDS) or any(extension_of(word.folded) for word in clause.words)


def _phrase_signs(phrase: str) -> Signs:
    clauses = read(phrase).clauses
    told: Signs = {}
    for clause in clauses:
        told |= signs(clause, Ground())
    return told


def _alike(asked: Signs, phrase: Signs) -> float:
    """Dice's coefficient over weighed signs: 1 when both say the same."""
    whole = sum(asked.values()) + sum(phrase.values())
    shared = sum(min(weight, phrase[sign]) for sign, weight in asked.items() if sign in phrase)
    return 2 * shared / whole if whole else 0.0


def _spoken(clause: Clause) -> str:
    return " ".join(item.text for item in clause.items if not isinstance(item, Named))
