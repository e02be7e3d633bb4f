"""`memory.apply`: repeated rows and several tenants in one batch, with one result per change."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import orjson
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.database import Connection, Dsns
from tests.support.examples import examples

VECTOR = "{1:1}/768"


@pytest_asyncio.fixture(loop_scope="session")
async def app(where: Dsns) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(where.app)
    yield connection
    await connection.close()


async def applied(app: Connection, *changes: tuple[str, dict[str, Any]], tenants: str = "{a,b}") -> list[int]:
    """Return the applied numbers, and roll back."""
    transaction = app.transaction()
    await transaction.start()
    try:
        return await apply(app, *changes, tenants=tenants)
    finally:
        await transaction.rollback()


async def apply(app: Connection, *changes: tuple[str, dict[str, Any]], tenants: str = "{a,b}") -> list[int]:
    await app.execute("select set_config('suma.tenants', $1, true)", tenants)
    kinds: dict[str, list[dict[str, Any]]] = {}
    for i, (kind, row) in enumerate(changes):
        kinds.setdefault(kind, []).append({"i": i, "n": i, "tenant_id": "a", **row})
    return sorted(await app.fetchval("select memory.apply($1)", orjson.dumps(kinds).decode()))


def memory(id: str, text: str = "x", **more: Any) -> tuple[str, dict[str, Any]]:
    row = {"memory_id": id, "user_id": "u", "session_id": "s", "universe": "session", "kind": "message", "text": text}
    return "memory.add", {**row, "embedder": "e", "embedding": VECTOR, **more}


def fact(value: str, source: str = "person", **more: Any) -> tuple[str, dict[str, Any]]:
    return "fact.put", {"fact_id": value + source, "user_id": "u", "key": "k", "value": value, "source": source, **more}


FORGET = "fact.forget", {"user_id": "u", "key": "k", "value": None}
FEEDBACK = "feedback.add", {"feedback_id": "f", "user_id": "u", "subject": "t", "score": 1, "comment": ""}
BASE = {"base_id": "b", "job": "j"}
READ = "knowledge.read", {**BASE, "user_id": "u", "name": "n", "source": "/s", "strategy": "fixed", "chunk_size": 512}
PROGRESS = "knowledge.progress", {**BASE, "state": "ready", "detail": "", "files": 1, "done": 1}
FILE = "knowledge.file", {"base_id": "b", "path": "p", "stamp": "s", "digest": "d", "chunks": 1, "gap": ""}
PLACE = {"base_id": "b", "path": "p", "place": 0, "unit": "line", "first": 1, "last": 1}
CHUNK = "knowledge.chunk", {**PLACE, "text": "t", "embedder": "e", "embedding": VECTOR}
KNOWLEDGE = [
    READ,
    FILE,
    CHUNK,
    ("knowledge.drop", {"base_id": "b", "path": "p"}),
    ("knowledge.remove", {"base_id": "b"}),
]
SLEEP = {"sleep_id": "z", "user_id": "u"}
MIND: list[tuple[str, dict[str, Any]]] = [
    ("mind.modulate", {"user_id": "u", "dopamine": 1, "serotonin": 0, "noradrenaline": 0, "acetylcholine": 0}),
    ("mind.reset", {"user_id": "u"}),
    ("persona.put", {"user_id": "u", "persona_id": "p", "text": "x"}),
    ("persona.delete", {"user_id": "u", "persona_id": "p"}),
    ("sleep.start", {**SLEEP, "nrem": True, "rem": True}),
    ("sleep.merge", {"sleep_id": "z", "memory_id": "1", "other_id": "2"}),
    ("sleep.link", {**SLEEP, "memory_id": "1", "other_id": "2", "likeness": 0.8}),
    ("sleep.step", {**SLEEP, "scanned": 1, "merged": 1, "linked": 1, "to": "2026-11-28T00:00:00Z", "fade_days": 30}),
]
ROWS = [memory("1"), memory("2"), fact("v"), fact("w", "extraction"), FORGET, FEEDBACK, *KNOWLEDGE, *MIND]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(ROWS), st.sampled_from(["a", "b"])), min_size=1, max_size=12))
async def test_applying_a_row_twice_changes_nothing(app: Connection, chosen: list[Any]) -> None:
    changes = [(kind, {**row, "tenant_id": tenant}) for (kind, row), tenant in chosen]
    assert await applied(app, *changes) == list(range(len(changes)))


async def test_second_memory_with_the_same_id_conflicts(app: Connection) -> None:
    assert await applied(app, memory("1", "x"), memory("1", "y")) == [0]
    assert await applied(app, memory("1", "x"), memory("1", "x", user_id="other")) == [0]
    assert await applied(app, memory("1", "x"), memory("1", "y", tenant_id="b")) == [0, 1]


@pytest.mark.parametrize("sources", [("auto", "explicit"), ("explicit", "auto"), ("extraction", "person")])
async def test_a_persons_fact_stays_theirs(app: Connection, sources: tuple[str, str]) -> None:
    async with app.transaction():
        for source in sources:
            await apply(app, fact("v", source))
        rows = await app.fetch("select source from memory.facts")
    assert [row["source"] for row in rows] == ["person"]


async def test_only_the_latest_reading_of_a_base_writes(app: Connection) -> None:
    assert await applied(app, PROGRESS) == []
    assert await applied(app, READ, PROGRESS, PROGRESS) == [0, 1, 2]
    later = "knowledge.read", {**READ[1], "job": "k"}
    assert await applied(app, READ, later, PROGRESS) == [0, 1]
    assert await applied(app, READ, ("knowledge.progress", {**PROGRESS[1], "tenant_id": "b"})) == [0]


async def test_second_sleep_of_a_person_conflicts_while_one_runs(app: Connection) -> None:
    start = {**SLEEP, "nrem": True, "rem": True}
    second = "sleep.start", {**start, "sleep_id": "y"}
    async with app.transaction():
        assert await apply(app, ("sleep.start", start), second) == [0]
        assert await apply(app, ("sleep.step", {**SLEEP, "scanned": 0, "merged": 0, "linked": 0, "state": "done"})) == [
            0
        ]
        assert await apply(app, second) == [0]


async def test_forgotten_memory_takes_its_duplicates_along(app: Connection) -> None:
    async with app.transaction():
        await apply(app, memory("1"), memory("2"), memory("3", "y"), *MIND)
        await app.execute("delete from memory.memories where memory_id = '2'")
        rows = await app.fetch("select memory_id from memory.memories")
    assert [row["memory_id"] for row in rows] == ["3"]


async def test_a_batch_reaches_no_tenant_outside_its_set(app: Connection) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await applied(app, memory("1", tenant_id="c"))


async def test_forgetting_takes_only_its_own_tenants_facts(app: Connection) -> None:
    async with app.transaction():
        await apply(app, fact("v"), fact("v", tenant_id="b"))
        await apply(app, FORGET)
        rows = await app.fetch("select tenant_id from memory.facts where state = 'active'")
    assert [row["tenant_id"] for row in rows] == ["b"]
