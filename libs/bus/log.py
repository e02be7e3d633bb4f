"""The log in Postgres that every adapter shares: its schema, topics and groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import orjson

from libs.bus.ports import Record
from libs.database import BUS, Database, Schema
from libs.events.topics import Topic

HERE = Path(__file__).parent
SCHEMA = Schema(
    "bus",
    HERE / "migrations",
    [HERE / "functions.sql"],
    roles=HERE / "roles.sql",
    owner="suma_bus",
    squashed={"0001_tables.sql": "0010_recorded.sql"},
)


@dataclass(frozen=True, slots=True)
class TopicSize:
    """How much of a topic the log holds. `age` is the oldest record's, in seconds; None when it is empty."""

    topic: str
    records: int
    age: float | None


def recorded(row: asyncpg.Record, part: int, position: int) -> Record:
    """Return a row of the log, or of the parked events, as a record. Parked ones have position -1."""
    return Record(
        row["topic"],
        part,
        position,
        row["event_id"],
        row["tenant"],
        row["key"],
        row["type"],
        orjson.loads(row["headers"]),
        row["data"].encode(),
    )


async def topic_sizes(database: Database, topics: Iterable[Topic]) -> list[TopicSize]:
    """Return what the log holds, topic by topic. Raises Unavailable."""
    async with database.connection(BUS) as connection:
        rows = await connection.fetch(
            "select * from bus.topic_sizes($1) order by topic", [topic.name for topic in topics]
        )
    return [TopicSize(**row) for row in rows]


async def declare(database: Database, topics: Sequence[Topic], groups: Mapping[str, Sequence[str]]) -> None:
    """Create the heads of every topic, the partitions of every group (group → topic names), and the cursors of every
    projection; safe to repeat. A group without topics is forgotten: the log does not wait for it.
    """
    parts = {topic.name: topic.partitions for topic in topics}
    heads = [(topic.name, part) for topic in topics for part in range(topic.partitions)]
    shares = [(group, name, part) for group, names in groups.items() for name in names for part in range(parts[name])]
    async with database.connection(BUS) as connection, connection.transaction():
        await connection.execute(
            "insert into bus.heads (topic, part) select * from unnest($1::text[], $2::int[]) on conflict do nothing",
            [topic for topic, _ in heads],
            [part for _, part in heads],
        )
        await connection.execute(
            "insert into bus.offsets (grp, topic, part, position, projected) select j.grp, topic, h.part, 0, true"
            " from bus.projections j join bus.heads h using (topic) on conflict do nothing"
        )
        await connection.execute(
            "insert into bus.partitions (grp, topic, part, due_at)"
            " select *, bus.now() from unnest($1::text[], $2::text[], $3::int[]) on conflict do nothing",
            [group for group, _, _ in shares],
            [topic for _, topic, _ in shares],
            [part for _, _, part in shares],
        )
        unread = [group for group, names in groups.items() if not names]
        await connection.execute("delete from bus.partitions where grp = any($1)", unread)
