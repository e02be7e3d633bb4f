"""Every table is erased with a person, or is listed here with the reason why not (docs/decisions/0124)."""

from __future__ import annotations

from typing import TypeAlias

import asyncpg
import pytest

from tests.architecture.schemas import NAMES

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

COLUMNS = {"gateway": "session_id", "conversation": "session_id", "executor": "session_id", "memory": "user_id"}
"""The column by which `bus.erase` finds a person's rows in every table of a schema."""
WITH_ANOTHER = {
    "gateway.idempotency": "`person.erase`, by principal",
    "gateway.uploads": "`upload.drop`, by principal",
    "gateway.upload_parts": "`upload.drop`, with their upload",
    "gateway.upload_blobs": "collected once nothing refers to them",
    "executor.asset_contents": "collected once no asset names them",
}
"""Tables that are erased by another way."""
KEPT = {
    **{
        f"audit.{name}": "ids, verdicts and salted digests; without them the chain breaks"
        for name in (
            "audit_events",
            "heads",
            "checkpoints",
        )
    },
    **{
        f"gateway.{name}": "the account, which an administrator disables"
        for name in (
            "tenants",
            "principals",
            "api_keys",
            "web_sessions",
            "signin_codes",
            "request_nonces",
        )
    },
    **{f"budgets.{name}": "sums, without content" for name in ("accounts", "reservations")},
    "executor.cancelled_turns": "random ids",
    "memory.outcomes": "sums, without content",
    "executor.skill_approvals": "a decision about a folder, for all who work in it",
    "executor.tool_approvals": "a decision about the deployment",
    "executor.multimodal_capabilities": "the deployment's own, and the same for all",
}
"""Tables that are kept, and the reason."""


async def found(eye: Connection, schema: str, column: str) -> set[str]:
    rows = await eye.fetch("select tab::text as name from bus.tables_with($1, $2)", schema, column)
    return {row["name"] for row in rows}


@pytest.mark.requirement("S2-28", "P8")
async def test_every_table_is_erased_with_its_person_or_listed(eye: Connection) -> None:
    tables = await eye.fetch(
        "select c.oid::regclass::text as name from pg_class c where c.relnamespace = any ($1::text[]::regnamespace[])"
        " and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'migrations'",
        NAMES,
    )
    cascading = await eye.fetch(
        "select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint"
        " where contype = 'f' and confdeltype = 'c'"
    )
    erased = set().union(*[await found(eye, schema, column) for schema, column in COLUMNS.items()])
    erased |= {row["child"] for row in cascading if row["parent"] in erased} | set(WITH_ANOTHER)
    every = {row["name"] for row in tables if not row["name"].startswith("echo.")}
    assert every - erased - set(KEPT) == set(), "give it the column of its person, or list it with a reason"
    assert set(KEPT) - every == set()
    assert erased & set(KEPT) == set()


@pytest.mark.requirement("S2-28")
async def test_tables_that_others_refer_to_are_erased_last(eye: Connection) -> None:
    rows = await eye.fetch("select tab::text as name from bus.tables_with('gateway', 'session_id')")
    assert [row["name"] for row in rows][-1] == "gateway.session_envelopes"
