"""Every table of every service hides each tenant's rows from all others: by policy, and tested with a row."""

from __future__ import annotations

import re
from typing import TypeAlias

import asyncpg
import pytest

from tests.architecture.schemas import NAMES

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

RULE = (
    "(tenant_id = ANY (( SELECT (NULLIF(current_setting('suma.tenants'::text, true), ''::text))::text[] AS \"nullif\")"
    "::text[]))"
)
TENANTLESS = {
    "executor.tool_approvals": "approvals of tools of servers in the settings, which are those of all tenants",
    "executor.multimodal_capabilities": "capabilities of the settings, which are those of all tenants",
}
"""Tables of services without tenant rows, and the reason."""
GLOBAL_KEYS = {
    "gateway.api_keys api_keys_key_id_key": "an API key names its tenant, so its id must be nobody else's",
    "executor.tool_approvals tool_approvals_pkey": "the table has no tenants",
    "executor.multimodal_capabilities multimodal_capabilities_pkey": "the table has no tenants",
}
"""Keys across all tenants, and the reason."""
OWNERS_LOOKUPS = {
    "gateway.api_keys.lookup",
    "gateway.principals.lookup",
    "gateway.signin_codes.lookup",
    "gateway.tenants.lookup",
    "gateway.web_sessions.lookup",
    "audit.heads.looking",
    "budgets.accounts.looking",
    "budgets.reservations.looking",
}
"""Policies that let an owner's function read across tenants: only reads, only as the owner."""


@pytest.mark.requirement("P8")
async def test_cross_tenant_functions_are_listed_and_only_read_as_owner(eye: Connection) -> None:
    rows = await eye.fetch(
        "select polrelid::regclass::text || '.' || polname as name, polcmd::text as cmd,"
        " polroles::regrole[]::text[] as roles"
        " from pg_policy where polname <> 'tenant'"
    )
    assert {row["name"] for row in rows} == OWNERS_LOOKUPS
    assert all((row["cmd"], row["roles"]) == ("r", ["suma_owner"]) for row in rows)


async def tables(eye: Connection) -> list[str]:
    rows = await eye.fetch(
        "select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition and c.relname <>"
        " 'migrations' order by 1",
        NAMES,
    )
    return [row["name"] for row in rows if row["name"] not in TENANTLESS]


@pytest.mark.requirement("P8")
async def test_every_table_forces_the_same_row_level_policy(eye: Connection) -> None:
    for table in await tables(eye):
        shut = await eye.fetchrow(
            "select relrowsecurity and relforcerowsecurity as forced from pg_class where oid = $1::regclass", table
        )
        rules = await eye.fetch(
            "select pg_get_expr(polqual, polrelid) as using, pg_get_expr(polwithcheck, polrelid) as check,"
            " polcmd::text, polpermissive"
            " from pg_policy where polrelid = $1::regclass and polname <> all ($2)",
            table,
            [policy.rpartition(".")[2] for policy in OWNERS_LOOKUPS if policy.startswith(f"{table}.")],
        )
        assert shut is not None
        assert shut["forced"], table
        assert [tuple(rule) for rule in rules] == [(RULE, RULE, "*", True)], table


@pytest.mark.requirement("P8")
async def test_every_key_of_every_table_begins_with_the_tenant(eye: Connection) -> None:
    loose = await eye.fetch(
        "select k.conrelid::regclass::text || ' ' || k.conname as key from pg_constraint k join pg_namespace"
        " n on n.oid = k.connamespace"
        " join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]"
        " where n.nspname = any ($1) and k.contype in ('p', 'u', 'f') and a.attname <> 'tenant_id'"
        " and k.conrelid::regclass::text not like '%.migrations'",
        NAMES,
    )
    assert {row["key"] for row in loose} == set(GLOBAL_KEYS)


@pytest.mark.requirement("P8")
async def test_no_table_shows_rows_to_other_or_missing_tenants(eye: Connection, app: Connection) -> None:
    for table in await tables(eye):
        await _put_a_row(eye, table, tenant="a")
        assert await _count(app, table, "{a}") == 1, table
        assert await _count(app, table, "{b}") == 0, table
        assert await _count(app, table, "") == 0, table
        assert await _count(app, table, "{}") == 0, table


@pytest.mark.requirement("P8")
async def test_no_table_lets_another_tenant_change_or_forge_a_row(eye: Connection, app: Connection) -> None:
    for table in await tables(eye):
        await _put_a_row(eye, table, tenant="a")
        async with app.transaction():
            await app.execute("select set_config('suma.tenants', '{b}', true)")
            if await eye.fetchval("select has_table_privilege('suma_app', $1, 'delete')", table):
                assert await app.execute(f"delete from {table}") == "DELETE 0", table
        assert await eye.fetchval(f"select count(*) from {table} where tenant_id = 'a'") > 0, table
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await _forge(app, eye, table)


async def _count(app: Connection, table: str, tenants: str) -> int:
    async with app.transaction():
        await app.execute("select set_config('suma.tenants', $1, true)", tenants)
        return int(await app.fetchval(f"select count(*) from {table}"))


async def _put_a_row(eye: Connection, table: str, *, tenant: str) -> None:
    """Insert one row with any valid values: only its tenant matters here."""
    async with eye.transaction():
        await eye.execute("set local session_replication_role = replica")
        for row in await eye.fetch(
            "select conname from pg_constraint where conrelid = $1::regclass and contype = 'c'", table
        ):
            await eye.execute(f'alter table {table} drop constraint "{row["conname"]}"')
        await eye.execute(f"delete from {table}")
        await eye.execute(await _insert(eye, table), tenant)


async def _forge(app: Connection, eye: Connection, table: str) -> None:
    async with app.transaction():
        await app.execute("select set_config('suma.tenants', '{b}', true)")
        await app.execute(await _insert(eye, table), "c")


async def _insert(eye: Connection, table: str) -> str:
    columns = await eye.fetch(
        "select attname, format_type(atttypid, atttypmod) as type from pg_attribute"
        " where attrelid = $1::regclass and attnum > 0 and not attisdropped and attnotnull and not atthasdef"
        " and attidentity = ''",
        table,
    )
    values = {row["attname"]: "$1" if row["attname"] == "tenant_id" else _sample(row["type"]) for row in columns}
    names = ", ".join(f'"{name}"' for name in values)
    return f"insert into {table} ({names}) values ({', '.join(values.values())})"


def _sample(type: str) -> str:
    """Return some value of a type, as SQL."""
    samples = {
        "boolean": "true",
        "jsonb": "'{}'",
        "json": "'{}'",
        "bytea": "'x'",
        "date": "now()",
        "timestamp with time zone": "now()",
        "interval": "'0'",
        "uuid": "gen_random_uuid()",
        "text": "'x'",
        "tsvector": "''",
    }
    if type.endswith("[]"):
        return "'{}'"
    if found := re.fullmatch(r"(vector|halfvec)\((\d+)\)", type):
        return f"array_fill(1, array[{found[2]}])::{found[1]}"
    if type.startswith("bit("):
        return f"0::{type}"
    return samples.get(
        type, "1" if type.startswith(("integer", "bigint", "small", "double", "real", "numeric")) else "'x'"
    )
