"""Trimming: delete log records behind every group and the topic's retention, and inbox rows of events that cannot
recur.

One process at a time does it, in small transactions that give up rather than block others. Parked and dead events are
never deleted. Correctness does not depend on it: it may be late, be killed, or not run at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import orjson

from libs.database import BUS, Database
from libs.events.topics import TOPICS, Topic

LOCK = 0x5452494D
MOST, INBOX_MOST = 50, 500
"""Records of one partition, and inbox rows of one group, that one transaction deletes."""
BRIEFLY = "set local statement_timeout = '2s'; set local lock_timeout = '100ms'"
GRACE = timedelta(days=7)
"""How long after its retention a record may recur: Kafka deletes whole segments and starts one per week."""

Readers = Callable[[Topic], Collection[str]]


def consumers(topic: Topic) -> Collection[str]:
    """Return the groups that read the log itself: on Postgres, every consumer in the catalogue."""
    return topic.consumers


@dataclass(frozen=True, slots=True)
class Trimmed:
    """The deletions of one transaction: records by topic, inbox rows by group."""

    log: Mapping[str, int] = field(default_factory=dict)
    inbox: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.log or self.inbox)


class Trimming:
    """Trims the log. `readers` names the groups that must have done a topic's records, besides declared ones."""

    def __init__(self, database: Database, readers: Readers = consumers) -> None:
        self._database = database
        topics = TOPICS.values()
        self._log = [t.name for t in topics], [t.retention.total_seconds() for t in topics], _json(topics, readers)
        self._inbox = _columns(topics)

    async def trim(self) -> Trimmed:
        """Delete a small portion; nothing when another process trims, or nothing is old enough.

        Raises:
            Unavailable: Postgres does not answer, or is too busy for this.
        """
        async with self._database.connection(BUS) as connection, connection.transaction():
            await connection.execute(BRIEFLY)
            if not await connection.fetchval("select pg_try_advisory_xact_lock($1)", LOCK):
                return Trimmed()
            log = await connection.fetch("select * from bus.trim_log($1, $2, $3, $4)", *self._log, MOST)
            inbox = await connection.fetch("select * from bus.trim_inbox($1, $2, $3, $4)", *self._inbox, INBOX_MOST)
            await connection.execute("select bus.forget_begun($1)", INBOX_MOST)
        return Trimmed(dict(map(tuple, log)), dict(map(tuple, inbox)))


def _json(topics: Iterable[Topic], readers: Readers) -> str:
    return orjson.dumps({topic.name: sorted(readers(topic)) for topic in topics}).decode()


def _columns(topics: Iterable[Topic]) -> list[list[Any]]:
    """Return, for each group and subscribed topic, how long an inbox row must stay, as columns of a table."""
    rows = [
        (group, t.name, (t.retention + GRACE).total_seconds()) for t in topics for group in t.consumers + t.optional
    ]
    return [list(column) for column in zip(*rows, strict=True)]
