"""`audit.project`: the records and links that libs.audit would make of the same events."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import asyncpg
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs import ids
from libs.audit.chain import genesis, leaf, link, record_of
from libs.clock import SystemClock
from libs.database import Dsns
from libs.events import ActionRecorded, ActionsRecorded
from libs.events.envelope import Envelope
from tests.support.examples import examples

TENANTS = ("acme", "globex", "Ünïcode ☃")
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
ODD = st.sampled_from(["", '"\\', "\x01\x1f\x7f\u2028", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff", "é"])
NAMES = st.builds(str.__add__, ODD, st.builds(str.__add__, ODD, TEXT))
FIELDS = st.fixed_dictionaries(
    {"action": TEXT, "phase": TEXT, "verdict": TEXT, "principal": TEXT},
    optional={
        "resource": TEXT,
        "rule": TEXT,
        "revision": TEXT,
        "turn_id": st.none() | TEXT,
        "step_id": st.none() | TEXT,
        "call_id": st.none() | TEXT,
        "digests": st.dictionaries(NAMES, TEXT, max_size=5),
    },
)
ABOUT = st.dictionaries(st.sampled_from(["session", "turn", "correlation", "causation"]), TEXT)
PROJECT = """
select audit.project(array_agg(row (
    'audit.events', 0, e.n, e.id, e.tenant, e.tenant || ':s', e.type, e.headers, e.data, now()
)::bus.log order by e.n))
from jsonb_to_recordset($1) as e(n bigint, id text, tenant text, type text, headers jsonb, data jsonb)
"""


def travelling(tenant: str, records: Sequence[dict[str, Any]], about: dict[str, str]) -> Envelope[Any]:
    """Return the actions as one event, as a changeset publishes them."""
    actions = [ActionRecorded.model_validate(fields) for fields in records]
    data = actions[0] if len(actions) == 1 else ActionsRecorded(records=tuple(actions))
    now = SystemClock().now()
    return Envelope(id=ids.new(), source="suma/tester", time=now, tenant=tenant, key=f"{tenant}:s", data=data, **about)


def records_of(event: Envelope[Any]) -> Iterator[dict[str, Any]]:
    """Yield the records to chain, without nulls: the reference."""
    together = isinstance(event.data, ActionsRecorded)
    for n, action in enumerate(event.data.records if together else [event.data]):
        alone = replace(event, id=f"{event.id}.{n}" if together else event.id, data=action)
        turn = (action.turn_id if together else None) or event.turn
        yield {**record_of(alone), "type": action.type, **({} if turn is None else {"turn": turn})}


@dataclass
class Chain:
    """A connection as the bus's role, which alone may project; and the chains as the owner sees them."""

    connection: asyncpg.Connection[asyncpg.Record]

    async def project(self, *events: Envelope[Any], **unknown: str) -> None:
        rows = [
            {
                "n": n,
                "id": event.id,
                "tenant": event.tenant,
                "type": event.type,
                "headers": event.headers(),
                "data": orjson.loads(event.data.json_bytes()) | unknown,
            }
            for n, event in enumerate(events)
        ]
        tenants = "{" + ",".join(f'"{tenant}"' for tenant in TENANTS) + "}"
        await self.connection.execute("select set_config('suma.tenants', $1, true)", tenants)
        await self.connection.execute("set local role suma_bus")
        await self.connection.execute(PROJECT, orjson.dumps(rows).decode())
        await self.connection.execute("reset role")

    async def rows(self, tenant: str) -> list[asyncpg.Record]:
        query = "select *, record::text as text from audit.audit_events where tenant_id = $1 order by position"
        return list(await self.connection.fetch(query, tenant))


@pytest.mark.requirement("A36", "P6")
@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(TENANTS), st.lists(FIELDS, min_size=1, max_size=4), ABOUT), min_size=1),
        min_size=1,
        max_size=3,
    )
)
async def test_chain_of_any_batches_is_the_python_chain(
    where: Dsns, batches: list[list[tuple[str, list[dict[str, Any]], dict[str, str]]]]
) -> None:
    connection = await asyncpg.connect(where.owner)
    transaction = connection.transaction()
    try:
        await transaction.start()
        chain = Chain(connection)
        expected: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for batch in batches:
            events = [travelling(*told) for told in batch]
            await chain.project(*events)
            for event in events:
                expected[event.tenant].extend(records_of(event))
        for tenant, records in expected.items():
            rows, head = await chain.rows(tenant), genesis(tenant)
            assert [json.loads(row["text"]) for row in rows] == records
            for row, record in zip(rows, records, strict=True):
                head = link(head, leaf(record))
                assert (row["leaf"], row["link"]) == (leaf(record), head)
            assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    finally:
        await transaction.rollback()
        await connection.close()


@pytest.mark.requirement("A36")
async def test_member_of_a_newer_release_is_chained_without_it(where: Dsns) -> None:
    event = travelling("acme", [{"action": "a", "phase": "p", "verdict": "v", "principal": "x"}], {})
    connection = await asyncpg.connect(where.owner)
    try:
        async with connection.transaction():
            chain = Chain(connection)
            await chain.project(event, weather="fine")
            (row,) = await chain.rows("acme")
            assert [json.loads(row["text"])] == list(records_of(event))
    finally:
        await connection.close()


@pytest.mark.requirement("A36")
async def test_two_writers_at_once_make_one_chain(where: Dsns) -> None:
    """Writers with tenants in opposite orders wait at the heads; none deadlocks or skips a position."""
    fields = {"action": "a", "phase": "p", "verdict": "v", "principal": "x"}

    async def write(order: tuple[str, ...]) -> None:
        connection = await asyncpg.connect(where.owner)
        try:
            for _ in range(10):
                async with connection.transaction():
                    await Chain(connection).project(*(travelling(tenant, [fields], {}) for tenant in order))
        finally:
            await connection.close()

    await asyncio.gather(*(write(TENANTS if n % 2 else TENANTS[::-1]) for n in range(4)))
    connection = await asyncpg.connect(where.owner)
    try:
        for tenant in TENANTS:
            async with connection.transaction():
                await connection.execute("select set_config('suma.tenants', $1, true)", f'{{"{tenant}"}}')
                rows, head = await Chain(connection).rows(tenant), genesis(tenant)
            assert [row["position"] for row in rows] == list(range(1, 41))
            for row in rows:
                head = link(head, row["leaf"])
                assert head == row["link"]
    finally:
        await connection.close()


@pytest.mark.requirement("S3-34", "P8")
async def test_nothing_is_chained_for_a_tenant_outside_the_set(where: Dsns) -> None:
    event = travelling("acme", [{"action": "a", "phase": "p", "verdict": "v", "principal": "x"}], {})
    connection = await asyncpg.connect(where.owner)
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with connection.transaction():
                await Chain(connection).project(replace(event, tenant="beyond"))
    finally:
        await connection.close()
