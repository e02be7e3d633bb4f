"""`python -m tests.benchmarks.memory`: how well memories are found, for each embedder (`make bench-memory`).

The memory service stores the facts of memory.yaml on a real PostgreSQL at their dates, and answers the questions: by
vectors, by words, and as a recall does. No model reads the results, so the figures are the same in each run.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import asyncpg
import yaml
from rich.console import Console
from rich.table import Table

from libs import ids
from libs.changes import Cause
from libs.embedded.postgres import Postgres
from libs.events import RememberRequested
from libs.resilience import GuardedCalls
from libs.runtime import Platform
from libs.search import Embedder, HashedEmbedder
from libs.search.static import StaticEmbedder
from services import embedder_factory
from services.memory_service.domain.ranking import Found
from services.memory_service.mind.store import MindStore, RecentMinds
from services.memory_service.recalling import Recalling, without_fillers
from services.memory_service.store import GROUP, SESSION, Scope, Store
from services.memory_service.writing import Writing
from services.settings import process
from tests import infrastructure
from tests.services.memory_service.running import running_memory

SET = Path(__file__).with_name("memory.yaml")
TENANT, PERSON, WITHIN = "acme", "ada", "s-1"
TODAY = datetime(2026, 11, 28, 12, tzinfo=UTC)
"""When the questions are asked."""
DEPTHS = (1, 5, 10)
DEEPEST = max(DEPTHS)
ABILITIES = ("paraphrase", "update", "contradiction", "time", "multi-hop")
WIDE = 170
COLUMNS = (
    *("embedder", "way", "recall@1", "@5", "@10", "MRR"),
    *("@5 paraphrase", "update", "contradiction", "time", "multi-hop"),
    *("newer first", "contradicted", "fitting@5", "abstains: precision", "recall"),
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the names of the facts that it needs: none if nothing answers it."""

    kind: str
    ask: str
    needs: tuple[str, ...] = ()
    stale: str | None = None


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The facts that one way found for a question, best first.

    `outdated` are those that it marks as followed by a newer one, `weak` those that fit too little to be used.
    """

    question: Question
    names: Sequence[str]
    outdated: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()

    def recall(self, depth: int) -> float:
        return self._share(self.names[:depth])

    @property
    def fitting(self) -> float:
        """Return the recall at 5 of what a turn is given."""
        return self._share([name for name in self.names[:5] if name not in self.weak])

    def _share(self, names: Sequence[str]) -> float:
        return sum(name in names for name in self.question.needs) / len(self.question.needs)

    @property
    def reciprocal_rank(self) -> float:
        names = self.names[:DEEPEST]
        return max((1 / (names.index(name) + 1) for name in self.question.needs if name in names), default=0)

    @property
    def newer_first(self) -> bool:
        """Whether the fact that holds is above the one that it replaces."""
        stale = self.question.stale
        return (
            stale is None or stale not in self.names or self.question.needs[0] in self.names[: self.names.index(stale)]
        )

    @property
    def contradicted(self) -> bool:
        """Whether the replaced fact is among the first five as if it held."""
        return self.question.stale in self.names[:5] and self.question.stale not in self.outdated

    @property
    def abstains(self) -> bool:
        return self.weak.issuperset(self.names[:5])


@dataclass(frozen=True, slots=True)
class Measured:
    """One way of one embedder: what it retrieved for each question."""

    embedder: str
    way: str
    retrieved: Sequence[Retrieved]

    def row(self) -> tuple[str, ...]:
        depths = [_mean(one.recall(depth) for one in self.answerable) for depth in DEPTHS]
        abilities = [_mean(one.recall(5) for one in self.of(kind)) for kind in ABILITIES]
        replaced = self.of("update", "contradiction")
        silent = [one for one in self.retrieved if one.abstains]
        shares = (
            *(*depths, _mean(one.reciprocal_rank for one in self.answerable), *abilities),
            *(_mean(one.newer_first for one in replaced), _mean(one.contradicted for one in replaced)),
            _mean(one.fitting for one in self.answerable),
            _mean(one.question.kind == "absent" for one in silent),
            _mean(one.abstains for one in self.of("absent")),
        )
        return (self.embedder, self.way, *("–" if share is None else f"{100 * share:.1f}" for share in shares))

    def of(self, *kinds: str) -> Sequence[Retrieved]:
        return [one for one in self.retrieved if one.question.kind in kinds]

    @property
    def answerable(self) -> Sequence[Retrieved]:
        return [one for one in self.retrieved if one.question.needs]


def _mean(shares: Iterable[float]) -> float | None:
    known = [*shares]
    return statistics.mean(known) if known else None


@dataclass(frozen=True, slots=True)
class Split:
    """A person's facts by name with their dates, the oldest first, and the questions."""

    name: str
    facts: Mapping[str, tuple[date, str]]
    questions: Sequence[Question]


def read() -> Sequence[Split]:
    """Return the splits of the set."""
    return [_split(document) for document in yaml.safe_load_all(SET.read_text())]


def _split(document: Mapping[str, Any]) -> Split:
    facts = sorted(document["facts"].items(), key=lambda fact: (fact[1][0], fact[0]))
    questions = [Question(**{**one, "needs": tuple(one.get("needs", ()))}) for one in document["questions"]]
    return Split(document["split"], {name: (day, text) for name, (day, text) in facts}, questions)


class Fixed:
    def now(self) -> datetime:
        return TODAY


async def measure(server: Postgres, embedder: Embedder, split: Split) -> Sequence[Measured]:
    """Store the facts with an embedder's vectors, and ask every question in each way."""
    async with infrastructure.fresh_database(server) as where, running_memory(where, embedder=embedder) as running:
        platform = running.platform
        await _store(platform, split.facts)
        owner = await asyncpg.connect(where.owner)
        await owner.executemany(
            "update memory.memories set created_at = $2 where memory_id = $1",
            [(name, datetime.combine(day, time(12), UTC)) for name, (day, _) in split.facts.items()],
        )
        await owner.close()
        found = {one.ask: await _found(platform, one.ask, pool=len(split.facts)) for one in split.questions}
        minds = RecentMinds(MindStore(platform.database), 60)
        recalling = Recalling(Store(platform.database), embedder, minds, clock=Fixed())
        recalled = [await _recalled(recalling, one) for one in split.questions]
    return [
        Measured(embedder.name, "vectors", [_by_vectors(one, found[one.ask]) for one in split.questions]),
        Measured(embedder.name, "words", [_by_words(one, found[one.ask]) for one in split.questions]),
        Measured(embedder.name, "recall", recalled),
    ]


async def _store(platform: Platform, facts: Mapping[str, tuple[date, str]]) -> None:
    writing = Writing(platform.policy, platform.embedder)
    for name, (_, text) in facts.items():
        cause = Cause.request(GROUP, id=ids.new(), tenant=TENANT, key=f"{TENANT}:{WITHIN}", session=WITHIN)
        asked = RememberRequested(memory_id=name, kind="message", text=text, user=PERSON)
        await platform.writer.apply((await writing.remember(cause, asked, platform.clock.now())).changeset)


async def _found(platform: Platform, ask: str, *, pool: int) -> Sequence[Found]:
    scope, vector = Scope(TENANT, SESSION, WITHIN, PERSON), await platform.embedder.embed_query(ask)
    given = {platform.embedder.name: vector}
    return (await Store(platform.database).ranked(scope, given, words=without_fillers(ask), pool=pool)).found


def _by_vectors(question: Question, found: Sequence[Found]) -> Retrieved:
    near = sorted((one for one in found if one.near is not None), key=lambda one: one.near or 0)
    return Retrieved(question, [one.id for one in near])


def _by_words(question: Question, found: Sequence[Found]) -> Retrieved:
    worded = sorted((one for one in found if one.worded is not None), key=lambda one: one.worded or 0)
    return Retrieved(question, [one.id for one in worded])


async def _recalled(recalling: Recalling, question: Question) -> Retrieved:
    found = await recalling.recall(Scope(TENANT, SESSION, WITHIN, PERSON), question.ask, DEEPEST)
    return Retrieved(
        question,
        [one.id for one in found.memories],
        frozenset(one.id for one in found.memories if one.newer is not None),
        frozenset(one.id for one in found.memories) - {one.id for one in found.fitting},
    )


async def _main() -> None:
    settings, console = process(), Console(width=WIDE)
    async with infrastructure.postgres() as server, embedder_factory.opened(settings, [GROUP]) as configured:
        embedders: list[Embedder] = [HashedEmbedder(), StaticEmbedder()]
        if settings.embedder.startswith("endpoint:"):
            embedders.append(configured(GuardedCalls()))
        for split in read():
            table = Table(*COLUMNS, title=f"{split.name}: {len(split.facts)} facts, {len(split.questions)} questions")
            for embedder in embedders:
                for measured in await measure(server, embedder, split):
                    table.add_row(*measured.row())
            console.print(table)


if __name__ == "__main__":
    asyncio.run(_main())
