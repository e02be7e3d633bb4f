"""The real parts that tests stand on, each started once for a run of tests: what cannot be had is skipped loudly.

There is one way to have each: natively, at a pinned version (docs/decisions/0031).
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import asyncpg

from deploy.local.cache import in_memory
from libs import ids
from libs.budgets import Amount, Limits
from libs.budgets.postgres import PostgresBudgets
from libs.bus.log import SCHEMA
from libs.bus.parked import ParkedEvents
from libs.bus.postgres import PostgresBus
from libs.changes.writer import Writer
from libs.clock import SystemClock
from libs.database import Connection, Database, Dsns, Sizes, migrate
from libs.embedded.postgres import Postgres
from libs.identity import proofs
from libs.leases.postgres import PostgresLeases
from libs.policy.ports import Decision
from libs.runtime.host import Pace
from libs.runtime.platform import Platform, nowhere
from libs.skills import Catalogue
from tests.infrastructure import databases
from tests.infrastructure.databases import ROLES, Databases

TEMPLATE = "suma_template"
QUICK = {
    # For tests that kill processes, not machines: what is committed survives them without reaching the disk.
    "fsync": "off",
    "full_page_writes": "off",
    # No database lives until it needs a vacuum.
    "autovacuum": "off",
    # By default each backend plans a statement five times before it keeps a plan, and most tests end before that.
    "plan_cache_mode": "force_generic_plan",
    "file_copy_method": "clone",
    "max_connections": "200",
}
SCAN_SECONDS = 0.1
PACE = Pace(own=0.1, flush=0.05, beat=0.2, sweep=0.05)
"""A platform's usual rhythm, faster: tests wait for things, not for seconds."""
WORLD = "create table effects (key text primary key, n int not null default 1)"


def dsns(server: Postgres, database: str) -> Dsns:
    return Dsns(*(server.dsn(role, database) for role in ROLES))


@asynccontextmanager
async def postgres() -> AsyncIterator[Postgres]:
    """A server of its own for this run, with a template whose bus is migrated: a fresh database is a copy of it."""
    with tempfile.TemporaryDirectory(prefix="suma-tests-", dir=in_memory()) as folder:
        path = Path(folder) / "data"
        path.mkdir(mode=0o700)
        async with Postgres(path, settings=QUICK) as server:
            await server.create_database(TEMPLATE)
            await migrate(server.dsn("suma_owner", TEMPLATE), SCHEMA)
            administrator = server.dsn("postgres", "postgres")
            async with asyncpg.create_pool(administrator, min_size=0, max_size=4) as pool:
                databases.servers[server] = Databases(server, pool)
                yield server
                databases.servers[server].close()


@asynccontextmanager
async def fresh_database(server: Postgres, template: str = TEMPLATE) -> AsyncIterator[Dsns]:
    """A database that nobody else uses. On the run's own server, the next test of its template takes it over."""
    if server in databases.servers:
        async with databases.servers[server].one(template) as lent:
            yield lent
        return
    name = "t" + ids.new().replace("-", "")
    await create_database(server, name, template)
    try:
        yield dsns(server, name)
    finally:
        async with _administrator(server) as connection:
            await connection.execute(f"drop database {name} with (force)")


async def create_database(server: Postgres, name: str, template: str) -> None:
    async with _administrator(server) as connection:
        await connection.execute(f"create database {name} template {template} strategy file_copy owner suma_owner")


@asynccontextmanager
async def _administrator(server: Postgres) -> AsyncIterator[Connection]:
    """The superuser of a server."""
    if server in databases.servers:
        async with databases.servers[server].administrator.acquire() as pooled:
            yield pooled
        return
    connection = await asyncpg.connect(server.dsn("postgres", "postgres"))
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def world(server: Postgres) -> AsyncIterator[str]:
    """Another database, where effects are made."""
    async with fresh_database(server, "template1") as where:
        connection = await asyncpg.connect(where.owner)
        await connection.execute(WORLD)
        await connection.close()
        yield where.owner


async def shift(database: Database, *, seconds: float) -> None:
    """Move the bus's clock on, so that what takes time has taken it."""
    pool = await database.bus()
    await pool.execute("update bus.clock set shift = shift + make_interval(secs => $1)", seconds)


FEW = Sizes(service=2, bus=2, hints=1)
"""Most of a test on a database of its own is connections that plan what a few could: as many as show what waits."""
PLENTY = Limits(ALL := Amount(10**12, 10**12), ALL, ALL)
"""For tests of other things: nobody comes to these limits."""
NOWHERE = cast("Platform", None)
"""For a declaration that nobody will run."""


class AllowAll:
    """A policy of one rule: yes. For tests of the bus, where the rules are not the point."""

    revision = "test"
    problem: str | None = None

    async def decide(self, action: str, facts: Mapping[str, Any]) -> Decision:
        return Decision(action, True, "test", "", (), self.revision)

    async def reload(self) -> bool:
        return False


@asynccontextmanager
async def platform(
    where: Dsns, member: str | None = None, *, sizes: Sizes = FEW, **ports: Any
) -> AsyncIterator[Platform]:
    """A process's platform on a real database; ports that a test does not hand in are absent."""
    name = member or ids.new()
    database = databases.database(where, sizes)
    clock = SystemClock()
    absent = cast("Any", None)
    given: dict[str, Any] = {
        "member": name,
        "clock": clock,
        "database": database,
        "bus": PostgresBus(database, name, scan=SCAN_SECONDS),
        "leases": PostgresLeases(database, name),
        "parked": ParkedEvents(database),
        "policy": AllowAll(),
        "keys": absent,
        "objects": absent,
        "deltas": absent,
        "model": absent,
        "budgets": PostgresBudgets(database, PLENTY),
        "catalogue": Catalogue(),
        "embedder": absent,
        "data_dir": Path(),
        "point": nowhere,
    }
    if "skills" in ports:
        given["catalogue"] = Catalogue.fixed(ports.pop("skills"))
    # Tests publish what the gateway would.
    signing = {"sign": partial(proofs.sign, ports["keys"])} if "keys" in ports else {}
    made = Platform(**{**given, "writer": Writer(database, clock, name, **signing), **ports})
    try:
        yield made
    finally:
        await database.close()
