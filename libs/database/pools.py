"""Connections: a bounded pool per reader and one pinned connection per writer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, cast

import asyncpg
from asyncpg.pool import PoolConnectionProxy
from typing_extensions import override

from libs.database import arrays
from libs.errors import Crowded, Rejected, Unavailable

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

CONNECT_SECONDS = 10.0
STATEMENT_SECONDS = 30.0
BUS = "bus"
"""The pool of the bus's role, which reads the log and claims leases."""
HINTS = "hints"
"""A pool of the bus's role whose commits do not wait for the disk: offsets, ownership, heartbeats.

A lost commit only costs a repeat. Claims are never made here: a lost claim would issue its token twice.
"""
CANCEL_SECONDS = 0.5
"""Seconds for the server to cancel an abandoned statement."""
CLOSE_SECONDS = 5.0
"""Seconds for connections to come back and to be closed; then they are cut."""
ALIVE_SECONDS = 2.0
"""Seconds for the server to show that it is alive, once no connection of a pool became free."""


class DatabaseDown(Unavailable):
    """Postgres does not answer."""

    code = "DATABASE_UNAVAILABLE"


class DatabaseCrowded(Crowded):
    """Postgres answers, but every connection of this process stayed in use; retry in a few seconds."""

    code = "DATABASE_CROWDED"
    retry_after = 3.0


class BadDatabase(Rejected):
    """Postgres answers but refuses the connection, or is not set up for Suma."""

    code = "BAD_DATABASE"


@dataclass(frozen=True, slots=True)
class Dsns:
    """The connection strings of the roles: three users of one socket when embedded. A service that runs alone has one
    role for `bus` and `app`, and no owner's URL (empty): it neither migrates nor declares.
    """

    owner: str
    bus: str
    app: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """The size of each pool: a service's, the bus's, and the one for writes that may be lost."""

    service: int = 4
    bus: int = 4
    hints: int = 3
    wait: float = CONNECT_SECONDS
    """Seconds that a query waits for a connection of its service."""


Query = Callable[..., Any]
"""A function that aiosql made of a query."""

SILENCE = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    # uvloop reports a connection cut at the wrong moment as "cannot switch to state 11".
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.LockNotAvailableError,
    asyncpg.ReadOnlySQLTransactionError,
)
"""The server is at fault, not the statement: classes 08, 53, 57, 58, a lock timeout, a standby server."""


REFUSALS = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.ClientConfigurationError,
)
"""The user, the password, the database or the URL itself is wrong."""

LACKING = """
    select 'the extension vector' where not exists (select from pg_extension where extname = 'vector')
    union all select 'the right to make schemas' where $1 and not has_database_privilege(current_database(), 'create')
    union all select 'the role ' || name from unnest(array['suma_owner', 'suma_bus', 'suma_app']) as name
    where not exists (select from pg_roles where rolname = name)
"""


async def connected(dsn: str, *, seconds: float = STATEMENT_SECONDS) -> asyncpg.Connection[asyncpg.Record]:
    """Open a dedicated connection on which no statement takes longer than `seconds`.

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


async def _once(dsn: str) -> None:
    """Open a connection and close it."""
    await hang_up(await connected(dsn))


async def hang_up(connection: Connection) -> None:
    """Close a connection; cut it if the server does not answer."""
    with suppress(TimeoutError):
        await connection.close(timeout=CLOSE_SECONDS)


async def reach(dsns: Dsns) -> str:
    """Check that Postgres accepts each of our roles and has the extensions that only a superuser can create. Return its
    version.

    Raises what `connected` raises.
    """
    for dsn in (dsns.app, dsns.bus):
        await _once(dsn)
    connection = await connected(dsns.owner or dsns.app)
    try:
        async with answering():
            lacking = [row[0] for row in await connection.fetch(LACKING, bool(dsns.owner))]
            version = str(await connection.fetchval("show server_version"))
    finally:
        await hang_up(connection)
    if lacking:
        raise BadDatabase(f"the database lacks {', '.join(lacking)}: prepare it with deploy/postgres/provision.sh")
    return version


@asynccontextmanager
async def answering() -> AsyncIterator[None]:
    """Translate connection errors.

    Raises:
        DatabaseDown: the connection broke, was refused, timed out, or the transaction must be retried.
    """
    try:
        yield
    except (*SILENCE, asyncpg.TransactionRollbackError) as error:
        raise DatabaseDown() from error


def tenant_set(tenants: Iterable[str]) -> str:
    """Return the value of `suma.tenants`: an array literal, quoted so that no tenant's name can pass for two."""
    quoted = (tenant.replace("\\", "\\\\").replace('"', '\\"') for tenant in tenants)
    return "{" + ",".join(f'"{tenant}"' for tenant in quoted) + "}"


SCOPED = """
select answer.* from (
    select set_config('transaction_read_only', 'on', true) || set_config('suma.tenants', ${tenants}, true) as scope
    offset 0
) as said cross join lateral (
    select * from (
{query}
    ) as asked where said.scope is not null offset 0
) as answer
"""
"""A query as one statement that is its own transaction. It needs `scope`, so Postgres sets the tenants before it reads
a row; `offset 0` keeps the two parts apart (docs/decisions/0064).
"""


@lru_cache(maxsize=1024)
def _scoped(query: str, arguments: int) -> str:
    return SCOPED.format(query=query.strip().removesuffix(";"), tenants=arguments + 1)


@dataclass(frozen=True, slots=True)
class Reader:
    """Queries that see only some tenants' rows. Each is a read-only transaction in one round trip.

    No setting outlives its statement, so a transaction pooler may give every query another connection.
    """

    _connection: Connection
    _tenants: str

    async def fetch(self, query: str, *arguments: Any) -> list[asyncpg.Record]:
        return await self._connection.fetch(_scoped(query, len(arguments)), *arguments, self._tenants)

    async def fetchrow(self, query: str, *arguments: Any) -> asyncpg.Record | None:
        return await self._connection.fetchrow(_scoped(query, len(arguments)), *arguments, self._tenants)

    async def fetchval(self, query: str, *arguments: Any) -> Any:
        return await self._connection.fetchval(_scoped(query, len(arguments)), *arguments, self._tenants)


async def _keep(_: object) -> None:
    """Reset nothing: each of our settings is local to its transaction, and asyncpg ends an open one itself.

    asyncpg's own reset query would add a transaction to each use of a connection.
    """


class _Pool(asyncpg.Pool):
    """A pool that replaces unresponsive connections instead of waiting for them."""

    returned = 0
    """Connections that came back after an answer of Postgres."""

    @override
    def acquire(self, *, timeout: float | None = None) -> Any:
        return super().acquire(timeout=CONNECT_SECONDS if timeout is None else timeout)

    @override
    async def release(self, connection: Any, *, timeout: float | None = None) -> None:
        # A server that ignores a statement also ignores its cancel, so replace the connection. Otherwise a caller that
        # reached its own time limit would still wait here.
        with suppress(TimeoutError):
            await super().release(connection, timeout=CANCEL_SECONDS)


class Database:
    """The pools of one process. No connection is held while another service is called."""

    def __init__(self, dsns: Dsns, sizes: Sizes = Sizes()) -> None:
        self.dsns, self._sizes = dsns, sizes
        self._pools: dict[str, _Pool] = {}
        self._opening = asyncio.Lock()

    async def pool(self, name: str) -> _Pool:
        """Return the bounded pool of a service, `BUS` or `HINTS`, opened at its first use."""
        return self._pools.get(name) or await self._open(name)

    async def bus(self) -> Pool:
        """Return the pool `BUS`."""
        return await self.pool(BUS)

    async def _open(self, name: str) -> _Pool:
        dsn = self.dsns.bus if name in (BUS, HINTS) else self.dsns.app
        most = {BUS: self._sizes.bus, HINTS: self._sizes.hints}.get(name, self._sizes.service)
        async with self._opening:
            # Another caller may have opened it while this one waited.
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
                    server_settings={"synchronous_commit": "off"} if name == HINTS else {},
                )
            return self._pools[name]

    @asynccontextmanager
    async def read(self, service: str, *tenants: str) -> AsyncIterator[Reader]:
        """Yield a reader that sees only these tenants' rows; without any, no rows.

        Raises what `connection` raises.
        """
        async with self.connection(service) as connection:
            try:
                yield Reader(connection, tenant_set(tenants))
            except (asyncio.CancelledError, TimeoutError):
                # The caller gave up; do not wait for the running statement either.
                connection.terminate()
                raise

    async def row(self, service: str, tenant: str, query: Query, /, **given: Any) -> Any:
        """Return the row or value that a query of aiosql selects of a tenant's rows; None if there is none.

        Raises what `connection` raises.
        """
        async with self.read(service, tenant) as reader:
            return await query(reader, tenant=tenant, **given)

    async def rows(self, service: str, tenant: str, query: Query, /, **given: Any) -> list[Any]:
        """Return the rows that a query of aiosql selects of a tenant's rows. Raises what `connection` raises."""
        async with self.read(service, tenant) as reader:
            return [row async for row in query(reader, tenant=tenant, **given)]

    @asynccontextmanager
    async def connection(self, name: str) -> AsyncIterator[Connection]:
        """Yield a connection of a service's pool, or of `BUS` or `HINTS`.

        Raises:
            DatabaseCrowded: Postgres answers, but all connections of the pool stayed in use.
            DatabaseDown: Postgres does not answer, or the connection broke.
        """
        pool = await self.pool(name)
        async with answering():
            connection = await self._acquired(pool)
            try:
                yield connection
                pool.returned += 1
            finally:
                await pool.release(connection)

    async def _acquired(self, pool: _Pool) -> Connection:
        returned = pool.returned
        try:
            return cast("Connection", await pool.acquire(timeout=self._sizes.wait))
        except TimeoutError:
            # Slow queries look like a silent server: ask the server, unless it has answered meanwhile.
            if pool.returned != returned or await self._answers():
                raise DatabaseCrowded from None
            raise

    async def _answers(self) -> bool:
        hints = await self.pool(HINTS)
        # A pool that is crowded itself would not answer in time.
        crowded = hints.get_size() == hints.get_max_size() and not hints.get_idle_size()
        try:
            async with asyncio.timeout(ALIVE_SECONDS):
                await (_once(self.dsns.bus) if crowded else self.alive())
        except (DatabaseDown, TimeoutError):
            return False
        return True

    async def alive(self) -> None:
        """Return when Postgres has answered. Raises DatabaseDown."""
        async with self.connection(HINTS) as connection:
            await connection.fetchval("select 1")

    async def pinned(self, dsn: str | None = None) -> asyncpg.Connection[asyncpg.Record]:
        """Open a dedicated connection, as suma_app by default.

        Raises:
            DatabaseDown: it could not be had.
        """
        try:
            return await _connected(dsn or self.dsns.app, STATEMENT_SECONDS)
        except (OSError, asyncpg.PostgresError, TimeoutError) as error:
            raise DatabaseDown() from error

    async def close(self, within: float = CLOSE_SECONDS) -> None:
        """Close all connections; cut those that are still in use after `within` seconds."""
        pools, self._pools = list(self._pools.values()), {}
        # asyncpg waits for ever for a connection that does not come back, and cuts all when it is cancelled.
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await asyncio.gather(*(pool.close() for pool in pools))
