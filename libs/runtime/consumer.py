"""The consumer: takes a group's records through their lanes, and answers every way in which handling can end.

Conflict: load and decide again, five times. Unavailable or a crash of the handler: the event is parked, with every
later one of its key in its topic, and tried again with exponential backoff. Rejected, or tried too often: it is a dead
letter, and whoever waits is told in the same transaction (DESIGN §6, bus.md 3, 15, 16).
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Protocol

from opentelemetry.trace import SpanKind

from libs.bus.ports import Record
from libs.changes.batch import Parking
from libs.changes.changeset import Cause, Changeset
from libs.changes.lanes import Lanes, Stopped
from libs.changes.writer import BEHIND, FRESH, Applied, Writer
from libs.errors import Conflict, Rejected, SumaError, Unavailable
from libs.fair import Gate
from libs.leases.ports import Exhausted
from libs.runtime.notices import Notices
from libs.runtime.service import Service, Subscription
from libs.telemetry import metrics
from libs.telemetry.logs import logger
from libs.telemetry.traces import span

DECIDE_MOST = 5
ATTEMPTS_MOST = 10
AGE_MOST_SECONDS = 15 * 60.0

log = logger("consumer")
Point = Callable[[str], None]
Taken = tuple[Subscription, Record, Callable[[], None]]
GATHERED_MOST = 64
"""Records in one gathered changeset."""
DECIDING_MOST, DECIDING_EACH = 24, 16
"""Handlers that load and decide at once in one process, and those of one tenant among them; behind them tenants take
turns. More at once would decide no more: each look at the database would only wait longer for the others' thinking."""
RETRIES_AT_ONCE, RETRYING_MOST = 32, 256
"""Parked events that one look takes, and that are under way."""


def deciding() -> Gate:
    """What a process's consumers and its keeper share."""
    return Gate(DECIDING_MOST, each=DECIDING_EACH)


class Contended(Unavailable):
    """Others were first five times in a row."""

    code = "CONTENDED"


class Crashed(Unavailable):
    """The handler failed in a way that nobody foresaw."""

    code = "HANDLER_CRASHED"


class Parked(Protocol):
    """The store of parked events."""

    async def retries(self, group: str, *, most: int) -> Sequence[Retry]: ...
    async def postpone(self, group: str, seq: int, *, delay: float, error: str) -> None: ...


class Retry(Protocol):
    """A parked event that is due: the first of its key."""

    @property
    def record(self) -> Record: ...
    @property
    def seq(self) -> int: ...
    @property
    def attempts(self) -> int: ...
    @property
    def age(self) -> float: ...


def backoff(attempts: int) -> float:
    """Seconds until the next try: doubling from 0.5 to 60, with full jitter on the upper half."""
    bound = min(60.0, 0.5 * 2.0**attempts)
    return bound * random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries, guards nothing


class Consumer:
    """One group's handling in one process."""

    def __init__(
        self,
        service: Service,
        *,
        writer: Writer,
        lanes: Lanes,
        parked: Parked,
        notices: Notices,
        point: Point,
        gate: Gate | None = None,
    ) -> None:
        self._group = service.name
        self._subscriptions = {s.event.type: s for s in service.subscriptions}
        self._writer = writer
        self._lanes = lanes
        self._parked, self._notices = parked, notices
        self._point = point
        self._gate = gate or deciding()
        self._gathers, self._linger = service.gathers, service.linger
        self._gathered: dict[str, deque[Taken]] = {}
        self._retrying: set[int] = set()
        self.retried: Callable[[], None] = lambda: None
        """Called when a parked event has gone, and the next of its key may go too; the host fills it in."""
        self.stopped: list[str] = []
        """Why lanes have stopped, for `/readyz`."""

    def take(self, record: Record, done: Callable[[], None]) -> None:
        """Queue a record in its lane; an event that nobody listens to is done at once."""
        subscription = self._subscriptions.get(record.type)
        if subscription is None:
            done()
            return

        if self._gathers:
            self._gather((subscription, record, done))
            return

        async def job() -> None:
            await self._first(subscription, record)
            done()

        self._lanes.submit(self._group, record.key, job)

    async def retry_due(self) -> None:
        """Try again whatever is parked and due."""
        room = RETRYING_MOST - len(self._retrying)
        for retry in await self._parked.retries(self._group, most=min(RETRIES_AT_ONCE, room)):
            if retry.seq not in self._retrying:
                self._retrying.add(retry.seq)
                self._lanes.submit(self._group, retry.record.key, lambda retry=retry: self._again(retry))  # type: ignore[misc]

    def _gather(self, taken: Taken) -> None:
        """Put it with the others of its partition that wait; one job takes them all."""
        lane = f"{taken[1].topic}:{taken[1].part}"
        waiting = self._gathered.setdefault(lane, deque())
        waiting.append(taken)
        if len(waiting) == 1:
            self._lanes.submit(self._group, lane, lambda: self._together(lane))

    async def _together(self, lane: str) -> None:
        waiting = self._gathered[lane]
        while waiting:
            if self._linger and len(waiting) < GATHERED_MOST:
                await asyncio.sleep(self._linger)
            taken = list(islice(waiting, GATHERED_MOST))
            if not await self._at_once(lane, taken):
                for subscription, record, _ in taken:
                    await self._first(subscription, record)
            for _, _, done in taken:
                waiting.popleft()
                done()

    async def _at_once(self, lane: str, taken: Sequence[Taken]) -> bool:
        """Apply all of these as one changeset; False when they must go one by one."""
        name = taken[0][0].event.type
        try:
            changesets = [await self._traced(subscription, record) for subscription, record, _ in taken]
            self._point(f"{self._group}:{name}:before")
            applied = await self._writer.apply_gathered(changesets, lane=(self._group, lane))
            self._point(f"{self._group}:{name}:after")
        except (Conflict, Rejected, Unavailable):
            return False
        return applied.verdict != BEHIND

    async def _traced(self, subscription: Subscription, record: Record) -> Changeset:
        cause = Cause.record(self._group, record, urgent=subscription.urgent)
        name = f"process {subscription.event.type}"
        with span(name, parent=cause.traceparent, kind=SpanKind.CONSUMER, attributes=_about(cause, record)):
            return await self._handle(subscription, cause, record)

    async def _first(self, subscription: Subscription, record: Record) -> None:
        cause = Cause.record(self._group, record, urgent=subscription.urgent)
        try:
            applied = await self._decide(subscription, cause, record)
            if applied.verdict == BEHIND:
                await self._park(cause, record, SumaError("an earlier event of its key is parked"), attempts=0)
        except Unavailable as error:
            await self._park(cause, record, error, attempts=1)
        except Rejected as error:
            try:
                await self._reject(subscription, cause, record, error, attempts=1)
            except Unavailable as away:
                await self._park(cause, record, away, attempts=1)

    async def _again(self, retry: Retry) -> None:
        record, subscription = retry.record, self._subscriptions.get(retry.record.type)
        cause = Cause.record(self._group, record, urgent=True, parked=retry.seq)
        try:
            if subscription is None:
                # Nobody listens to it any more: it is done, and lets the later ones of its key pass.
                await self._writer.apply(Changeset(cause))
            else:
                await self._decide(subscription, cause, record)
            await self._went(record)
        except Unavailable as error:
            await self._worn_or_later(retry, subscription, cause, error)
        except Rejected as error:
            assert subscription is not None
            await self._bury(retry, subscription, cause, error)
        self._retrying.discard(retry.seq)

    async def _worn_or_later(
        self, retry: Retry, subscription: Subscription | None, cause: Cause, error: Unavailable
    ) -> None:
        """It failed again: the next try, or none."""
        worn_out = retry.attempts >= ATTEMPTS_MOST or retry.age >= AGE_MOST_SECONDS
        if worn_out and subscription is not None:
            worn = Exhausted(f"{retry.attempts} attempts; the last: {error}", code=error.code)
            await self._bury(retry, subscription, cause, worn)
        else:
            await self._postpone(retry, error)

    async def _bury(self, retry: Retry, subscription: Subscription, cause: Cause, error: SumaError) -> None:
        """It is dead, unless its original cannot be kept now: then it waits."""
        try:
            await self._reject(subscription, cause, retry.record, error, attempts=retry.attempts)
            await self._went(retry.record)
        except Unavailable as away:
            await self._postpone(retry, away)

    async def _postpone(self, retry: Retry, error: SumaError) -> None:
        with suppress(Unavailable):  # the claim has pushed it back already
            await self._parked.postpone(self._group, retry.seq, delay=backoff(retry.attempts), error=_said(error))
        await self._notices.waits(self._group, retry.record, error, attempts=retry.attempts)

    async def _went(self, record: Record) -> None:
        """It stands aside no more, and the next of its key may go."""
        self.retried()
        await self._notices.gone(record)

    async def _decide(self, subscription: Subscription, cause: Cause, record: Record) -> Applied:
        """Load, decide, apply; after a conflict, again.

        Raises:
            Unavailable: the world, too many conflicts, or a handler that crashed.
            Rejected: it cannot be handled, ever.
        """
        name = subscription.event.type
        for _ in range(DECIDE_MOST):
            try:
                with span(
                    f"process {name}",
                    parent=cause.traceparent,
                    kind=SpanKind.CONSUMER,
                    attributes=_about(cause, record),
                ):
                    self._point(f"{self._group}:{name}:before")
                    applied = await self._writer.apply(await self._handle(subscription, cause, record))
                    self._point(f"{self._group}:{name}:after")
                    return applied
            except Conflict:
                metrics.conflicts.labels(self._group).inc()
        raise Contended()

    async def _handle(self, subscription: Subscription, cause: Cause, record: Record) -> Changeset:
        envelope = record.envelope()
        try:
            async with self._gate.through(cause.tenant):
                return await subscription.handle(cause, envelope)
        except (Conflict, Rejected, Unavailable):
            raise
        except asyncio.CancelledError as error:
            if being_cancelled():
                raise
            raise self._crashed(record, error) from error
        except Exception as error:
            raise self._crashed(record, error) from error

    def _crashed(self, record: Record, error: BaseException) -> Crashed:
        log.error(
            "a handler crashed", group=self._group, event_type=record.type, event_id=record.event_id, exc_info=error
        )
        return Crashed(f"{type(error).__name__}: {error}")

    async def _park(self, cause: Cause, record: Record, error: SumaError, *, attempts: int) -> None:
        metrics.parked.labels(self._group).inc()
        log.warning(
            "an event waits", group=self._group, event_type=record.type, event_id=record.event_id, error=str(error)
        )
        parking = Parking(record, "parked", _said(error), attempts, delay=backoff(0))
        await self._writer.apply(Changeset(cause), state="parked", parking=parking)
        await self._notices.waits(self._group, record, error, attempts=attempts)

    async def _reject(
        self, subscription: Subscription, cause: Cause, record: Record, error: SumaError, *, attempts: int
    ) -> None:
        """A dead letter, and the report to whoever waits, in one transaction.

        Raises:
            Stopped: it may not be dead, or cannot be reported: the lane goes no further.
            Unavailable: its original cannot be kept now.
        """
        if subscription.stubborn:
            raise self._stop(record, error)
        try:
            report = subscription.on_dead(cause, record, error)
            letter = await self._notices.letter(self._group, record, error, attempts=attempts)
            applied = await self._writer.apply(
                report.say(letter), state="dead", parking=Parking(record, "dead", _said(error), attempts)
            )
        except Unavailable:
            raise
        except Exception as failure:
            raise self._stop(record, Crashed(f"its report failed: {failure}")) from failure
        if applied.verdict == BEHIND:
            await self._park(cause, record, error, attempts=0)
        elif applied.verdict == FRESH:
            metrics.dead_letters.labels(self._group).inc()
            about = {"group": self._group, "event_type": record.type, "event_id": record.event_id}
            log.error("an event is dead", **about, error=str(error))

    def _stop(self, record: Record, error: SumaError) -> Stopped:
        """This lane goes no further; people must look. The others go on."""
        reason = f"{self._group} stopped at {record.type} {record.event_id}: {error}"
        log.error("a lane has stopped", group=self._group, event_id=record.event_id, error=str(error))
        self.stopped.append(reason)
        return Stopped(reason)


def being_cancelled() -> bool:
    """Is this task itself to end? If not, a CancelledError came from something that was awaited, and is a mere
    failure."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _about(cause: Cause, record: Record) -> dict[str, str | int]:
    """Messaging attributes of a span (OpenTelemetry semantic conventions)."""
    return {
        "messaging.system": "suma",
        "messaging.operation.type": "process",
        "messaging.destination.name": record.topic,
        "messaging.destination.partition.id": str(record.part),
        "messaging.message.id": record.event_id,
        "messaging.consumer.group.name": cause.group,
    }


def _said(error: SumaError) -> str:
    """As `bus.parked` keeps it: its code first, by which it is found."""
    return f"{error.code}: {error}"
