"""Connections: a bounded pool for each reader and one pinned connection for each writer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy
from typing_extensions import override

from libs.database import arrays
from libs.errors import Rejected, Unavailable

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

CONNECT_SECONDS = 10.0
STATEMENT_SECONDS = 30.0
CANCEL_SECONDS = 0.5
"""For the server to take back a statement that was given up."""


class DatabaseDown(Unavailable):
    """Postgres does not answer."""

    code = "DATABASE_UNAVAILABLE"


class BadDatabase(Rejected):
    """Postgres answers and refuses us, or is not prepared for us."""

    code = "BAD_DATABASE"


@dataclass(frozen=True, slots=True)
class Dsns:
    """Where each role connects. In production these are three URLs; embedded, three users of one socket."""

    owner: str
    bus: str
    app: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many connections a pool may hold: that of a service, that of the bus, and that for what may be lost."""

    service: int = 4
    bus: int = 4
    hints: int = 3


SILENCE = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    # On uvloop a connection cut at the wrong moment says so: "cannot switch to state 11".
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.LockNotAvailableError,
    asyncpg.ReadOnlySQLTransactionError,
)
"""The server, not the statement, is at fault: classes 08, 53, 57, 58, a lock not had, a server that only stands by."""


REFUSALS = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.ClientConfigurationError,
)
"""The user, the password, the database or the URL itself is wrong."""

LACKING = """
    select 'the extension vector' where not exists (select from pg_extension where extname = 'vector')
    union all select 'the right to make schemas' where not has_database_privilege(current_database(), 'create')
    union all select 'the role ' || name from unnest(array['suma_owner', 'suma_bus', 'suma_app']) as name
    where not exists (select from pg_roles where rolname = name)
"""


async def connected(dsn: str, *, seconds: float = STATEMENT_SECONDS) -> asyncpg.Connection[asyncpg.Record]:
    """A connection of one's own; no statement on it takes longer than `seconds`.

    Raises:
        BadDatabase: Postgres refuses this user, password or database.
        DatabaseDown: it does not answer.
    """
    try:
        return await _connected(dsn, seconds)
    except REFUSALS as error:
        raise BadDatabase(str(error)) from None
    except (*SILENCE, asyncpg.PostgresError) as error:
        raise DatabaseDown(str(error) or "no answer in time") from error


async def _connected(dsn: str, seconds: float) -> asyncpg.Connection[asyncpg.Record]:
    connection = await asyncpg.connect(dsn, timeout=CONNECT_SECONDS, command_timeout=seconds)
    await arrays.tell(connection)
    return connection


async def reach(dsns: Dsns) -> None:
    """Ask Postgres whether it is there for each of our roles, and holds what only a superuser can make.

    Raises what `connected` raises."""
    for dsn in (dsns.app, dsns.bus):
        await (await connected(dsn)).close()
    connection = await connected(dsns.owner)
    try:
        async with answering():
            lacking = [row[0] for row in await connection.fetch(LACKING)]
    finally:
        await connection.close()
    if lacking:
        raise BadDatabase(f"the database lacks {', '.join(lacking)}: prepare it with deploy/postgres/provision.sh")


@asynccontextmanager
async def answering() -> AsyncIterator[None]:
    """Name what a silent Postgres is to us.

    Raises:
        DatabaseDown: the connection broke, could not be had, timed out, or the transaction must be tried again.
    """
    try:
        yield
    except (*SILENCE, asyncpg.TransactionRollbackError) as error:
        raise DatabaseDown() from error


def tenant_set(tenants: Iterable[str]) -> str:
    """What `suma.tenants` is set to: an array literal, in which no tenant's name can pass for two."""
    quoted = (tenant.replace("\\", "\\\\").replace('"', '\\"') for tenant in tenants)
    return "{" + ",".join(f'"{tenant}"' for tenant in quoted) + "}"


def _literal(text: str) -> str:
    """A text as SQL says it; standard_conforming_strings is on, so that only the quote is special."""
    return "'" + text.replace("'", "''") + "'"


async def _keep(_: object) -> None:
    """Nothing to reset: every setting that we make is local to its transaction, and asyncpg ends an open one itself.

    asyncpg's own reset query would cost one more transaction for each use of a connection.
    """


class _Pool(asyncpg.Pool):
    """A pool for a connection of which nobody waits longer than for a server."""

    @override
    def acquire(self, *, timeout: float | None = None) -> Any:
        return super().acquire(timeout=CONNECT_SECONDS if timeout is None else timeout)

    @override
    async def release(self, connection: Any, *, timeout: float | None = None) -> None:
        # Who does not answer a statement does not answer its cancel: the connection is replaced, not waited for. Else
        # whoever gave up at their own bound would still wait here, for as long as the server is silent.
        with suppress(TimeoutError):
            await super().release(connection, timeout=CANCEL_SECONDS)


class Database:
    """The pools of one process. Nobody holds a connection while calling another service."""

    def __init__(self, dsns: Dsns, sizes: Sizes = Sizes()) -> None:
        self.dsns, self._sizes = dsns, sizes
        self._pools: dict[str, Pool] = {}
        self._opening = asyncio.Lock()

    async def pool(self, name: str) -> Pool:
        """The bounded pool of this service, opened at its first use."""
        return self._pools.get(name) or await self._open(name, self.dsns.app, most=self._sizes.service, durable=True)

    async def bus(self) -> Pool:
        """The pool of the bus's own role: it reads the log and claims leases."""
        return self._pools.get("bus") or await self._open("bus", self.dsns.bus, most=self._sizes.bus, durable=True)

    async def hints(self) -> Pool:
        """The same role, but commits do not wait for the disk: for offsets, ownership and heartbeats.

        A lost one only costs a repeat. Claims are never made here: a lost claim would give its token out twice.
        """
        most = self._sizes.hints
        return self._pools.get("hints") or await self._open("hints", self.dsns.bus, most=most, durable=False)

    async def _open(self, name: str, dsn: str, *, most: int, durable: bool) -> Pool:
        async with self._opening:
            if name not in self._pools:
                self._pools[name] = await _Pool(
                    dsn,
                    min_size=0,
                    max_size=most,
                    max_queries=50_000,
                    max_inactive_connection_lifetime=300.0,
                    loop=None,
                    connection_class=asyncpg.Connection,
                    record_class=asyncpg.Record,
                    timeout=CONNECT_SECONDS,
                    command_timeout=STATEMENT_SECONDS,
                    init=arrays.tell,
                    reset=_keep,
                    server_settings={} if durable else {"synchronous_commit": "off"},
                )
            return self._pools[name]

    @asynccontextmanager
    async def read(self, service: str, *tenants: str) -> AsyncIterator[Connection]:
        """A read-only transaction of a service that sees these tenants' rows alone; without any, no rows.

        Raises:
            DatabaseDown: no connection could be had, or it broke.
        """
        pool = await self.pool(service)
        async with answering(), pool.acquire(timeout=CONNECT_SECONDS) as connection:
            # Both in one round trip; a query with arguments could only be one statement.
            await connection.execute(f"begin read only; set local suma.tenants = {_literal(tenant_set(tenants))}")
            try:
                yield connection
            except (asyncio.CancelledError, TimeoutError):
                # Given up: what is under way on it is not waited for either.
                connection.terminate()
                raise
            except BaseException:
                await connection.execute("rollback")
                raise
            await connection.execute("commit")

    async def alive(self) -> None:
        """Return when Postgres has answered. Raises DatabaseDown."""
        pool = await self.hints()
        async with answering():
            await pool.fetchval("select 1")

    async def pinned(self, dsn: str | None = None) -> asyncpg.Connection[asyncpg.Record]:
        """A connection of one's own, as suma_app unless said otherwise.

        Raises:
            DatabaseDown: it could not be had.
        """
        try:
            return await _connected(dsn or self.dsns.app, STATEMENT_SECONDS)
        except (OSError, asyncpg.PostgresError, TimeoutError) as error:
            raise DatabaseDown() from error

    async def close(self) -> None:
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.close()
