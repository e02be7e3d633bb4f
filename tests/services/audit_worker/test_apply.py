"""`audit.apply`: SQL and libs.audit compute the same chain for any batch."""

import asyncio
import json
from collections import defaultdict
from dataclasses import replace
from typing import Any

import asyncpg
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs import ids
from libs.audit.chain import genesis, leaf, link
from libs.bus.ports import Record
from libs.changes import Cause
from libs.clock import SystemClock
from libs.database import Dsns
from libs.events import ActionRecorded, ActionsRecorded
from libs.events.envelope import Envelope
from services.audit_worker.handlers import FORM, apart, chain_action, chain_actions, chain_record
from tests.support.examples import examples

TENANTS = ("acme", "globex", "Ünïcode ☃")
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
BATCHES = st.lists(st.lists(st.tuples(st.sampled_from(TENANTS), TEXT), min_size=1, max_size=20), min_size=1, max_size=4)


def described(tenant: str, text: str) -> dict[str, Any]:
    said = {"action": "tool.execute", "phase": "outcome", "verdict": text, "principal": text, "digests": {text: text}}
    return {"id": "e", "time": "2026-01-01T00:00:00+00:00", "tenant": tenant, "data": said}


def batch(rows: list[tuple[str, str]]) -> str:
    changes = [
        {"i": i, "n": i, "tenant_id": tenant, "record": record, "leaf": leaf(record).hex()}
        for i, (tenant, record) in enumerate((tenant, described(tenant, text)) for tenant, text in rows)
    ]
    return orjson.dumps({"chain": changes}).decode()


async def opened(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    tenants = "{" + ",".join(f'"{tenant}"' for tenant in TENANTS) + "}"
    await connection.execute("select set_config('suma.tenants', $1, true)", tenants)


@pytest.mark.requirement("A36")
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BATCHES)
async def test_the_links_are_those_of_the_python_chain(where: Dsns, batches: list[list[tuple[str, str]]]) -> None:
    connection = await asyncpg.connect(where.app)
    transaction = connection.transaction()
    try:
        await transaction.start()
        await opened(connection)
        expected: dict[str, list[bytes]] = defaultdict(list)
        for rows in batches:
            applied = await connection.fetchval("select audit.apply($1)", batch(rows))
            assert sorted(applied) == list(range(len(rows)))
            for tenant, text in rows:
                before = expected[tenant][-1] if expected[tenant] else genesis(tenant)
                expected[tenant].append(link(before, leaf(described(tenant, text))))
        for tenant, links in expected.items():
            stored = await connection.fetch(
                "select position, link, leaf, record::text from audit.audit_events"
                " where tenant_id = $1 order by position",
                tenant,
            )
            assert [(row["position"], row["link"]) for row in stored] == list(enumerate(links, 1))
            assert all(leaf(json.loads(row["record"])) == row["leaf"] for row in stored)
    finally:
        await transaction.rollback()
        await connection.close()


@pytest.mark.requirement("A36")
async def test_two_writers_at_once_make_one_chain(where: Dsns) -> None:
    """Writers with tenants in opposite orders wait at the heads; none deadlocks or skips a position."""

    async def write(order: tuple[str, ...]) -> None:
        connection = await asyncpg.connect(where.app)
        try:
            for n in range(10):
                async with connection.transaction():
                    await opened(connection)
                    await connection.fetchval("select audit.apply($1)", batch([(tenant, f"{n}") for tenant in order]))
        finally:
            await connection.close()

    await asyncio.gather(*(write(TENANTS if n % 2 else TENANTS[::-1]) for n in range(4)))
    connection = await asyncpg.connect(where.app)
    try:
        async with connection.transaction():
            await opened(connection)
            for tenant in TENANTS:
                rows = await connection.fetch(
                    "select position, leaf, link from audit.audit_events where tenant_id = $1 order by position", tenant
                )
                assert [row["position"] for row in rows] == list(range(1, 41))
                head = genesis(tenant)
                for row in rows:
                    head = link(head, row["leaf"])
                    assert head == row["link"]
    finally:
        await connection.close()


@pytest.mark.requirement("S3-34")
async def test_a_batch_reaches_no_tenant_outside_its_set(where: Dsns) -> None:
    connection = await asyncpg.connect(where.app)
    try:
        async with connection.transaction():
            await connection.execute("select set_config('suma.tenants', '{acme}', true)")
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetchval("select audit.apply($1)", batch([("globex", "x")]))
    finally:
        await connection.close()


FIELDS = st.fixed_dictionaries(
    {"action": TEXT, "phase": TEXT, "verdict": TEXT, "principal": TEXT},
    optional={
        "resource": TEXT,
        "rule": TEXT,
        "revision": TEXT,
        "turn_id": st.none() | TEXT,
        "digests": st.dictionaries(TEXT, TEXT, max_size=2),
    },
)


def travelling(records: list[dict[str, Any]], **about: str) -> Envelope[Any]:
    """Return the actions as one event, as a changeset publishes them."""
    actions = [ActionRecorded.model_validate(fields) for fields in records]
    data = actions[0] if len(actions) == 1 else ActionsRecorded(records=tuple(actions))
    return Envelope(
        id=ids.new(), source="suma/tester", time=SystemClock().now(), tenant="acme", key="acme:s", data=data, **about
    )


async def logged(connection: "asyncpg.Connection[asyncpg.Record]", event: Envelope[Any]) -> Cause:
    """Write the event to the log, and return the cause of its handling."""
    part, data = event.topic.partition_of(event.key), event.data.json_bytes()
    position = await connection.fetchval(
        "insert into bus.log select $1, $2, coalesce(max(position), 0) + 1, $3, $4, $5, $6, $7, $8, now() from bus.log"
        " where topic = $1 and part = $2 returning position",
        *(event.topic.name, part, event.id, event.tenant, event.key, event.type),
        *(orjson.dumps(event.headers()).decode(), data.decode()),
    )
    record = Record(
        event.topic.name, part, position, event.id, event.tenant, event.key, event.type, event.headers(), data
    )
    return Cause.record("audit_worker", record)


async def handled(cause: Cause, event: Envelope[Any]) -> str:
    """Return the changes of a record's handling, as the writer sends them."""
    handle = chain_actions if isinstance(event.data, ActionsRecorded) else chain_action
    (change,) = (await handle(cause, event)).changes
    return orjson.dumps({change.kind: [{**change.row, "i": 0, "n": 0, "tenant_id": cause.tenant}]}).decode()


@pytest.mark.requirement("A36", "P6")
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FIELDS, min_size=1, max_size=4), st.dictionaries(st.sampled_from(["session", "turn"]), TEXT))
async def test_a_record_from_the_log_is_the_handlers(
    where: Dsns, records: list[dict[str, Any]], about: dict[str, str]
) -> None:
    event = travelling(records, **about)
    bus = await asyncpg.connect(where.bus)
    app = await asyncpg.connect(where.app)
    transaction = app.transaction()
    try:
        cause = await logged(bus, event)
        await transaction.start()
        await opened(app)
        changes = await handled(cause, event)
        assert "chain.logged" in changes
        assert await app.fetchval("select audit.apply($1)", changes) == [0]
        rows = await app.fetch(
            "select record::text, leaf from audit.audit_events order by position desc limit $1", len(records)
        )
        expected = [chain_record(one) for one in ([event] if len(records) == 1 else apart(event))]
        assert [json.loads(row["record"]) for row in reversed(rows)] == expected
        assert [row["leaf"] for row in reversed(rows)] == [leaf(record) for record in expected]
    finally:
        await transaction.rollback()
        await app.close()
        await bus.close()


@pytest.mark.requirement("A36", "P6")
@pytest.mark.parametrize("flaw", ["no such place", "another event's place", "another tenant's", "another release"])
async def test_a_place_without_the_record_conflicts_and_is_copied(where: Dsns, flaw: str) -> None:
    event = travelling([{"action": "a", "phase": "p", "verdict": "v", "principal": "x"}])
    bus, app = await asyncpg.connect(where.bus), await asyncpg.connect(where.app)
    try:
        cause = await logged(bus, event)
        wrong = {
            "no such place": replace(cause, place=(cause.place[0], 99_999) if cause.place else None),
            "another event's place": replace(cause, id=ids.new()),
            "another tenant's": replace(cause, tenant="globex"),
        }.get(flaw, cause)
        async with app.transaction():
            await opened(app)
            changes = await handled(wrong, event)
            if flaw == "another release":
                changes = changes.replace(FORM, "00000000")
            assert await app.fetchval("select audit.apply($1)", changes) == []
            copy = await handled(replace(wrong, again=True), event)
            assert await app.fetchval("select audit.apply($1)", copy) == [0]
    finally:
        await app.close()
        await bus.close()
