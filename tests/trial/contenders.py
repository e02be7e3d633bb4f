"""What the trial must know of each contender: how its executor is started, and which turns its own tables say are
between intent and outcome."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import asyncpg

from libs.bus.log import SCHEMA
from libs.database import migrate
from libs.embedded.postgres import Postgres
from tests import peers
from tests.infrastructure import TEMPLATE, create_database, fresh_database
from tests.support import platform
from tests.trial import world

HARNESS, DRIVER = "harness", "driver"
"""The names of database sessions that stay: our own, and those of who takes the turns."""

OURS = ("idempotent", "reconcilable", "compensable", "at_most_once")

SUMA_OPEN = "select turn_id from executor.effects where state = 'open'"
"""The intent is written, and not what became of it."""

LANGGRAPH_OPEN = """
with latest as (
    select distinct on (thread_id) thread_id, checkpoint_id, metadata ->> 'step' as step from checkpoints
    order by thread_id, checkpoint_id desc
)
select thread_id from latest where step = '1' and not exists (
    select from checkpoint_writes w where w.thread_id = latest.thread_id and w.checkpoint_id = latest.checkpoint_id
)
"""
"""The node that makes the effect is next (step 1 is behind the node that plans), and nothing of it is written."""

DBOS_OPEN = """
select workflow_uuid from dbos.operation_outputs group by workflow_uuid having max(function_id) = 1
"""
"""The first step is recorded, the second is not."""


Eye: TypeAlias = "asyncpg.Pool[asyncpg.Record]"


@dataclass(frozen=True)
class Stage:
    """A contender's databases, and how its processes are started: arguments of the stem's module."""

    eye: Eye
    """Sessions of ours in its database."""
    world: Eye
    """The same in the world."""
    open: str
    """Selects the turns whose intent is recorded and whose outcome is not."""
    executor: Callable[[str, str, Sequence[str]], list[Any]]
    """(socket, this executor's name, those known to be dead)"""
    driver: Callable[[str], list[Any]] | None = None
    """(socket) where another process takes the turns and tells how they ended."""

    async def databases(self) -> list[str]:
        return [await session.fetchval("select current_database()") for session in (self.eye, self.world)]


@dataclass(frozen=True)
class Contender:
    name: str
    effects: Sequence[str]
    module: str
    python: Callable[[], Awaitable[str]]
    stage: Callable[[Postgres, Path], AbstractAsyncContextManager[Stage]]
    ours: bool = False


def named(dsn: str, application: str) -> str:
    """So that PostgreSQL can tell whose session it is."""
    return f"{dsn}&application_name={application}"


@asynccontextmanager
async def opened(dsn: str) -> AsyncIterator[Eye]:
    async with asyncpg.create_pool(named(dsn, HARNESS), min_size=1, max_size=4) as pool:
        yield pool


@asynccontextmanager
async def a_world(server: Postgres) -> AsyncIterator[tuple[str, Eye]]:
    """The other database, and our own sessions in it."""
    async with fresh_database(server, "template1") as where, opened(where.owner) as eye:
        await eye.execute(world.SCHEMA)
        yield where.owner, eye


def one_process(query: str, *more: str) -> Callable[[Postgres, Path], AbstractAsyncContextManager[Stage]]:
    """A stage for who does everything in one process, on a database of its own; `query` selects the open turns."""

    @asynccontextmanager
    async def stage(server: Postgres, folder: Path) -> AsyncIterator[Stage]:
        async with (
            fresh_database(server, "template1") as where,
            a_world(server) as (elsewhere, outside),
            opened(where.owner) as eye,
        ):
            yield Stage(eye, outside, query, lambda socket, name, dead: [socket, name, where.owner, elsewhere, *more])

    return stage


async def here() -> str:
    """Our own environment."""
    return sys.executable


@asynccontextmanager
async def _suma(server: Postgres, folder: Path) -> AsyncIterator[Stage]:
    """The house's database, and a data directory that all its processes share."""
    with suppress(asyncpg.DuplicateDatabaseError):
        await create_database(server, TEMPLATE, "suma")
    await migrate(server.dsn("suma_owner", TEMPLATE), SCHEMA)
    template = await platform.template(server)
    data = folder / "house"
    data.mkdir()
    async with (
        fresh_database(server, template) as where,
        a_world(server) as (elsewhere, outside),
        opened(where.owner.replace("suma_owner", "postgres")) as eye,
    ):

        def named_all(application: str) -> list[str]:
            return [named(dsn, application) for dsn in (where.owner, where.bus, where.app)]

        def executor(socket: str, name: str, dead: Sequence[str]) -> list[Any]:
            return ["executor", socket, name, named_all(name), named(elsewhere, name), str(data), list(dead)]

        def driver(socket: str) -> list[Any]:
            return ["driver", socket, named_all(DRIVER), named(elsewhere, DRIVER), str(data)]

        yield Stage(eye, outside, SUMA_OPEN, executor, driver)


def _peer_of(name: str, module: str, query: str) -> Contender:
    return Contender(
        name,
        ("plain", "keyed"),
        f"tests.trial.executors.{module}",
        lambda: peers.python(module),
        one_process(query),
    )


CONTENDERS = {
    "suma": Contender("Suma", OURS, "tests.trial.executors.suma", here, _suma, ours=True),
    "langgraph": _peer_of("LangGraph, Postgres saver", "langgraph", LANGGRAPH_OPEN),
    "dbos": _peer_of("DBOS", "dbos", DBOS_OPEN),
}
