"""Which tool a clause means: signs shared with the phrases that each tool declares, and nearness of the vectors beside
them.

Scores are from 0 to 1 and S4-46 decides on them: above 0.70 and 0.05 ahead of the next, else the person is asked. The
vector's part is calibrated by the embedder itself, so another embedder's cosines come to the same scores.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from libs.events.values import Step
from libs.models.offline.clauses import Clause, Named
from libs.models.offline.ground import Ground
from libs.models.offline.meaning import Signs, phrase_signs, signs
from libs.models.offline.reading import read
from libs.retrieval import Embedder, Matrix, Vector, confident
from libs.retrieval.vectors import Match
from libs.skills import ToolDefinition

LEXICAL, VECTOR = 0.85, 0.15
WORTH = 0.45
"""Below this no skill is even offered, so the vector's part is not asked for where it could not lift one so high."""
HESITATION = 0.3
"""Taken from a tool that changes something for each word of the clause that nobody understood."""
FEWEST = 16
"""So many are ranked even where they are worth nothing."""
CATALOGUES = 4
"""Sets of tools that are kept ready: agents differ in what they may use."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A tool and its score for a clause."""

    tool: ToolDefinition
    score: float


class Matcher:
    """Ranks tools for clauses. What it computes of a tool's phrases is kept by the tool's name and digest, so that a
    change embeds that tool anew and no other.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[Key, _Phrases] = {}
        self._indexes: list[_Index] = []

    async def rank(
        self, clause: Clause, tools: Sequence[ToolDefinition], ground: Ground, *, least: float = WORTH
    ) -> tuple[Ranked, ...]:
        """Best first, equal scores by name: every tool that scores `least`, and never fewer than the best few."""
        if not tools:
            return ()
        index = await self._index(tools)
        query = await self._embedder.embed_query(_spoken(clause))
        scores = index.scores(signs(clause, ground), query, self._embedder)
        return tuple(Ranked(tools[at], float(scores[at])) for at in index.best(scores, least))

    async def _index(self, tools: Sequence[ToolDefinition]) -> _Index:
        """The newest stands last."""
        found = next((held for held in reversed(self._indexes) if held.of_these(tools)), None)
        if found is not None:
            if found is not self._indexes[-1]:
                self._indexes.remove(found)
                self._indexes.append(found)
            return found
        keys = _keys(tools)
        same = next((held for held in self._indexes if held.keys == keys), None)
        made = await asyncio.to_thread(_Index.of, tools, await self._learned(tools)) if same is None else same
        self._indexes = [*(held for held in self._indexes if held.keys != keys), replace(made, tools=tuple(tools))]
        self._forget()
        return self._indexes[-1]

    async def _learned(self, tools: Sequence[ToolDefinition]) -> list[_Phrases]:
        """What is known of each; what is new is embedded, all of it at once."""
        known = {(tool.name, tool.digest): self._known.get((tool.name, tool.digest)) for tool in tools}
        texts = {(tool.name, tool.digest): (*tool.phrases, tool.description) for tool in tools}
        new = [key for key, held in known.items() if held is None]
        rows = await self._embedder.embed_document([text for key in new for text in texts[key]])
        # In a thread: a thousand skills' phrases take longer to read than the event loop may wait.
        read = await asyncio.to_thread(lambda: [tuple(map(phrase_signs, texts[key])) for key in new])
        at = 0
        for key, told in zip(new, read, strict=True):
            known[key] = _Phrases(told, rows[at : at + len(told)])
            at += len(told)
        held = {key: found for key, found in known.items() if found is not None}
        self._known |= held
        return [held[tool.name, tool.digest] for tool in tools]

    def _forget(self) -> None:
        """Keep the newest sets of tools, and of phrases those that one of them uses."""
        del self._indexes[:-CATALOGUES]
        used = {key for held in self._indexes for key in held.keys}
        if len(self._known) > len(used):
            self._known = {key: held for key, held in self._known.items() if key in used}


@dataclass(frozen=True, slots=True)
class _Phrases:
    """What one tool's phrases say: their signs, and their vectors as rows."""

    signs: tuple[Signs, ...]
    rows: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class _Index:
    """All phrases of a set of tools: one matrix of vectors, and for each sign the phrases that have it."""

    tools: tuple[ToolDefinition, ...]
    keys: tuple[Key, ...]
    rows: Matrix
    starts: NDArray[np.intp]
    """The first row of each tool; a tool's rows stand together."""
    spans: tuple[tuple[int, int], ...]
    """The first row of each tool and the one after its last."""
    whole: NDArray[np.float64]
    """What all signs of a phrase weigh together."""
    posted: Mapping[str, tuple[NDArray[np.intp], NDArray[np.float64]]]
    changing: NDArray[np.bool_]
    places: NDArray[np.intp]
    """Each tool's place in the order of names."""

    @classmethod
    def of(cls, tools: Sequence[ToolDefinition], held: Sequence[_Phrases]) -> _Index:
        told = [phrase for phrases in held for phrase in phrases.signs]
        posted: dict[str, list[tuple[int, float]]] = {}
        for row, phrase in enumerate(told):
            for sign, weight in phrase.items():
                posted.setdefault(sign, []).append((row, weight))
        names = sorted(range(len(tools)), key=lambda at: tools[at].name)
        ends = list(accumulate(len(phrases.signs) for phrases in held))
        starts = [0, *ends[:-1]]
        return cls(
            tools=tuple(tools),
            keys=_keys(tools),
            rows=np.concatenate([phrases.rows for phrases in held]),
            starts=np.array(starts),
            spans=tuple(zip(starts, ends, strict=True)),
            whole=np.array([sum(phrase.values()) for phrase in told]),
            posted={sign: _columns(pairs) for sign, pairs in posted.items()},
            changing=np.array([tool.mutates for tool in tools]),
            places=np.argsort(names),
        )

    def of_these(self, tools: Sequence[ToolDefinition]) -> bool:
        """The very same definitions: a thousand are compared so in a fiftieth of the time that their keys take."""
        return len(self.tools) == len(tools) and all(map(operator.is_, self.tools, tools))

    def scores(self, asked: Signs, query: Vector, embedder: Embedder) -> NDArray[np.float64]:
        """One score for each tool: that of its best phrase, less what is not understood before a change."""
        lexical = np.maximum.reduceat(self._alike(asked), self.starts)
        strange = sum(1 for sign in asked if sign.startswith("="))
        told = LEXICAL * lexical - HESITATION * strange * self.changing
        near = np.zeros(len(told))
        for at in np.flatnonzero(told + VECTOR >= WORTH).tolist():  # the rest is out of any question
            first, end = self.spans[at]
            near[at] = embedder.calibrate(max((self.rows[first:end] @ query).tolist()))
        return np.clip(told + VECTOR * near, 0.0, 1.0)

    def best(self, scores: NDArray[np.float64], least: float) -> NDArray[np.intp]:
        """The places of those with `least` and of the best few, in order. Whoever reaches the last of them is sorted
        too, else a tie at the cut would depend on partition's whim.
        """
        scores = np.round(scores, 9)
        last = np.partition(scores, -FEWEST)[-FEWEST] if len(scores) > FEWEST else -np.inf
        chosen = np.flatnonzero(scores >= min(last, least))
        return chosen[np.lexsort((self.places[chosen], -scores[chosen]))]

    def _alike(self, asked: Signs) -> NDArray[np.float64]:
        """Dice's coefficient over weighed signs, for every phrase: 1 when both say the same."""
        shared = np.zeros(len(self.whole))
        for sign, weight in asked.items():
            if sign in self.posted:
                rows, weights = self.posted[sign]
                shared[rows] += np.minimum(weight, weights)
        whole = self.whole + sum(asked.values())
        return np.divide(2 * shared, whole, out=np.zeros_like(shared), where=whole > 0)


def sure(ranked: Sequence[Ranked]) -> bool:
    return confident([Match(found.tool.name, found.score) for found in ranked[:2]])


async def rivals(matcher: Matcher, step: Step, tools: Sequence[ToolDefinition]) -> tuple[Ranked, ...]:
    """The skill that a step's own words rather mean, and then the step's; nothing where they agree (DESIGN §7).

    A step that some planner wrote says what its skill is for: its description must find that skill nearer than any
    other, or find no other surely. One without words says nothing against its tool, and one that names it agrees.
    """
    clauses = read(step.description).clauses
    if not clauses or step.tool in step.description:
        return ()
    ranked = await matcher.rank(clauses[0], tools, Ground(), least=0.0)
    own = next((found for found in ranked if found.tool.name == step.tool), None)
    other = next((found for found in ranked if found.tool.skill != step.skill), None)
    if own is None or other is None or own.score >= other.score:
        return ()
    surely = confident([Match("other", other.score), Match("own", own.score)])
    return (other, own) if surely else ()


def _keys(tools: Sequence[ToolDefinition]) -> tuple[Key, ...]:
    return tuple((tool.name, tool.digest) for tool in tools)


def _columns(pairs: Iterable[tuple[int, float]]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    rows, weights = zip(*pairs, strict=True)
    return np.array(rows, np.intp), np.array(weights)


def _spoken(clause: Clause) -> str:
    return " ".join(item.text for item in clause.items if not isinstance(item, Named))
