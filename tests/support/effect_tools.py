"""Tools that act outside: on rows of another database, one tool for each effect class, kept as the port asks.

`made` holds each effect as it happened, so that a second one shows. `fences` holds for each intent the attempt below
which nothing may happen any more. What goes wrong is scripted: `trouble` is asked at each point of each attempt.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
from typing_extensions import override

from libs.errors import Unavailable
from libs.events.values import Plan, Step
from libs.tools import Effect, Intent, Outcome, Tool

TABLES = """
create table if not exists made (
    id bigserial primary key, intent text not null, tool text not null, attempt int not null,
    session text not null, undone boolean not null default false);
create table if not exists keyed (intent text primary key, runs int not null default 1);
create table if not exists fences (intent text primary key, attempt int not null);
"""
TEXT: Mapping[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "row": {"type": "integer"}},
    "required": ["text"],
    "additionalProperties": False,
}
ROW: Mapping[str, Any] = {"row": {"type": "integer"}}
Trouble = Callable[[str, Intent], Awaitable[None]]
"""Asked at `<verb>:before` and `run:after`, between leave and effect (`run:acting`, `undo:acting`), between effect and
commit (`run:open`), behind that (`run:wrote`), and where the world refuses a late attempt (`late`). It may raise, wait
or end the process."""


async def none(point: str, intent: Intent) -> None:
    """No faults."""


async def free() -> None:
    """Ignore fenced attempts."""


class Late(Unavailable):
    """A higher attempt ran before; this one does nothing."""


class NotNow(Unavailable):
    """The state of the effect is unknown for now."""


@dataclass
class World:
    """The second database, and the calls to it: (verb, attempt) in order."""

    dsn: str
    trouble: Trouble = none
    locked: Callable[[], Awaitable[None]] = free
    asked: list[tuple[str, int]] = field(default_factory=list)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
        connection = await asyncpg.connect(self.dsn)
        try:
            await connection.execute("set lock_timeout = '500ms'")
            async with connection.transaction():
                yield connection
        except asyncpg.LockNotAvailableError:
            # A call is in progress.
            await self.locked()
            raise NotNow() from None
        finally:
            connection.terminate()

    async def prepare(self) -> None:
        async with self.transaction() as connection:
            await connection.execute(TABLES)

    async def made(self, session: str) -> list[asyncpg.Record]:
        """Return the effects of a session that were not undone."""
        async with self.transaction() as connection:
            return await connection.fetch("select * from made where session = $1 and not undone order by id", session)

    async def note(self, verb: str, intent: Intent) -> None:
        self.asked.append((verb, intent.attempt))
        await self.trouble(f"{verb}:before", intent)


@dataclass
class Outside:
    """The common parts of the tools."""

    world: World
    name = ""
    description = "Writes a row into another database."
    parameters = TEXT
    returns = ROW
    effect = Effect.PURE

    async def run(self, intent: Intent) -> Outcome:
        await self.world.note("run", intent)
        # Run as in a thread: a cancel does not stop what has begun.
        row = await asyncio.shield(asyncio.ensure_future(self._write(intent)))
        await self.world.trouble("run:after", intent)
        return Outcome({"row": row}, f"wrote {intent.args['text']}")

    async def _write(self, intent: Intent) -> int:
        if not intent.valid():
            raise Late()
        await self.world.trouble("run:acting", intent)
        async with self.world.transaction() as connection:
            row = await self._act(connection, intent)
            await self.world.trouble("run:open", intent)
        await self.world.trouble("run:wrote", intent)
        return row

    async def _act(self, connection: asyncpg.Connection[asyncpg.Record], intent: Intent) -> int:
        return int(await connection.fetchval(MAKE, intent.id, self.name, intent.attempt, intent.session))


MAKE = "insert into made (intent, tool, attempt, session) values ($1, $2, $3, $4) returning id"
RAISE = """
insert into fences values ($1, $2)
on conflict (intent) do update set attempt = greatest(fences.attempt, excluded.attempt) returning attempt
"""


class Fenced(Outside):
    """A tool whose world refuses an attempt after a higher one."""

    async def enter(self, connection: asyncpg.Connection[asyncpg.Record], intent: Intent) -> None:
        """Fence lower attempts off, unless this is one."""
        if int(await connection.fetchval(RAISE, intent.id, intent.attempt)) > intent.attempt:
            await self.world.trouble("late", intent)
            raise Late()

    @override
    async def _act(self, connection: asyncpg.Connection[asyncpg.Record], intent: Intent) -> int:
        await self.enter(connection, intent)
        return await super()._act(connection, intent)


class Count(Outside):
    """pure: the number of rows."""

    name, effect, description = "outside.count", Effect.PURE, "Counts rows of another database."

    @override
    async def _act(self, connection: asyncpg.Connection[asyncpg.Record], intent: Intent) -> int:
        return int(await connection.fetchval("select count(*) from made where session = $1", intent.session))


class Near(Count):
    """pure, and on this machine."""

    name, leaves_machine = "outside.near", False


class Put(Outside):
    """idempotent: the world accepts our key."""

    name, effect = "outside.put", Effect.IDEMPOTENT

    @override
    async def _act(self, connection: asyncpg.Connection[asyncpg.Record], intent: Intent) -> int:
        again = "insert into keyed values ($1) on conflict (intent) do update set runs = keyed.runs + 1 returning runs"
        if int(await connection.fetchval(again, intent.id)) == 1:
            await super()._act(connection, intent)
        return int(await connection.fetchval("select id from made where intent = $1", intent.id))


class Note(Fenced):
    """reconcilable: the world can be queried."""

    name, effect = "outside.note", Effect.RECONCILABLE

    async def probe(self, intent: Intent) -> Outcome | None:
        await self.world.note("probe", intent)
        async with self.world.transaction() as connection:
            await self.enter(connection, intent)
            row = await connection.fetchval("select id from made where intent = $1", intent.id)
        return Outcome({"row": row}, "found it written") if row is not None else None


class Book(Fenced):
    """compensable: the world undoes it by its key."""

    name, effect = "outside.book", Effect.COMPENSABLE

    async def undo(self, intent: Intent) -> None:
        await self.world.note("undo", intent)
        await asyncio.shield(asyncio.ensure_future(self._take_back(intent)))

    async def _take_back(self, intent: Intent) -> None:
        if not intent.valid():
            raise Late()
        await self.world.trouble("undo:acting", intent)
        async with self.world.transaction() as connection:
            await self.enter(connection, intent)
            await connection.execute("update made set undone = true where intent = $1", intent.id)


class Send(Outside):
    """at_most_once: the world keeps nothing that could be queried."""

    name, effect = "outside.send", Effect.AT_MOST_ONCE


def tools(world: World) -> list[Tool]:
    return [kind(world) for kind in (Count, Near, Put, Note, Book, Send)]


def plan(*names: str) -> Plan:
    """Return a plan of these tools, in order."""
    steps = tuple(
        Step(
            step_id=f"s{n}",
            ordinal=n,
            description=f"{name} {n}",
            tool=name,
            args={"text": f"step {n}"},
            mutates=name not in (Count.name, Near.name),
        )
        for n, name in enumerate(names, 1)
    )
    return Plan(plan_id="p", steps=steps)


@dataclass
class Breaking:
    """Faults that raise these errors, one after the other, at one point."""

    point: str
    errors: list[BaseException]

    async def __call__(self, point: str, intent: Intent) -> None:
        if point == self.point and self.errors:
            raise self.errors.pop(0)


@dataclass
class Gate:
    """A fault that stops the first call at one point until the gate opens, and then raises its error."""

    point: str
    errors: list[BaseException] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, point: str, intent: Intent) -> None:
        if point == self.point and not self.reached.is_set():
            self.reached.set()
            await self.opened.wait()
            for error in self.errors:
                raise error
