"""`python -m tests.benchmarks.memory`: how well memories are found, for each embedder (`make bench-memory`).

The memory service stores the facts of memory.yaml on a real PostgreSQL, and its ranking answers the questions: by
vectors, by words, and by both (hybrid). No model reads the results, so the figures are the same in each run.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
from services.memory_service.domain.ranking import Found, best, fused
from services.memory_service.recalling import POOL, without_fillers
from services.memory_service.store import GROUP, SESSION, Scope, Store
from services.memory_service.writing import Writing
from services.settings import process
from tests import infrastructure
from tests.services.memory_service.running import running_memory

SET = Path(__file__).with_name("memory.yaml")
TENANT, PERSON, WITHIN = "acme", "ada", "s-1"
DEPTHS = (1, 5, 10)
DEEPEST = max(DEPTHS)
WIDE = 170
KEPT = 0.9
"""Share of the answerable questions that keep their answer at the threshold of abstention."""
COLUMNS = (
    *("embedder", "way", "recall@1", "@5", "@10", "MRR"),
    *("@5 paraphrase", "time", "multi-hop", "newer first", "contradicted", "abstains", "ms a text"),
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
    """The texts that one way found for a question, best first, and the score of the first."""

    question: Question
    names: Sequence[str]
    top: float

    def recall(self, depth: int) -> float:
        return sum(name in self.names[:depth] for name in self.question.needs) / len(self.question.needs)

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


@dataclass(frozen=True, slots=True)
class Measured:
    """One way of one embedder: what it retrieved for each question, and the milliseconds to embed a text."""

    embedder: str
    way: str
    retrieved: Sequence[Retrieved]
    millis: float

    def row(self) -> tuple[str, ...]:
        depths = [self.recall(depth) for depth in DEPTHS]
        kinds = [self.recall(5, kind) for kind in ("paraphrase", "time", "multi-hop")]
        newer = [statistics.mean(one.newer_first for one in self.of(kind)) for kind in ("update", "contradiction")]
        shares = [*depths, self.reciprocal_rank, *kinds, newer[0], 1 - newer[1], self.abstention()]
        return (self.embedder, self.way, *(f"{100 * share:.1f}" for share in shares), f"{self.millis:.2f}")

    def of(self, *kinds: str) -> Sequence[Retrieved]:
        return [one for one in self.retrieved if one.question.kind in kinds]

    def recall(self, depth: int, kind: str | None = None) -> float:
        asked = self.of(kind) if kind else self.answerable
        return statistics.mean(one.recall(depth) for one in asked)

    @property
    def reciprocal_rank(self) -> float:
        return statistics.mean(one.reciprocal_rank for one in self.answerable)

    @property
    def answerable(self) -> Sequence[Retrieved]:
        return [one for one in self.retrieved if one.question.needs]

    def abstention(self) -> float:
        """Return the share of unanswerable questions below the score that nine of ten answerable ones reach."""
        tops = sorted(one.top for one in self.answerable)
        threshold = tops[int(len(tops) * (1 - KEPT))]
        return statistics.mean(one.top < threshold for one in self.of("absent"))


def read() -> tuple[Mapping[str, str], Sequence[Question]]:
    """Return the facts by name, the oldest first, and the questions."""
    document = yaml.safe_load(SET.read_text())
    facts = sorted(document["facts"].items(), key=lambda fact: (fact[1][0], fact[0]))
    questions = [Question(**{**one, "needs": tuple(one.get("needs", ()))}) for one in document["questions"]]
    return {name: text for name, (_, text) in facts}, questions


async def measure(server: Postgres, embedder: Embedder) -> Sequence[Measured]:
    """Store the facts with an embedder's vectors, and ask every question in each way."""
    facts, questions = read()
    millis = await _millis(embedder, [*facts.values()])
    async with infrastructure.fresh_database(server) as where, running_memory(where, embedder=embedder) as running:
        await _store(running.platform, facts)
        found = {one.ask: await _found(running.platform, one.ask, pool=len(facts)) for one in questions}
    return [
        Measured(embedder.name, way, [way_of(one, found[one.ask]) for one in questions], millis)
        for way, way_of in WAYS.items()
    ]


async def _millis(embedder: Embedder, texts: Sequence[str]) -> float:
    # A table or a connection is made at the first use.
    await embedder.embed_query("ready?")
    began = time.perf_counter()
    await embedder.embed_documents(texts)
    return 1000 * (time.perf_counter() - began) / len(texts)


async def _store(platform: Platform, facts: Mapping[str, str]) -> None:
    writing = Writing(platform.policy, platform.embedder)
    for name, text in facts.items():
        cause = Cause.request(GROUP, id=ids.new(), tenant=TENANT, key=f"{TENANT}:{WITHIN}", session=WITHIN)
        asked = RememberRequested(memory_id=name, kind="message", text=text, user=PERSON)
        await platform.writer.apply((await writing.remember(cause, asked, platform.clock.now())).changeset)


async def _found(platform: Platform, ask: str, *, pool: int) -> Sequence[Found]:
    scope, vector = Scope(TENANT, SESSION, WITHIN, PERSON), await platform.embedder.embed_query(ask)
    given = {platform.embedder.name: vector}
    return (await Store(platform.database).ranked(scope, given, words=without_fillers(ask), pool=pool)).found


def _by_vectors(question: Question, found: Sequence[Found]) -> Retrieved:
    near = sorted((one for one in found if one.near is not None), key=lambda one: one.near or 0)
    return Retrieved(question, [one.id for one in near], near[0].similarity or 0.0 if near else 0.0)


def _by_words(question: Question, found: Sequence[Found]) -> Retrieved:
    worded = sorted((one for one in found if one.worded is not None), key=lambda one: one.worded or 0)
    return Retrieved(question, [one.id for one in worded], worded[0].overlap or 0.0 if worded else 0.0)


def _by_both(question: Question, found: Sequence[Found]) -> Retrieved:
    # As a recall does, with a larger pool.
    recalled, names = best(found, fused(found)[: POOL * DEEPEST], DEEPEST), {one.text: one.id for one in found}
    return Retrieved(question, [names[one.text] for one in recalled], recalled[0].score if recalled else 0.0)


WAYS = {"vectors": _by_vectors, "words": _by_words, "hybrid": _by_both}


async def _main() -> None:
    table = Table(*COLUMNS, title="Memories found, in per cent")
    settings = process()
    async with infrastructure.postgres() as server, embedder_factory.opened(settings, [GROUP]) as configured:
        embedders: list[Embedder] = [HashedEmbedder(), StaticEmbedder()]
        if settings.embedder.startswith("endpoint:"):
            embedders.append(configured(GuardedCalls()))
        for embedder in embedders:
            for measured in await measure(server, embedder):
                table.add_row(*measured.row())
    Console(width=WIDE).print(table)


if __name__ == "__main__":
    asyncio.run(_main())
