"""Failure reports: the dead letters and notices that people see of events that failed.

A dead letter keeps the whole original, a large one as a blob. A notice of an event that waits for policy is mirrored in
the cache for an hour (S3-41). The source of truth is `bus.parked`.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress

from libs.bus.ports import Record
from libs.cache.ports import Board, Notice
from libs.errors import SumaError, Unavailable
from libs.events.deadletters import LEASES, EventDeadLettered
from libs.leases.ports import Lease
from libs.objects import Objects, bodies
from libs.policy.ports import PolicyUnanswered

PUT_MOST = 10_000


class FailureReports:
    """Writes the failure reports of one consumer. Notices of other processes expire after an hour."""

    def __init__(self, objects: Objects, board: Board) -> None:
        self._objects, self._board = objects, board
        self._put: OrderedDict[str, None] = OrderedDict()

    async def dead_letter(self, group: str, record: Record, error: SumaError, *, attempts: int) -> EventDeadLettered:
        """Return the dead letter of an event; its original is durable.

        Raises:
            Unavailable: the original is large, and the object store does not answer.
        """
        original = {"headers": dict(record.headers), "data": record.raw()}
        return EventDeadLettered(
            group=group,
            event_topic=record.topic,
            event_type=record.type,
            event_id=record.event_id,
            event_key=record.key,
            code=error.code,
            error=str(error)[:2000],
            attempts=attempts,
            original=await bodies.store(self._objects, record.tenant, original),
        )

    async def lease(self, lease: Lease, error: SumaError) -> EventDeadLettered:
        """Return the dead letter of leased work; its input is durable.

        Raises:
            Unavailable: the input is large, and the object store does not answer.
        """
        return EventDeadLettered(
            group=lease.group,
            event_topic=LEASES,
            event_type=lease.kind,
            event_id=lease.id,
            event_key=lease.key,
            code=error.code,
            error=str(error)[:2000],
            attempts=lease.attempts,
            original=await bodies.store(self._objects, lease.tenant, dict(lease.input)),
        )

    async def waits(self, group: str, record: Record, error: SumaError, *, attempts: int) -> None:
        """Put a notice of an event that will be retried on the board, if policy did not answer."""
        if error.code != PolicyUnanswered.code:
            return
        notice = Notice(
            id=record.event_id,
            tenant=record.tenant,
            group=group,
            topic=record.topic,
            type=record.type,
            session=record.header("sessionid"),
            turn=record.header("turnid"),
            error=str(error)[:2000],
            attempts=attempts,
        )
        self._put[record.event_id] = None
        if len(self._put) > PUT_MOST:
            self._put.popitem(last=False)
        with suppress(Unavailable):
            await self._board.put(notice)

    async def gone(self, record: Record) -> None:
        """Remove the notice of an event that no longer waits."""
        # Most events have no notice, and then removing it costs no request.
        if record.event_id in self._put:
            del self._put[record.event_id]
            with suppress(Unavailable):
                await self._board.drop(record.event_id)
