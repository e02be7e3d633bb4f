"""Transactions see only their tenants' rows, and errors name a silent server."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from libs.database import Database, DatabaseDown, Dsns, tenant_set
from tests import infrastructure


@pytest.fixture
async def database(echo_where: Dsns) -> Database:
    eye = await asyncpg.connect(echo_where.owner.replace("suma_owner", "postgres"))
    for tenant in ("a", "b", "a,b"):
        await eye.execute("insert into echo.tallies (tenant_id, name, spent) values ($1, 'n', 1)", tenant)
    await eye.close()
    return Database(echo_where)


@pytest.mark.requirement("P8")
@pytest.mark.parametrize(
    ("tenants", "sees"),
    [(["a"], {"a"}), (["a", "b"], {"a", "b"}), ([], set()), (["a,b"], {"a,b"}), (['a","b'], set()), (["}"], set())],
    ids=["one", "two", "none", "a comma", "quotes", "a brace"],
)
async def test_transaction_sees_its_tenants_and_no_name_means_two(
    database: Database, tenants: list[str], sees: set[str]
) -> None:
    async with database.read("echo", *tenants) as connection:
        rows = await connection.fetch("select tenant_id from echo.tallies")
    assert {row["tenant_id"] for row in rows} == sees
    await database.close()


@pytest.mark.requirement("P8")
async def test_the_next_transaction_of_a_connection_has_forgotten_the_tenants(database: Database) -> None:
    async with database.read("echo", "a") as connection:
        await connection.fetch("select 1")
    pool = await database.pool("echo")
    assert await pool.fetchval("select count(*) from echo.tallies") == 0
    await database.close()


async def test_close_cuts_a_connection_that_does_not_come_back(database: Database) -> None:
    held = await (await database.bus()).acquire()
    await asyncio.wait_for(database.close(within=0.1), 30)
    with pytest.raises(asyncpg.InterfaceError, match="released"):
        await held.fetchval("select 1")


async def test_a_read_cannot_write(database: Database) -> None:
    with pytest.raises((asyncpg.ReadOnlySQLTransactionError, DatabaseDown)):
        async with database.read("echo", "a") as connection:
            await connection.fetchval("select nextval(pg_get_serial_sequence('echo.noted', 'n'))")
    await database.close()


ARRAYS = "select $1::int[] as ints, $2::bigint[] as longs, $3::float8[] as floats, $4::bytea[] as bytes"
ASKED = (
    "select count(*) from pg_prepared_statements where statement like '%typeinfo%' and statement not like '%prepared%'"
)


async def test_a_connection_knows_arrays_without_asking_the_server(database: Database) -> None:
    values = ([1, None], [1 << 40], [0.5], [b"\0x"])
    pool = await database.bus()
    async with pool.acquire() as pooled:
        own = await database.pinned()
        for connection in (pooled, own):
            assert tuple(await connection.fetchrow(ARRAYS, *values) or ()) == values
            assert await connection.fetchval(ASKED) == 0
        await own.close()
    await database.close()


async def test_a_connection_that_the_server_cuts_is_an_unavailable_database(echo_where: Dsns) -> None:
    async with infrastructure.platform(echo_where) as platform:
        with pytest.raises(DatabaseDown):
            async with platform.database.read("echo", "a") as connection:
                await connection.fetchval("select pg_terminate_backend(pg_backend_pid())")


async def test_a_server_that_is_not_there_is_an_unavailable_database() -> None:
    nowhere = "postgresql://suma_app@/x?host=/nowhere"
    database = Database(Dsns(nowhere, nowhere, nowhere))
    with pytest.raises(DatabaseDown):
        await database.pinned()
    with pytest.raises(DatabaseDown):
        async with database.read("echo"):
            pass


def test_a_tenant_set_quotes_every_name() -> None:
    assert tenant_set(["a", 'b"c', "d\\e"]) == '{"a","b\\"c","d\\\\e"}'
