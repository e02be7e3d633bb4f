"""The follower: projects the records that commits have left, and reports projected ones to the projections' watchers.

A commit leaves a projection behind after a backlog, an error, or a row that was not free at once. Any number of
processes may follow: each takes the cursors that no other has locked. It looks after each hint from the log, and once a
second. An error stops a cursor before the record at fault; `/readyz` reports it, and each look tries again.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from libs.bus.ports import Partition, Record
from libs.bus.projections import Cursor, Projections, Subject
from libs.errors import Unavailable
from libs.runtime.service import Service
from libs.telemetry.logs import logger

log = logger("follower")


class Follower:
    """Follows the projections of this process's services."""

    def __init__(
        self, services: Sequence[Service], projections: Projections, member: str, point: Callable[[str], None]
    ) -> None:
        self._groups = [service.name for service in services if service.projections]
        projected = [each for service in services for each in service.projections]
        self._topics = {each.topic.name for each in projected}
        self._watchers = {each.topic.name: each.watch for each in projected if each.watch is not None}
        self._projections, self._member, self._point = projections, member, point
        self._reported: dict[Partition, int] = {}
        """The position up to which each partition was reported to its watcher."""
        self._stopped: dict[Partition, str] = {}
        self._hint, self.ready = asyncio.Event(), asyncio.Event()
        self._hint.set()
        self.alone = False
        """Whether no other process lived when this one last looked."""

    def wake(self) -> None:
        """Look soon."""
        self._hint.set()

    def committed(self, records: Sequence[Record], left: Collection[Partition]) -> None:
        """Observe records that this process has committed; the projections of the partitions in `left` lack theirs."""
        if any(partition.topic in self._topics for partition in left):
            self.wake()
        for topic, watch in self._watchers.items():
            projected = [r for r in records if r.topic == topic and Partition(topic, r.part) not in left]
            for record in projected:
                # Beyond a gap, the records before it are still to be reported.
                if self._reported.get(Partition(topic, record.part)) == record.position - 1:
                    self._reported[Partition(topic, record.part)] = record.position
            if projected:
                watch([Subject.of(record) for record in projected])

    async def follow(self) -> None:
        """Look after each hint, until cancelled."""
        if not self._groups:
            self.ready.set()
        while self._groups:
            await self._hint.wait()
            self._hint.clear()
            try:
                await self.look()
            except Unavailable:
                # No pause: the next hint comes within seconds.
                log.warning("could not follow projections")

    async def look(self) -> None:
        """Project while a cursor moves, and report to the watchers."""
        moved = True
        while moved:
            cursors = await self._projections.cursors(self._groups, self._member)
            self.alone = not any(cursor.accompanied for cursor in cursors)
            await self._report(cursors)
            self.ready.set()
            behind = [cursor for cursor in cursors if cursor.position < cursor.last]
            for gone in self._stopped.keys() - {cursor.partition for cursor in behind}:
                del self._stopped[gone]
            moved = any([await self._step(cursor) for cursor in behind])

    @property
    def stopped(self) -> Sequence[str]:
        """Return why projections have stopped, for `/readyz`."""
        return list(self._stopped.values())

    async def _step(self, cursor: Cursor) -> bool:
        """Project the next records of a partition; return whether its cursor moved."""
        self._point("project:before")
        step = await self._projections.step(cursor)
        self._point("project:after")
        if step is None:
            return False
        if step.error is not None:
            self._stop(cursor, f"{step.position + 1}: {step.error}")
        else:
            self._stopped.pop(cursor.partition, None)
        return step.position > cursor.position

    def _stop(self, cursor: Cursor, error: str) -> None:
        reason = f"{cursor.group} stopped projecting {cursor.topic} at {cursor.part}/{error}"
        if self._stopped.get(cursor.partition) != reason:
            log.error("stopped projection", group=cursor.group, topic=cursor.topic, part=cursor.part, error=error)
        self._stopped[cursor.partition] = reason

    async def _report(self, cursors: Sequence[Cursor]) -> None:
        """Report to the watchers what any process has projected since the last look."""
        moved: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for cursor in cursors:
            # Viewers read by themselves what was projected before the first look.
            after = self._reported.setdefault(cursor.partition, cursor.position)
            if after < cursor.position and cursor.topic in self._watchers:
                moved[cursor.topic].append((cursor.part, after, cursor.position))
        for topic, spans in moved.items():
            self._watchers[topic](await self._projections.subjects(topic, spans))
            for part, _, upto in spans:
                self._reported[Partition(topic, part)] = max(upto, self._reported[Partition(topic, part)])
