"""`audit.apply`: SQL and libs.audit compute the same chain for any batch."""

import asyncio
import json
from collections import defaultdict
from typing import Any

import asyncpg
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.audit.chain import genesis, leaf, link
from libs.database import Dsns
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
