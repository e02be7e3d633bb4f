"""Rights in Postgres: services have no grant in the bus, and cross-tenant functions are listed."""

from __future__ import annotations

from typing import TypeAlias

import asyncpg
import pytest

from tests.architecture.schemas import NAMES

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

MAY_EXECUTE = {"now", "tenants", "refuse_other_tenants", "guard", "settle", "decide", "commit", "recorded"}
MAY_EXECUTE |= {"tables_with", "erase", "held"}
"""The bus's functions that a service may call (bus.md 11)."""

OF_A_ROLE = """advance attempt backlog beat cancelled_or_lost cursors due forget_begun lag leased leave own
    parked_backlog parked_counts pending postpone project_next read release release_all retries subjects topic_sizes
    trim_inbox trim_log waiting""".split()  # noqa: SIM905 - one list
CROSS_TENANTS = {
    **{
        f"bus.{name}": "a service's own role has no grant on a table; suma_app may not execute it" for name in OF_A_ROLE
    },
    "bus.now": "the clock has no tenant",
    "bus.guard": "suma_app has no grant on the inbox; refuses tenants outside the set",
    "bus.decide": "suma_app has no grant on what is parked and dead; refuses tenants outside the set",
    "bus.settle": "suma_app has no grant on the log; refuses tenants outside the set",
    "bus.recorded": "suma_app has no grant on the log; it returns events of the transaction's tenants alone",
    "bus.declare_projection": "the owner of a schema declares its projections, and has no grant on the bus",
    "gateway.credential": "a credential is looked up before anyone knows its tenant",
    "gateway.project_outbound": "the process that publishes has no grant on the gateway's tables",
    "gateway.project_dead_letters": "the process that publishes has no grant on the gateway's tables",
    "audit.project": "the process that publishes has no grant on the chain, nor has any other",
    "echo.project": "the same, in tests",
    "audit.apply": "suma_app only reads the record; row-level security binds the owner too",
    "audit.unsealed": "checkpoints sign every tenant's head",
    "budgets.lost": "what is too old to be settled is written off for every tenant",
    "budgets.idle": "tenants are named whose old accounts are to be forgotten",
}
"""Every function that runs with its owner's rights, and the reason."""


@pytest.mark.requirement("P8")
async def test_services_have_no_grant_on_any_table_of_the_bus(eye: Connection) -> None:
    granted = await eye.fetch(
        "select c.relname from pg_class c where c.relnamespace = 'bus'::regnamespace and c.relkind in ('r',"
        " 'p', 'S', 'v')"
        " and (case when c.relkind = 'S' then has_sequence_privilege('suma_app', c.oid, 'usage, select, update')"
        " else has_table_privilege('suma_app', c.oid, 'select, insert, update, delete, truncate, references,"
        " trigger') end)"
    )
    assert [row["relname"] for row in granted] == []


@pytest.mark.requirement("P8")
async def test_services_may_execute_only_the_listed_functions_of_the_bus(eye: Connection) -> None:
    granted = await eye.fetch(
        "select proname from pg_proc where pronamespace = 'bus'::regnamespace and"
        " has_function_privilege('suma_app', oid, 'execute')"
    )
    assert {row["proname"] for row in granted} == MAY_EXECUTE


@pytest.mark.requirement("P8")
async def test_every_security_definer_function_is_listed(eye: Connection) -> None:
    found = await eye.fetch(
        "select n.nspname || '.' || p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
        " where p.prosecdef and n.nspname = any ($1)",
        ["bus", *NAMES],
    )
    assert {row["name"] for row in found} == set(CROSS_TENANTS)


@pytest.mark.requirement("P8")
async def test_a_function_with_its_owners_rights_fixes_its_search_path(eye: Connection) -> None:
    loose = await eye.fetch(
        "select p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
        " where p.prosecdef and n.nspname = any ($1)"
        " and not coalesce(array_to_string(p.proconfig, ' ') like '%search_path=pg_catalog, pg_temp%', false)",
        ["bus", *NAMES],
    )
    assert [row["name"] for row in loose] == []


@pytest.mark.requirement("P8")
async def test_no_suma_role_bypasses_row_level_security(eye: Connection) -> None:
    strong = await eye.fetch(
        "select rolname from pg_roles where rolname like 'suma%'"
        " and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or pg_has_role('suma_app', oid,"
        " 'member') and rolname <> 'suma_app')"
    )
    assert [row["rolname"] for row in strong] == []


@pytest.mark.requirement("P8")
@pytest.mark.parametrize("function", ["guard", "decide", "settle", "commit"])
async def test_batch_with_a_tenant_outside_the_set_is_refused(app: Connection, function: str) -> None:
    item = '{"n":0,"grp":"g","id":"x","tenant":"b","key":"k","state":"done","urgent":false}'
    calls = {
        "guard": f"select bus.guard('[{item}]')",
        "decide": """select bus.decide('[{"n": 0, "verb": "replay", "tenant": "b"}]', '{0}')""",
        "settle": """select bus.settle('{"starts": [{"n": 0, "id": "x", "tenant": "b"}]}', '{0}')""",
        "commit": f"""select bus.commit('{{"tenants": "{{a}}", "items": [{item}]}}')""",
    }
    async with app.transaction():
        await app.execute("select set_config('suma.tenants', '{a}', true)")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with app.transaction():
                await app.execute(calls[function])


@pytest.mark.requirement("P6", "P8")
@pytest.mark.parametrize(
    "statement",
    [
        "insert into audit.audit_events select * from audit.audit_events",
        "update audit.audit_events set verdict = 'allow'",
        "delete from audit.audit_events",
        "truncate audit.audit_events",
        "insert into audit.checkpoints select * from audit.checkpoints",
        "update audit.checkpoints set head = ''",
        "delete from audit.checkpoints",
        "insert into audit.heads select * from audit.heads",
        "update audit.heads set count = 0",
        "delete from audit.heads",
        "insert into gateway.api_keys select * from gateway.api_keys",
        "update gateway.api_keys set revoked_at = null",
        "delete from gateway.api_keys",
        "truncate gateway.api_keys",
        "create function audit.mine() returns int language sql as 'select 1'",
        "alter table audit.audit_events disable row level security",
        "set role suma_owner",
    ],
)
async def test_services_can_rewrite_neither_audit_nor_keys(app: Connection, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await _as_tenant_a(app, statement)


@pytest.mark.requirement("P6", "P8")
@pytest.mark.parametrize("function", ["audit.project", "gateway.project_outbound", "gateway.project_dead_letters"])
async def test_services_cannot_project_events_outside_the_log(app: Connection, function: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await _as_tenant_a(app, f"select {function}('{{}}')")


async def _as_tenant_a(app: Connection, statement: str, *args: str) -> None:
    async with app.transaction():
        await app.execute("select set_config('suma.tenants', '{a}', true)")
        await app.execute(statement, *args)
