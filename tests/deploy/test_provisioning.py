"""deploy/postgres/provision.sh on a real server: unprivileged roles, passwords, pgvector, and safe repetition."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from deploy.local.up import provision
from libs.database import Dsns, reach
from libs.embedded.postgres import Postgres, ephemeral
from services import catalog
from tests.infrastructure import dsns

NAMES = ("owner", "bus", "app", *catalog.NAMES)
PASSWORDS = {f"SUMA_{name.upper()}_PASSWORD": name * 4 for name in NAMES}
BARE = "drop database suma; drop role suma_app; drop role suma_owner; drop role suma_bus; drop extension vector"


@pytest_asyncio.fixture(loop_scope="session")
async def bare() -> AsyncIterator[Postgres]:
    """Yield a server without any preparation."""
    async with ephemeral({"fsync": "off"}) as server:
        connection = await asyncpg.connect(server.dsn("postgres", "template1"))
        for statement in BARE.split("; "):
            await connection.execute(statement)
        await connection.close()
        yield server


async def asked(server: Postgres, question: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(server.dsn("postgres", "suma"))
    try:
        return list(await connection.fetch(question))
    finally:
        await connection.close()


async def ask_for_passwords(server: Postgres) -> None:
    """Return the rights of every role except the superuser."""
    (row,) = await asked(server, "show hba_file")
    Path(row[0]).write_text("local all postgres trust\nlocal all all scram-sha-256\n")
    await asked(server, "select pg_reload_conf()")


async def enter(server: Postgres, password: str) -> None:
    await (await asyncpg.connect(server.dsn("suma_app"), password=password)).close()


async def test_provisioning_can_be_repeated_and_a_start_succeeds(bare: Postgres) -> None:
    for _ in range(2):
        provision(bare, **PASSWORDS)
        await reach(dsns(bare, "suma"))
    powers = "rolsuper or rolcreaterole or rolcreatedb or rolbypassrls or rolreplication as powerful"
    rows = await asked(bare, f"select rolname, {powers} from pg_roles where rolname like 'suma%' order by 1")
    assert [tuple(row) for row in rows] == [(f"suma_{name}", False) for name in sorted((*NAMES, "directory"))]


async def test_each_role_needs_its_password_and_a_repetition_changes_it(bare: Postgres) -> None:
    provision(bare, **PASSWORDS)
    await ask_for_passwords(bare)
    await enter(bare, "app" * 4)
    provision(bare, **PASSWORDS | {"SUMA_APP_PASSWORD": "it's \\ another"})
    with pytest.raises(asyncpg.InvalidPasswordError):
        await enter(bare, "app" * 4)
    await enter(bare, "it's \\ another")


async def test_another_database_may_be_named_and_is_closed_to_others(bare: Postgres) -> None:
    provision(bare, SUMA_DATABASE="odd name", **PASSWORDS)
    provision(bare, **PASSWORDS)
    rights = "select coalesce(array_to_string(datacl, ' '), '') as acl from pg_database where datname = 'odd name'"
    (row,) = await asked(bare, rights)
    assert " =" not in f" {row['acl']}", "the public may not connect"
    await reach(Dsns(*(bare.dsn(role, "odd name") for role in ("suma_owner", "suma_bus", "suma_app"))))


async def test_shared_roles_sign_in_only_with_a_password(bare: Postgres) -> None:
    provision(bare, **PASSWORDS | {"SUMA_BUS_PASSWORD": "", "SUMA_APP_PASSWORD": ""})
    rows = await asked(bare, "select rolname from pg_roles where starts_with(rolname, 'suma_') and not rolcanlogin")
    assert {row[0] for row in rows} == {"suma_app", "suma_bus", "suma_directory"}
