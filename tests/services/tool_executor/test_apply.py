"""What the ledger of effects takes and refuses, row by row and twice in one batch (bus.md 7, 8)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import orjson
import pytest
import pytest_asyncio

from libs.database import Dsns

INTENT = {
    "tenant_id": "acme",
    "intent_id": "i1",
    "call_id": "c1",
    "session_id": "s1",
    "turn_id": "t1",
    "step_id": "p1",
    "tool": "mail.send",
    "effect_class": "at_most_once",
}
WHICH = {name: INTENT[name] for name in ("tenant_id", "intent_id", "call_id")}


class Ledger:
    def __init__(self, connection: asyncpg.Connection[asyncpg.Record]) -> None:
        self._connection = connection

    async def apply(self, kind: str, *rows: dict[str, Any]) -> list[int]:
        """The numbers of the rows that were applied."""
        numbered = [{**row, "i": i, "n": i} for i, row in enumerate(rows)]
        document = orjson.dumps({kind: numbered}).decode()
        return list(await self._connection.fetchval("select executor.apply($1)", document))

    async def intend(self, *, begun: int = 0) -> None:
        await self.apply("effect.intend", INTENT)
        for attempt in range(1, begun + 1):
            assert await self.apply("effect.begin", {**WHICH, "attempt": attempt}) == [0]


@pytest_asyncio.fixture(loop_scope="session")
async def ledger(home: Dsns) -> AsyncIterator[Ledger]:
    connection = await asyncpg.connect(home.app)
    try:
        await connection.execute("select set_config('suma.tenants', '{acme}', false)")
        yield Ledger(connection)
    finally:
        await connection.close()


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("effect.begin", {**WHICH, "attempt": 2}),
        ("effect.settle", {**WHICH, "attempt": 1}),
        ("effect.close", {**WHICH, "state": "happened", "outcome": {}}),
    ],
)
async def test_the_same_row_twice_in_a_batch_is_applied_once(ledger: Ledger, kind: str, row: dict[str, Any]) -> None:
    await ledger.intend(begun=1)
    assert await ledger.apply(kind, row, row) == [0]


async def test_an_intent_is_written_once_while_it_is_open(ledger: Ledger) -> None:
    assert await ledger.apply("effect.intend", INTENT, INTENT) == [0]
    assert await ledger.apply("effect.intend", INTENT) == []


@pytest.mark.parametrize("attempt", [0, 1, 3])
async def test_only_the_next_attempt_begins(ledger: Ledger, attempt: int) -> None:
    await ledger.intend(begun=1)
    assert await ledger.apply("effect.begin", {**WHICH, "attempt": attempt}) == []


async def test_only_the_newest_attempt_settles_doubt(ledger: Ledger) -> None:
    await ledger.intend(begun=2)
    assert await ledger.apply("effect.settle", {**WHICH, "attempt": 1}) == []
    assert await ledger.apply("effect.settle", {**WHICH, "attempt": 2}) == [0]


@pytest.mark.parametrize(
    ("state", "again"), [("happened", []), ("unknown", []), ("did_not_happen", [0]), ("undone", [0])]
)
async def test_closed_effect_is_intended_again_only_if_none_happened(
    ledger: Ledger, state: str, again: list[int]
) -> None:
    await ledger.intend(begun=2)
    assert await ledger.apply("effect.close", {**WHICH, "state": state, "outcome": {}}) == [0]
    assert await ledger.apply("effect.close", {**WHICH, "state": "happened", "outcome": {}}) == []
    assert await ledger.apply("effect.intend", INTENT) == again
    assert await ledger.apply("effect.begin", {**WHICH, "attempt": 3}) == again
