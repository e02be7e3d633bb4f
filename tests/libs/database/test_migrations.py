"""Migrations: forward only, all or nothing, and safe when several processes start at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest

from libs.database import Dsns, Schema, migrate
from libs.database.migrations import DatabaseTooOld, MigrationChanged


@pytest.fixture
def schema(tmp_path: Path) -> Schema:
    (tmp_path / "0001_first.sql").write_text("create table house.rooms (tenant_id text primary key);")
    return Schema("house", tmp_path)


async def test_processes_that_start_at_once_apply_each_file_once(where: Dsns, schema: Schema) -> None:
    applied = await asyncio.gather(*(migrate(where.owner, schema) for _ in range(4)))
    assert sorted(applied) == [[], [], [], ["0001_first.sql"]]


async def test_a_later_file_is_applied_at_the_next_start(where: Dsns, schema: Schema) -> None:
    await migrate(where.owner, schema)
    (schema.migrations / "0002_second.sql").write_text("alter table house.rooms add column name text;")
    assert await migrate(where.owner, schema) == ["0002_second.sql"]


async def test_an_edited_file_is_refused(where: Dsns, schema: Schema) -> None:
    await migrate(where.owner, schema)
    (schema.migrations / "0001_first.sql").write_text("create table house.rooms (tenant_id int primary key);")
    with pytest.raises(MigrationChanged):
        await migrate(where.owner, schema)


async def test_a_file_that_fails_leaves_nothing_behind(where: Dsns, schema: Schema) -> None:
    (schema.migrations / "0002_second.sql").write_text("create table house.halls (tenant_id text); select 1 / 0;")
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate(where.owner, schema)
    (schema.migrations / "0002_second.sql").unlink()
    assert await migrate(where.owner, schema) == ["0001_first.sql"]


async def test_squashed_file_is_taken_as_applied(where: Dsns, schema: Schema) -> None:
    await migrate(where.owner, schema)
    squashed = Schema("house", schema.migrations, squashed={"0001_all.sql": "0001_first.sql"})
    (schema.migrations / "0001_first.sql").rename(schema.migrations / "0001_all.sql")
    assert await migrate(where.owner, squashed) == []
    (schema.migrations / "0002_second.sql").write_text("alter table house.rooms add column name text;")
    assert await migrate(where.owner, squashed) == ["0002_second.sql"]


async def test_database_older_than_a_squash_is_refused_with_advice(where: Dsns, schema: Schema) -> None:
    await migrate(where.owner, schema)
    (schema.migrations / "0001_first.sql").rename(schema.migrations / "0001_all.sql")
    with pytest.raises(DatabaseTooOld, match="start the release before it once"):
        await migrate(where.owner, Schema("house", schema.migrations, squashed={"0001_all.sql": "0002_second.sql"}))


@pytest.mark.requirement("P8")
async def test_a_new_table_is_shut_to_other_tenants(where: Dsns, schema: Schema) -> None:
    await migrate(where.owner, schema)
    app = await asyncpg.connect(where.app)
    async with app.transaction():
        await app.execute("select set_config('suma.tenants', '{a}', true)")
        await app.execute("insert into house.rooms values ('a')")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with app.transaction():
                await app.execute("insert into house.rooms values ('b')")
    assert await app.fetchval("select count(*) from house.rooms") == 0
    await app.close()
