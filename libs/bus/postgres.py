"""The bus on Postgres alone: readers read the log; LISTEN/NOTIFY carries the hints, sent after the commit."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import asyncpg

from libs.bus.log import recorded
from libs.bus.ports import OWNED_SECONDS, Partition, Record
from libs.database import BUS, HINTS, Database, answering
from libs.polling import Pause

CHANNEL = "suma_bus"
SCAN_SECONDS = 1.0


class PostgresBus:
    """Reads every record from `bus.log`. Positions are dense, so a process may deliver its own records directly."""

    dense = True
    problem = None
    """Without Postgres the writer reports the problem."""

    def __init__(self, database: Database, member: str, *, scan: float = SCAN_SECONDS) -> None:
        self._database = database
        self._member = member
        self._pause = Pause(scan)
        self._hint = asyncio.Event()
        self._ear: asyncpg.Connection[asyncpg.Record] | None = None
        self._tokens: dict[tuple[str, Partition], int] = {}
        """The fencing token of each of our partitions; every change of owner increases it."""

    async def assignments(self, groups: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[Partition, int]]:
        async with self._database.connection(HINTS) as connection:
            rows = await connection.fetch(
                "select * from bus.own($1, $2, $3)", list(groups), self._member, OWNED_SECONDS
            )
        known, self._tokens = self._tokens, {}
        owned: dict[str, dict[Partition, int]] = {group: {} for group in groups}
        for row in rows:
            key = row["grp"], Partition(row["topic"], row["part"])
            self._tokens[key] = row["token"]
            # Another member had it since we asked last. Leave it out once, so that the reader begins anew with it.
            if known.get(key, row["token"]) == row["token"]:
                owned[key[0]][key[1]] = row["position"]
        return owned

    async def moved(self, within: float) -> None:
        # A partition becomes free when its owner's time is over, which sends no notification.
        await asyncio.sleep(within)

    async def read(self, after: Mapping[str, Mapping[Partition, int]], *, limit: int) -> Mapping[str, Sequence[Record]]:
        """Read for all groups in one query, from the lowest position of each partition."""
        # One query for all groups: on a hint they would all read the same new records.
        lowest: dict[Partition, int] = {}
        for marks in after.values():
            for partition, position in marks.items():
                lowest[partition] = min(position, lowest.get(partition, position))
        read = [(Partition(record.topic, record.part), record) for record in await self._read(lowest, limit)]
        return {
            group: [record for partition, record in read if record.position > marks.get(partition, record.position)]
            for group, marks in after.items()
        }

    async def advance(self, done: Mapping[str, Mapping[Partition, int]]) -> None:
        rows = [(group, p.topic, p.part, position) for group, marks in done.items() for p, position in marks.items()]
        if rows:
            async with self._database.connection(HINTS) as connection:
                await connection.execute("select bus.advance($1, $2, $3, $4)", *map(list, zip(*rows, strict=True)))

    async def wake(self, topics: Sequence[str]) -> None:
        async with self._database.connection(HINTS) as connection:
            await connection.execute("select pg_notify($1, $2)", CHANNEL, ",".join(sorted(set(topics))))

    async def waiting(self) -> None:
        await self._listen()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pause.next()):
                await self._hint.wait()
                self._pause.found()
        # Cleared before the caller reads, so that a hint during the read causes another one.
        self._hint.clear()

    async def leave(self, groups: Sequence[str]) -> None:
        ear, self._ear = self._ear, None
        if ear is not None:
            # Not `close()`: that would wait for a server that does not answer.
            ear.terminate()
        async with self._database.connection(BUS) as connection:
            await connection.execute("select bus.leave($1, $2)", list(groups), self._member)

    async def lag(self, groups: Sequence[str]) -> Mapping[tuple[str, str], int]:
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch("select * from bus.lag($1)", list(groups))
        return {(row["grp"], row["topic"]): row["lag"] for row in rows}

    async def _read(self, after: Mapping[Partition, int], limit: int) -> list[Record]:
        topics, parts = [p.topic for p in after], [p.part for p in after]
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch(
                "select * from bus.read($1, $2, $3, $4)", topics, parts, list(after.values()), limit
            )
        if rows:
            self._pause.found()
        return [recorded(row, row["part"], row["position"]) for row in rows]

    async def _listen(self) -> None:
        """Listen on a dedicated connection. A lost one is replaced; the scan covers missed notifications."""
        if self._ear is None or self._ear.is_closed():
            ear = await self._database.pinned(self._database.dsns.bus)
            async with answering():
                await ear.add_listener(CHANNEL, self._hear)
            self._ear = ear

    def _hear(self, *_: object) -> None:
        self._hint.set()
