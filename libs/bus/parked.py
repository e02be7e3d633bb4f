"""Parked events: one that failed, and all later ones of its key in its topic, wait in order while others pass (bus.md
15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from libs.bus.ports import Record
from libs.database import Database, answering


@dataclass(frozen=True, slots=True)
class Due:
    """The first parked event of its key, due for another try. `age` is in seconds."""

    record: Record
    seq: int
    attempts: int
    age: float


class ParkedEvents:
    """`bus.parked`, for both buses."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def retries(self, group: str, *, most: int) -> Sequence[Due]:
        """Claim what is due: pushed back at once, so that a crash only tries it later."""
        pool = await self._database.bus()
        async with answering():
            rows = await pool.fetch("select * from bus.retries($1, $2)", group, most)
        return [
            Due(
                Record(
                    row["topic"],
                    -1,
                    -1,
                    row["event_id"],
                    row["tenant"],
                    row["key"],
                    row["type"],
                    orjson.loads(row["headers"]),
                    row["data"].encode(),
                ),
                row["seq"],
                row["attempts"],
                row["age"],
            )
            for row in rows
        ]

    async def postpone(self, group: str, seq: int, *, delay: float, error: str) -> None:
        """It failed again."""
        pool = await self._database.bus()
        async with answering():
            await pool.execute("select bus.postpone($1, $2, $3, $4)", group, seq, delay, error[:2000])

    async def replay(self, group: str, *, tenant: str, event_id: str) -> bool:
        """Send a dead letter to its group again, at the tail of its key; False when it is not dead (any more), or not
        yours."""
        pool = await self._database.bus()
        async with answering():
            return bool(await pool.fetchval("select bus.replay($1, $2, $3)", group, tenant, event_id))
