"""Connections: a bounded pool for each reader and one pinned connection for each writer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from libs.errors import Unavailable

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

CONNECT_SECONDS = 10.0
STATEMENT_SECONDS = 30.0


class DatabaseDown(Unavailable):
    """Postgres does not answer."""

    code = "DATABASE_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Dsns:
    """Where each role connects. In production these are three URLs; embedded, three users of one socket."""

    owner: str
    bus: str
    app: str


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


class Database:
    """The pools of one process. Nobody holds a connection while calling another service."""

    def __init__(self, dsns: Dsns) -> None:
        self.dsns = dsns
        self._pools: dict[str, Pool] = {}
        self._opening = asyncio.Lock()

    async def pool(self, name: str) -> Pool:
        """The bounded pool of this service, opened at its first use."""
        return self._pools.get(name) or await self._open(name, self.dsns.app, most=4, durable=True)

    async def bus(self) -> Pool:
        """The pool of the bus's own role: it reads the log and claims leases."""
        return self._pools.get("bus") or await self._open("bus", self.dsns.bus, most=4, durable=True)

    async def hints(self) -> Pool:
        """The same role, but commits do not wait for the disk: for offsets, ownership and heartbeats.

        A lost one only costs a repeat. Claims are never made here: a lost claim would give its token out twice.
        """
        return self._pools.get("hints") or await self._open("hints", self.dsns.bus, most=3, durable=False)

    async def _open(self, name: str, dsn: str, *, most: int, durable: bool) -> Pool:
        async with self._opening:
            if name not in self._pools:
                self._pools[name] = await asyncpg.create_pool(
                    dsn,
                    min_size=0,
                    max_size=most,
                    timeout=CONNECT_SECONDS,
                    command_timeout=STATEMENT_SECONDS,
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
            except BaseException:
                await connection.execute("rollback")
                raise
            await connection.execute("commit")

    async def pinned(self, dsn: str | None = None) -> asyncpg.Connection[asyncpg.Record]:
        """A connection of one's own, as suma_app unless said otherwise.

        Raises:
            DatabaseDown: it could not be had.
        """
        try:
            return await asyncpg.connect(
                dsn or self.dsns.app, timeout=CONNECT_SECONDS, command_timeout=STATEMENT_SECONDS
            )
        except (OSError, asyncpg.PostgresError, TimeoutError) as error:
            raise DatabaseDown() from error

    async def close(self) -> None:
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.close()
