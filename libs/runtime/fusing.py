"""Fused handling: what a changeset causes in this process joins it, and one transaction applies the whole chain.

Before a changeset is applied, each event that it publishes is offered to the groups of this process. A group that has
had everything before that event, and has nothing of its key to do, decides at once. Its changeset joins the chain as a
consequence, and its events are offered in turn. Whatever cannot join is delivered as ever, and so are all consequences
of a chain that fails (decision 0121).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from libs.bus.ports import Partition, Record
from libs.bus.reader import Reader
from libs.changes.batch import Consequence, Lane, Queued
from libs.changes.changeset import Changeset
from libs.changes.lanes import Lanes
from libs.changes.writer import Add
from libs.errors import SumaError
from libs.runtime.consumer import Consumer
from libs.telemetry.logs import logger

CONSEQUENCES_MOST = 8
BEGIN_SECONDS, DECIDE_SECONDS = 0.05, 0.25
"""How old a chain may be when another group begins to decide, and when all have decided: a request waits for it."""
REST_SECONDS = 1.0
"""How long nothing is fused after a decision that took too long: it is made again in its lane."""

AFTER_DEATH_SECONDS = 60.0
"""How long nothing is fused after the last process died. It may have died of a request that its client repeats: alone,
that is accepted, and then its deaths are counted in its lane.
"""

log = logger("fusing")


class Fuser:
    """Extends the chains of one process."""

    def __init__(
        self,
        consumers: Mapping[str, Consumer],
        reader: Reader,
        lanes: Lanes,
        point: Callable[[str], None],
        *,
        after_death: bool,
    ) -> None:
        self._consumers, self._reader, self._lanes, self._point = consumers, reader, lanes, point
        self._rests_until = asyncio.get_running_loop().time() + AFTER_DEATH_SECONDS if after_death else 0.0

    @asynccontextmanager
    async def fuse(self, entry: Queued, add: Add) -> AsyncIterator[None]:
        """Let consequences join a chain, and hold their lanes until it is applied."""
        cause, held, now = entry.changesets[0].cause, list[Lane](), asyncio.get_running_loop().time
        try:
            # What failed before is applied alone, so that nothing else suffers if it fails again.
            if not (cause.alone or cause.again or cause.parked is not None or now() < self._rests_until):
                try:
                    async with asyncio.timeout(DECIDE_SECONDS):
                        await self._extend(entry, add, held)
                except TimeoutError:
                    self._rests_until = now() + REST_SECONDS
            yield
        finally:
            for lane in held:
                self._lanes.release(*lane)

    async def _extend(self, entry: Queued, add: Add, held: list[Lane]) -> None:
        until = asyncio.get_running_loop().time() + BEGIN_SECONDS
        # A group joins a chain once: it cannot read the rows that it has just written. Nor does it join with a later
        # event than its first, which it has not handled.
        asked = {entry.lane[0]}
        # The list grows during the loop: breadth first, each cause before its consequences.
        for n, _ in enumerate(entry.spoken):
            record = entry.record(n)
            for group, consumer in self._consumers.items():
                if group in asked or not consumer.listens(record):
                    continue
                asked.add(group)
                if len(entry.consequences) >= CONSEQUENCES_MOST or asyncio.get_running_loop().time() > until:
                    return
                await self._offer(entry, record, group, add, held)

    async def _offer(self, entry: Queued, record: Record, group: str, add: Add, held: list[Lane]) -> None:
        """Let a group decide on an event of the chain now, if it may."""
        consumer, lane = self._consumers[group], (group, record.key)
        after = self._reader.had(group, Partition(record.topic, record.part))
        if after is None or not consumer.may_fuse(record) or not self._lanes.hold(*lane):
            return
        held.append(lane)

        def join(changeset: Changeset) -> None:
            add(changeset)
            entry.consequences.append(Consequence(lane, record, after))

        uncommitted = frozenset(changeset.cause.group for changeset in entry.changesets)
        self._point("fuse:before")
        try:
            await consumer.fuse(record, uncommitted, join)
        except SumaError as error:
            log.info("left an event to its lane", group=group, event_type=record.type, error=str(error))
        self._point("fuse:after")
