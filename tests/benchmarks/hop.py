"""A hop on the bus: from asking for a commit to the handler of the event in it, beside a raw commit and a wake-up."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import asyncpg
from rich.text import Text

from libs import ids
from libs.bus.postgres import PostgresBus
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.events import FeedbackGiven
from libs.events.envelope import Envelope
from libs.runtime.host import host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Service, Subscription
from tests import infrastructure
from tests.benchmarks.contest import Server
from tests.benchmarks.rows import Row, most
from tests.infrastructure import TEMPLATE, fresh_database

Hop = Callable[[], Awaitable[float]]
CHANNEL = "raw"
INSERT = "insert into events (id, key, type, data) values ($1, 'local:s', 'said', '{\"score\": 1}')"


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    rounds, each = (5, 20) if quick else (20, 50)
    taken: dict[str, list[float]] = {"ours": [], "notified": [], "woken": []}
    async with (
        Server.started() as server,
        fresh_database(server.postgres, TEMPLATE) as where,
        _ours(where) as ours,
        _raw(where.owner) as (notified, woken),
    ):
        for n in range(rounds):
            tell(f"hops, round {n + 1} of {rounds}")
            for name, hop in (("ours", ours), ("notified", notified), ("woken", woken)):
                taken[name] += [await hop() for _ in range(each)]
    p50 = {name: statistics.median(times) * 1000 for name, times in taken.items()}
    return [
        Row("bus hop p50", p50["ours"], "ms", "raw commit, then NOTIFY", p50["notified"], most(2.0)),
        Row("bus hop p50", p50["ours"], "ms", "raw commit, then a wake-up in the process", p50["woken"]),
    ], Text()


@dataclass
class Listener:
    """Hears one event at a time."""

    heard: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def hear(self, cause: Cause, event: Envelope[FeedbackGiven]) -> Changeset:
        self.heard.set()
        return Changeset(cause).on_commit(self.done.set)


@asynccontextmanager
async def _ours(where: Dsns) -> AsyncIterator[Hop]:
    listener = Listener()
    services = [Service("memory_service", [Subscription(FeedbackGiven, listener.hear)])]
    async with infrastructure.platform(where) as made:
        platform = replace(made, bus=PostgresBus(made.database, made.member))
        await prepare(platform, services)
        async with host(platform, services):
            yield lambda: _said(platform, listener)


async def _said(platform: Platform, listener: Listener) -> float:
    listener.heard.clear()
    listener.done.clear()
    session = ids.new()
    cause = Cause.request("gateway", id=ids.new(), tenant="local", key=f"local:{session}", session=session)
    began = time.perf_counter()
    said = Changeset(cause).emit(FeedbackGiven(subject="s", score=1, user="u"))
    applying = asyncio.ensure_future(platform.writer.apply(said))
    await listener.heard.wait()
    taken = time.perf_counter() - began
    # The listener's own commit is the next hop's, and may not slow this one down.
    await asyncio.gather(applying, listener.done.wait())
    return taken


@asynccontextmanager
async def _raw(dsn: str) -> AsyncIterator[tuple[Hop, Hop]]:
    """One insert and its commit in one round trip; who waits is told by NOTIFY after it, or in the process."""
    writer, ear = await asyncpg.connect(dsn), await asyncpg.connect(dsn)
    await writer.execute("create table events (id text primary key, key text, type text, data jsonb)")
    heard = asyncio.Event()
    await ear.add_listener(CHANNEL, lambda *_: heard.set())
    try:
        yield lambda: _notified(writer, heard), lambda: _woken(writer)
    finally:
        await ear.close()
        await writer.close()


async def _notified(writer: Any, heard: asyncio.Event) -> float:
    heard.clear()
    began = time.perf_counter()
    await writer.execute(INSERT, ids.new())
    await writer.execute(f"notify {CHANNEL}")
    await heard.wait()
    return time.perf_counter() - began


async def _woken(writer: Any) -> float:
    woken = asyncio.Event()
    waiting = asyncio.ensure_future(woken.wait())
    began = time.perf_counter()
    await writer.execute(INSERT, ids.new())
    woken.set()
    await waiting
    return time.perf_counter() - began
