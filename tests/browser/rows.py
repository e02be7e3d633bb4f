"""Rows that would take a platform hours to make, inserted as its own services would leave them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from libs.embedded.postgres import Postgres
from tests.browser.visitor import Live

SESSIONS = """
insert into gateway.session_envelopes (tenant_id, session_id, principal, title, hitl, created_at, last_at)
select $1, '00000000-0000-7000-8000-' || lpad(n::text, 12, '0'), $2, 'Session ' || n, 'bypass', now(), now()
from generate_series(1, $3::int) as n
"""
EVENTS = """
insert into gateway.session_events (tenant_id, session_id, seq, event_id, event_type, turn_id, occurred_at, data)
select $1, $2, n, 'event-' || n, 'suma.' || (e ->> 'type') || '.v1', $3, now(), e -> 'data'
from jsonb_array_elements($4::jsonb) with ordinality as each(e, n)
"""


APPROVALS = """
insert into gateway.approvals
    (tenant_id, approval_id, session_id, turn_id, kind, digest, data, opened_at, expires_at)
select s.tenant_id, s.session_id, s.session_id, s.session_id, $2::jsonb ->> 'kind', $2::jsonb ->> 'digest',
    $2::jsonb || jsonb_build_object('approval_id', s.session_id), s.created_at, now() + interval '1 day'
from gateway.session_envelopes s where s.tenant_id = $1 order by s.session_id limit $3
"""
KEYS = """
insert into gateway.api_keys (tenant_id, key_id, hash, principal, scopes, created_at, name, roles)
select $1, 'key-' || lpad(n::text, 4, '0'), 'none', $2, '{}', now(), 'Key ' || n, '{user}'
from generate_series(1, $3::int) as n
"""
PARKED = """
insert into bus.parked (grp, topic, key, event_id, tenant, type, headers, data, attempts, since, due_at, state, error)
select 'memory_service', 'memory.events', $1 || ':dead', i.id, $1, $2, $3::jsonb || jsonb_build_object('id', i.id),
    $4::jsonb || jsonb_build_object('memory_id', i.id), 1, now(), now(), 'dead', 'it did not work'
from (select 'dead-' || n from generate_series(1, $5::int) as n) as i(id)
"""
INBOX = """
insert into bus.inbox (grp, id, tenant, state, at)
select p.grp, p.event_id, p.tenant, 'dead', p.since from bus.parked p where p.tenant = $1 and p.key = $1 || ':dead'
"""
LETTERS = """
insert into gateway.dlq_messages
    (tenant_id, letter_id, grp, event_id, topic, event_type, event_key, event, code, error, attempts, died_at)
select p.tenant, 'letter-' || p.event_id, p.grp, p.event_id, p.topic, p.type, p.key,
    jsonb_build_object('json', jsonb_build_object('headers', p.headers, 'data', p.data)), $2, p.error, p.attempts,
    p.since
from bus.parked p where p.tenant = $1 and p.key = $1 || ':dead'
"""
GOLDEN = Path(__file__).parents[2] / "proto/golden"


@asynccontextmanager
async def database(live: Live) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """Connect to a platform's database as its administrator, who sees the rows of every tenant."""
    connection = await asyncpg.connect(Postgres(live.installation.data).dsn("postgres"))
    try:
        yield connection
    finally:
        await connection.close()


async def insert_sessions(live: Live, tenant: str, principal: str, number: int) -> None:
    """Give a principal so many sessions; "Session 1" is the oldest."""
    async with database(live) as connection:
        await connection.execute(SESSIONS, tenant, principal, number)


async def insert_events(
    live: Live, tenant: str, session: str, turn: str, events: Sequence[tuple[str, dict[str, Any]]]
) -> None:
    """Give a session without events these, each of one turn."""
    given = json.dumps([{"type": type, "data": data} for type, data in events])
    async with database(live) as connection:
        await connection.execute(EVENTS, tenant, session, turn, given)


async def insert_approvals(live: Live, tenant: str, number: int) -> None:
    """Let the oldest sessions of a tenant ask, so many of them."""
    asked = json.loads((GOLDEN / "suma.approval.requested.v1.2.json").read_text())["data"]
    async with database(live) as connection:
        await connection.execute(APPROVALS, tenant, json.dumps(asked), number)


async def insert_keys(live: Live, tenant: str, principal: str, number: int) -> None:
    """Give a principal so many keys, which nobody holds."""
    async with database(live) as connection:
        await connection.execute(KEYS, tenant, principal, number)


async def insert_dead_letters(live: Live, tenant: str, code: str, number: int) -> None:
    """Let so many events for the memory service be dead; each is well formed, so a replay succeeds."""
    event = json.loads((GOLDEN / "suma.remember.requested.v1.json").read_text())
    data = event.pop("data")
    headers = {**event, "tenantid": tenant, "partitionkey": f"{tenant}:dead"}
    async with database(live) as connection:
        await connection.execute(PARKED, tenant, event["type"], json.dumps(headers), json.dumps(data), number)
        await connection.execute(INBOX, tenant)
        await connection.execute(LETTERS, tenant, code)
