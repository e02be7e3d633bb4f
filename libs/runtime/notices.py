"""Notices: what people are shown of events that stand aside.

A dead one's letter holds the whole original, a large one as a blob; one that waits for policy is mirrored in the cache
for an hour (S3-41). Truth is `bus.parked`.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress

from libs.bus.ports import Record
from libs.cache.ports import Board, Notice
from libs.errors import SumaError, Unavailable
from libs.events.deadletters import EventDeadLettered
from libs.objects import Objects, bodies
from libs.policy.ports import PolicyUnanswered

PUT_MOST = 10_000


class Notices:
    """One for each consumer. What was put on the board by another process goes when its hour is over."""

    def __init__(self, objects: Objects, board: Board) -> None:
        self._objects, self._board = objects, board
        self._put: OrderedDict[str, None] = OrderedDict()

    async def letter(self, group: str, record: Record, error: SumaError, *, attempts: int) -> EventDeadLettered:
        """The dead letter, its original durable.

        Raises:
            Unavailable: the original is large, and the store does not answer.
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

    async def waits(self, group: str, record: Record, error: SumaError, *, attempts: int) -> None:
        """It failed and will be tried again. Of interest here where policy did not answer."""
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
        """It waits no more."""
        if record.event_id in self._put:
            del self._put[record.event_id]
            with suppress(Unavailable):
                await self._board.drop(record.event_id)
