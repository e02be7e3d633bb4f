"""The work behind one full turn at one session, counted: figures that do not depend on the machine's load.

Statements are read on the wire, spans by the exporter, calls between services by their transport, thread hops by the
loop's own executor, and pydantic's calls at its base class.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import asyncpg
import httpx
import orjson
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from pydantic import BaseModel
from typing_extensions import override

from libs.database import Dsns
from tests.benchmarks import load
from tests.benchmarks.contenders import platform
from tests.benchmarks.contenders.echo import behind
from tests.benchmarks.wire import Statement, tapped

WARM_UP_TURNS, TURNS = 8, 8
COMMIT, SERVICES = "select bus.commit($1)", "suma_app"
QUERY = re.compile(r"cross join lateral \( select \* from \( (.*)")
"""What a read asks for, after the part that names its tenants."""
PROJECTING = ("gateway", "audit_worker")
"""Groups that only project what others have decided."""
PYDANTIC = ("__init__", "model_validate", "model_validate_json", "model_copy", "model_dump", "model_dump_json")

BOUNDS: Mapping[str, float] = {
    "commits": 8,
    "changesets": 12,
    "inputs of requests": 1,
    "inputs of the turn": 9,
    "inputs of memories": 3,
    "inputs of projections": 0,
    "document bytes": 25_500,
    "read transactions": 4,
    "read round trips": 4,
    "events": 24,
    "events of audit": 9,
    "WAL bytes": 180_000,
    "spans": 10,
    "thread hops": 1,
    "pydantic calls": 155,
    "internal HTTP calls": 0,
}
"""The most that one turn may need of each. A change that needs less lowers its bound.

A busy machine batches less, polls more and writes more full pages, so commits, reads and WAL have a margin; the others
are exact or nearly so.
"""


@dataclass
class Tally:
    """Counts of this process, by name."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, name: str) -> None:
        self.counts[name] += 1


@dataclass
class Counted(SpanExporter):
    """Counts finished spans."""

    tally: Tally

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.tally.counts["spans"] += len(spans)
        return SpanExportResult.SUCCESS


@dataclass
class Calls(httpx.AsyncBaseTransport):
    """Counts the calls between services."""

    tally: Tally
    through: httpx.AsyncBaseTransport

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # Health is asked by the clock.
        if request.url.path != "/healthz":
            self.tally.add("internal HTTP calls")
        return await self.through.handle_async_request(request)


class Hops(ThreadPoolExecutor):
    """Counts what the loop hands to a thread."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(thread_name_prefix="counted")
        self._tally = tally

    @override
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._tally.add("thread hops")
        return super().submit(fn, *args, **kwargs)


@contextmanager
def pydantic_counted(tally: Tally) -> Iterator[None]:
    """Count the calls of pydantic's base class until the block ends."""
    kept = {name: BaseModel.__dict__[name] for name in PYDANTIC}
    for name, method in kept.items():
        setattr(BaseModel, name, _counting(method, tally))
    try:
        yield
    finally:
        for name, method in kept.items():
            setattr(BaseModel, name, method)


def _counting(method: Any, tally: Tally) -> Any:
    bound = isinstance(method, classmethod)
    inner = method.__func__ if bound else method

    def counted(of: Any, /, *args: Any, **kwargs: Any) -> Any:
        tally.add("pydantic calls")
        return inner(of, *args, **kwargs)

    # Classes that are made meanwhile must not take it for an `__init__` of their own.
    counted.__pydantic_base_init__ = True  # type: ignore[attr-defined]
    return classmethod(counted) if bound else counted


@dataclass(frozen=True, slots=True)
class Round:
    """One round trip of a turn: a commit with its inputs, events and leases, or a read with the query's beginning."""

    inputs: Sequence[str] = ()
    events: Sequence[str] = ()
    leases: Sequence[str] = ()
    size: int = 0
    """Bytes of a commit's document."""
    read: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """The mean counts of a turn, and the round trips of the last one that was counted."""

    counts: Mapping[str, float]
    rounds: Sequence[Round]


async def count(where: Dsns) -> Cost:
    """Count a few turns at one session, on a database that nothing else uses."""
    tally = Tally()
    asyncio.get_running_loop().set_default_executor(Hops(tally))
    async with tapped(where) as wire, _serving(wire.dsns, tally) as run:
        await run(WARM_UP_TURNS)
        observer = await asyncpg.connect(where.bus)
        try:
            events, wal, first = await _logged(observer), await _wal(observer), len(wire.statements)
            tally.counts.clear()
            with pydantic_counted(tally):
                await run(TURNS - 1)
                last = len(wire.statements)
                await run(1)
            statements = wire.statements[first:]
            grown, logged = await _wal(observer) - wal, await _logged(observer) - events
        finally:
            await observer.close()
    totals = {**_sent(statements), **_events(logged), "WAL bytes": grown, **tally.counts}
    rounds = [_round(statement) for statement in wire.statements[last:] if statement.role == SERVICES]
    return Cost({name: totals.get(name, 0) / TURNS for name in BOUNDS}, rounds)


@asynccontextmanager
async def _serving(where: Dsns, tally: Tally) -> AsyncIterator[Callable[[int], Awaitable[None]]]:
    """Yield a function that runs so many turns of one session, and waits for audit and memory behind them."""
    observe = partial(Calls, tally)
    async with platform.running(where, spans=Counted(tally), observe=observe) as (client, suma):

        async def run(turns: int) -> None:
            await load.run_turns(client.turn, lambda: behind(suma), sessions=1, turns=turns)

        yield run


def _sent(statements: Sequence[Statement]) -> dict[str, float]:
    """Count the statements of the services' role. The bus's own role works by the clock and is not part of a turn."""
    ours = [statement for statement in statements if statement.role == SERVICES]
    commits = [statement for statement in ours if statement.text == COMMIT]
    reads = [statement for statement in ours if statement.text != COMMIT]
    documents = [_document(statement) for statement in commits]
    items = [item for document in documents for item in orjson.loads(document)["items"]]
    return {
        "commits": len(commits),
        "changesets": len(items),
        **Counter(f"inputs of {_kind(item)}" for item in items),
        "document bytes": sum(map(len, documents)),
        "read transactions": sum(statement.opens for statement in reads),
        "read round trips": len(reads),
    }


def _round(statement: Statement) -> Round:
    if statement.text != COMMIT:
        words = " ".join(statement.text.split())
        asked = QUERY.search(words)
        return Round(read=asked[1] if asked else words)
    raw = _document(statement)
    document = orjson.loads(raw)
    named = [item.get("topic", "a lease" if "lease" in item else "a request") for item in document["items"]]
    return Round(
        [f"{item['grp']} ← {name}" for item, name in zip(document["items"], named, strict=True)],
        [event["type"].removeprefix("suma.").removesuffix(".v1") for event in document.get("events", ())],
        [start["kind"] for start in document.get("starts", ())],
        len(raw),
    )


def _kind(item: Mapping[str, Any]) -> str:
    """Return what an input belongs to, of those that Python handles."""
    if "topic" not in item and "lease" not in item:
        return "requests"
    if item["grp"] in PROJECTING:
        return "projections"
    return "memories" if item["grp"] == "memory_service" else "the turn"


def _document(commit: Statement) -> bytes:
    """Return the JSON; a byte with the version of jsonb's binary format stands before it."""
    return commit.arguments[0].removeprefix(b"\x01")


def _events(logged: Counter[str]) -> dict[str, float]:
    return {"events": logged.total(), "events of audit": logged["audit.events"]}


async def _logged(observer: asyncpg.Connection[asyncpg.Record]) -> Counter[str]:
    """Return the number of events in the log by topic."""
    rows = await observer.fetch("select topic, count(*) as n from bus.log group by topic")
    return Counter({row["topic"]: row["n"] for row in rows})


async def _wal(observer: asyncpg.Connection[asyncpg.Record]) -> float:
    return float(await observer.fetchval("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"))
