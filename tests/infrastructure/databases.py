"""A database for each test, and connections that outlive it.

Most of a short test's CPU time is PostgreSQL planning the same statements again on new connections. So a database goes
back to the rows of its template after its test, and the next test of that template takes it over, with the connections
that the platforms before it have closed in order. A test that changed the schema leaves a database that is dropped.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import asyncpg
from typing_extensions import override

from libs import ids
from libs.database import Connection, Database, Dsns, Sizes, arrays
from libs.database.pools import CLOSE_SECONDS, STATEMENT_SECONDS
from libs.embedded.postgres import Postgres, Role

ROLES: tuple[Role, Role, Role] = ("suma_owner", "suma_bus", "suma_app")
BARE = ("template0", "template1")
FREE_MOST = 3
"""Databases that wait for a test; each holds about ten connections."""
USES_MOST = 50
"""Tests that take over one database: without a vacuum, deleted rows are only marked as such."""
KEPT_MOST = 8
"""Connections without a pool that wait in one database."""
VALID_SECONDS = 2.0

SCHEMA_MARK = """
select md5(string_agg(mark, ',' order by mark)) from (
    select 'c' || oid || '.' || xmin::text as mark from pg_class where oid >= 16384
    union all select 'p' || oid || '.' || xmin::text from pg_proc
        where oid >= 16384 and pronamespace <> pg_my_temp_schema()
    union all select 'n' || oid || '.' || xmin::text from pg_namespace where oid >= 16384 and nspname not like 'pg\\_%'
    union all select 't' || oid || '.' || xmin::text from pg_trigger where oid >= 16384
    union all select 'o' || oid || '.' || xmin::text from pg_constraint where oid >= 16384
    union all select 'y' || oid || '.' || xmin::text from pg_policy where oid >= 16384
    union all select 'a' || sum(xmin::text::bigint) from pg_attribute where attrelid >= 16384
    union all select 's' || count(*) from pg_db_role_setting
) marks
"""
"""What a change of the schema changes."""
TABLES = """
select c.oid::regclass::text as name,
    (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p') and not c.relispartition
    and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\\_t%'
order by name
"""
SEQUENCES = """
select format('%I.%I', schemaname, sequencename) as name, coalesce(last_value, start_value) as value,
    last_value is not null as called from pg_sequences
"""
OTHERS = """
select pg_terminate_backend(pid, 2000) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and pid <> all($1::int[])
"""


@dataclass(frozen=True)
class Origin:
    """What a template's databases go back to."""

    mark: str
    restore: str
    """SQL that creates a function for it, on one connection."""


@dataclass
class Used:
    """A database of a test, and what waits in it for the next one."""

    name: str
    template: str
    loop: asyncio.AbstractEventLoop
    uses: int = 0
    pools: list[tuple[Sizes, dict[str, Any]]] = field(default_factory=list)
    ready: dict[str, list[Kept]] = field(default_factory=dict)
    closed: list[tuple[str, Kept]] = field(default_factory=list)
    """Connections that the current test has closed, by address."""
    keeper: asyncpg.Connection[asyncpg.Record] | None = None
    """The superuser, with the function that restores."""

    @property
    def full(self) -> bool:
        return len(self.closed) + sum(map(len, self.ready.values())) >= KEPT_MOST

    @property
    def pids(self) -> list[int]:
        pooled = [holder._con for _, pools in self.pools for pool in pools.values() for holder in pool._holders]
        kept = [one for some in self.ready.values() for one in some]
        return [one.get_server_pid() for one in (*pooled, *kept) if one is not None and not one.is_closed()]

    def terminate(self) -> None:
        """End all connections."""
        for one in [*(each for some in self.ready.values() for each in some), *(each for _, each in self.closed)]:
            one.end()
        for _, pools in self.pools:
            for pool in pools.values():
                pool.terminate()
        if self.keeper is not None:
            self.keeper.terminate()
        self.pools, self.ready, self.closed, self.keeper = [], {}, [], None

    async def settle(self) -> None:
        """Sort out which connections the next test can use."""
        closed, self.closed = self.closed, []
        for address, one in closed:
            try:
                # Ends listening, and waits for a statement that was cancelled.
                await one.reset(timeout=VALID_SECONDS)
                self.ready.setdefault(address, []).append(one)
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                one.end()


class Kept(asyncpg.Connection):
    """A connection that waits for the next test instead of being closed."""

    used: Used | None = None
    address = ""

    @override
    async def close(self, *, timeout: float | None = None) -> None:
        if not self._leave():
            await super().close(timeout=timeout)

    @override
    def terminate(self) -> None:
        # A connection that is given up after an error must not come back.
        failed = not isinstance(sys.exc_info()[1], asyncio.CancelledError | None)
        if failed or not self._leave():
            super().terminate()

    def end(self) -> None:
        super().terminate()

    def _leave(self) -> bool:
        used, self.used = self.used, None
        if used is None or self.is_closed() or self.is_in_transaction() or used.full:
            return False
        used.closed.append((self.address, self))
        return True


class KeptDatabase(Database):
    """The pools of one process after another."""

    def __init__(self, used: Used, dsns: Dsns, sizes: Sizes) -> None:
        super().__init__(dsns, sizes)
        self._used, self._known = used, sizes
        found = next((n for n, (known, _) in enumerate(used.pools) if known == sizes), None)
        if found is not None:
            self._pools = used.pools.pop(found)[1]

    @override
    async def pinned(self, dsn: str | None = None) -> asyncpg.Connection[asyncpg.Record]:
        address = dsn or self.dsns.app
        await self._used.settle()
        waiting = [each for each in self._used.ready.pop(address, []) if not each.is_closed()]
        one = waiting.pop() if waiting else await self._opened(address)
        self._used.ready[address] = waiting
        one.used, one.address = self._used, address
        return one

    async def _opened(self, address: str) -> Kept:
        one: Any = await asyncpg.connect(address, timeout=10, command_timeout=STATEMENT_SECONDS, connection_class=Kept)
        await arrays.tell(one)
        return one  # type: ignore[no-any-return]

    @override
    async def close(self, within: float = CLOSE_SECONDS) -> None:
        whole = all(pool.get_idle_size() == pool.get_size() for pool in self._pools.values())
        if not whole or self._used.name not in _used:
            await super().close(within)
            return
        pools, self._pools = self._pools, {}
        self._used.pools.append((self._known, pools))


class Databases:
    """The databases of one server."""

    def __init__(self, server: Postgres, administrator: asyncpg.Pool[asyncpg.Record]) -> None:
        self.server, self.administrator = server, administrator
        self._free: list[Used] = []
        self._origins: dict[str, Origin] = {}

    def dsns(self, name: str) -> Dsns:
        return Dsns(*(self.server.dsn(role, name) for role in ROLES))

    @asynccontextmanager
    async def one(self, template: str) -> AsyncIterator[Dsns]:
        """Lend a database that is as new."""
        used = self._taken(template) or await self._made(template)
        used.uses += 1
        _used[used.name] = used
        try:
            yield self.dsns(used.name)
        finally:
            if await self._restored(used):
                self._free.append(used)
            else:
                await self._drop(used)
            while len(self._free) > FREE_MOST:
                await self._drop(self._free.pop(0))

    async def create(self, name: str, template: str) -> None:
        await self.administrator.execute(
            f"create database {name} template {template} strategy file_copy owner suma_owner"
        )

    def close(self) -> None:
        for used in self._free:
            used.terminate()

    def _taken(self, template: str) -> Used | None:
        loop = asyncio.get_running_loop()
        found = next((one for one in reversed(self._free) if (one.template, one.loop) == (template, loop)), None)
        if found is not None:
            self._free.remove(found)
        return found

    async def _made(self, template: str) -> Used:
        if template not in self._origins and template not in BARE:
            self._origins[template] = await _origin(self.server.dsn("postgres", template))
        name = "t" + ids.new().replace("-", "")
        await self.create(name, template)
        return Used(name, template, asyncio.get_running_loop())

    async def _restored(self, used: Used) -> bool:
        """Return whether the database is as its template again."""
        origin = self._origins.get(used.template)
        if origin is None or used.uses >= USES_MOST or used.loop is not asyncio.get_running_loop():
            return False
        with suppress(OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
            await used.settle()
            if used.keeper is None:
                keeper = self.server.dsn("postgres", used.name)
                used.keeper = await asyncpg.connect(keeper, server_settings={"session_replication_role": "replica"})
            await used.keeper.fetch(OTHERS, used.pids)
            if await used.keeper.fetchval(SCHEMA_MARK) != origin.mark:
                return False
            if used.uses == 1:
                await used.keeper.execute(origin.restore)
            await used.keeper.execute("select pg_temp.restore()")
            return True
        return False

    async def _drop(self, used: Used) -> None:
        _used.pop(used.name, None)
        used.terminate()
        await self.administrator.execute(f"drop database {used.name} with (force)")


_used: dict[str, Used] = {}
"""Name → a database of a test that runs, or that waits."""
servers: WeakKeyDictionary[Postgres, Databases] = WeakKeyDictionary()


def database(where: Dsns, sizes: Sizes) -> Database:
    """Return the database of a process, with what the one before it has left."""
    name = where.app.partition("?")[0].rpartition("/")[2]
    used = _used.get(name)
    if used is None or used.loop is not asyncio.get_running_loop():
        return Database(where, sizes)
    return KeptDatabase(used, where, sizes)


async def _origin(dsn: str) -> Origin:
    connection = await asyncpg.connect(dsn)
    try:
        mark = str(await connection.fetchval(SCHEMA_MARK))
        steps = [step for row in await connection.fetch(TABLES) for step in await _steps(connection, row)]
        steps += [
            f"perform setval('{row['name']}', {row['value']}, {row['called']});"
            for row in await connection.fetch(SEQUENCES)
        ]
        body = "\n".join(steps)
        return Origin(
            mark,
            f"create function pg_temp.restore() returns void language plpgsql as $restore$begin\n{body}\nend$restore$",
        )
    finally:
        await connection.close()


async def _steps(connection: Connection, table: asyncpg.Record) -> list[str]:
    name, columns = table["name"], table["columns"]
    rows = await connection.fetchval(f"select jsonb_agg(to_jsonb(t))::text from {name} t")
    empty = f"delete from {name};"
    if rows is None:
        return [empty]
    filled = (
        f"insert into {name} ({columns}) overriding system value"
        f" select {columns} from jsonb_populate_recordset(null::{name}, $rows${rows}$rows$::jsonb);"
    )
    return [empty, filled]
