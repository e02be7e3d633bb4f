"""The consumer: runs a group's records through their lanes, and handles every outcome of a handler.

A Conflict is loaded and decided again, up to five times. After `Unavailable` or a crash of the handler, the event is
parked with every later event of its key and topic, and retried with exponential backoff. After `Rejected`, or too many
attempts, it becomes a dead letter; the failure report to the waiting turn is in the same transaction (bus.md
3, 15, 16).
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice

from opentelemetry.trace import SpanKind

from libs.bus.parked import Due, ParkedEvents
from libs.bus.ports import Partition, Record
from libs.changes.batch import Parking
from libs.changes.changeset import Cause, Changeset
from libs.changes.lanes import Lanes, Stopped
from libs.changes.writer import BEHIND, FRESH, Add, Applied, Writer
from libs.errors import Conflict, Rejected, SumaError, Unavailable
from libs.leases.ports import DEATHS_MOST, Exhausted, ProcessDied
from libs.runtime.failure_reports import FailureReports
from libs.runtime.service import Service, Subscription
from libs.scheduling import FairSemaphore
from libs.telemetry import metrics
from libs.telemetry.logs import logger
from libs.telemetry.traces import span

DECIDE_MOST = 5
ATTEMPTS_MOST = 10
AGE_MOST_SECONDS = 15 * 60.0
FAULTS_MOST = 2
"""Attempts after which a fault of our code ends the work: another attempt would fail in the same way."""
FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, ValueError)

log = logger("consumer")
Point = Callable[[str], None]
Taken = tuple[Subscription, Record, Callable[[], None]]
GATHERED_MOST = 64
"""Most records in one gathered changeset."""
DECIDING_MOST, DECIDING_EACH = 24, 16
"""Handlers that may load and decide at once in one process, in all and per tenant; beyond that, tenants take turns. A
higher limit decides no more: each database read would only wait longer for the other handlers.
"""
FUSED_MOST = 10_000
"""Fused events that are remembered until their records arrive; one that is forgotten is handled again, and answered."""
RETRIES_AT_ONCE, RETRYING_MOST = 32, 256
"""Parked events that one retry pass claims, and that may run at once."""


def deciding() -> FairSemaphore:
    """Return the semaphore that a process's consumers and its lease runner share."""
    return FairSemaphore(DECIDING_MOST, each=DECIDING_EACH)


class Contended(Unavailable):
    """Five attempts in a row met a conflict; the event will be retried."""

    code = "CONTENDED"


class Crashed(Unavailable):
    """The handler failed with an unexpected error; see the log."""

    code = "HANDLER_CRASHED"

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.is_fault = isinstance(error, FAULTS)


def backoff(attempts: int) -> float:
    """Return the seconds until the next attempt: doubling from 0.5 to 60, with jitter over the upper half."""
    bound = min(60.0, 0.5 * 2.0**attempts)
    return bound * random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries, guards nothing


class Consumer:
    """Handles the records of one consumer group in one process."""

    def __init__(
        self,
        service: Service,
        *,
        writer: Writer,
        lanes: Lanes,
        parked: ParkedEvents,
        notices: FailureReports,
        point: Point,
        now: Callable[[], datetime],
        gate: FairSemaphore | None = None,
        alone: asyncio.Lock | None = None,
        retried: Callable[[], None] = lambda: None,
    ) -> None:
        """`retried` is called after a parked event is done, so that the next of its key can run."""
        self._group = service.name
        self._subscriptions = {s.event.type: s for s in service.subscriptions}
        self._writer = writer
        self._lanes = lanes
        self._parked, self._notices = parked, notices
        self._point = point
        self._now, self._since = now, dict[tuple[str, int], str]()
        self._gate, self._alone = gate or deciding(), alone or asyncio.Lock()
        self._batches, self._batch_delay = service.batch, service.batch_delay
        self._gathered: dict[str, deque[Taken]] = {}
        self._fused: OrderedDict[str, None] = OrderedDict()
        """Events that were handled in the commit of their cause, and whose records have not arrived yet."""
        self._retrying: set[int] = set()
        self._retried = retried
        self.stopped: list[str] = []
        """Reasons why lanes have stopped, for `/readyz`."""

    def gained(self, partition: Partition) -> None:
        """Note that this process now owns the partition; the previous owner may have died while it handled a record."""
        self._since[partition] = self._now().isoformat()

    def take(self, record: Record, done: Callable[[], None]) -> None:
        """Queue a record in its lane; an event without a subscription is done at once."""
        subscription = self._subscriptions.get(record.type)
        if subscription is None:
            done()
            return

        if self._batches:
            self._gather((subscription, record, done))
            return

        async def job() -> None:
            # `done` lets the offset pass the record, so it follows the commit (bus.md 2).
            if record.event_id in self._fused:
                del self._fused[record.event_id]
            else:
                await self._first(subscription, record)
            done()

        self._lanes.submit(self._group, record.key, job)

    def listens(self, record: Record) -> bool:
        """Return whether the group has a subscription to this event."""
        return record.type in self._subscriptions

    def may_fuse(self, record: Record) -> bool:
        """Return whether the event may be handled in the commit of its cause, and a handler has a place now."""
        fuses = self._subscriptions[record.type].fuses and not self._batches
        return fuses and self._gate.admits(record.tenant)

    async def fuse(self, record: Record, uncommitted: frozenset[str], add: Add) -> None:
        """Decide on an event of these groups' chain, and add what follows to it.

        Raises:
            SumaError: it is left to the lane; nothing was added.
        """
        subscription, name = self._subscriptions[record.type], record.type
        cause = Cause.record(self._group, record, urgent=subscription.urgent)
        cause = replace(cause, uncommitted=uncommitted)
        with self._span(record):
            self._point(f"{self._group}:{name}:before")
            decided = await self._handle(subscription, cause, record)
            add(decided.on_commit(lambda: self._note_fused(record)))

    def _note_fused(self, record: Record) -> None:
        self._fused[record.event_id] = None
        if len(self._fused) > FUSED_MOST:
            self._fused.popitem(last=False)
        metrics.fused.labels(self._group).inc()
        self._point(f"{self._group}:{record.type}:after")

    async def retry_due(self) -> None:
        """Retry the parked events that are due."""
        room = RETRYING_MOST - len(self._retrying)
        for retry in await self._parked.retries(self._group, most=min(RETRIES_AT_ONCE, room)):
            # A claim holds for 30 s: a retry that takes longer is claimed again while it still runs.
            if retry.seq not in self._retrying:
                self._retrying.add(retry.seq)
                self._lanes.submit(self._group, retry.record.key, lambda retry=retry: self._again(retry))  # type: ignore[misc]

    def _gather(self, taken: Taken) -> None:
        """Queue a record with the others of its partition; one job handles them together."""
        lane = f"{taken[1].topic}:{taken[1].part}"
        waiting = self._gathered.setdefault(lane, deque())
        waiting.append(taken)
        # One job per lane: it takes everything that has arrived by the time that it runs.
        if len(waiting) == 1:
            self._lanes.submit(self._group, lane, lambda: self._handle_gathered(lane))

    async def _handle_gathered(self, lane: str) -> None:
        waiting = self._gathered[lane]
        while waiting:
            if self._batch_delay and len(waiting) < GATHERED_MOST:
                await asyncio.sleep(self._batch_delay)
            taken = list(islice(waiting, GATHERED_MOST))
            # One by one, so that only the record at fault is parked or rejected.
            if not await self._apply_gathered(lane, taken):
                for subscription, record, _ in taken:
                    await self._first(subscription, record)
            for _, _, done in taken:
                # Removed only when done: `_gather` starts another job once the lane is empty.
                waiting.popleft()
                done()

    async def _apply_gathered(self, lane: str, taken: Sequence[Taken]) -> bool:
        """Apply these records as one changeset; return False when they must be handled one by one."""
        name = taken[0][0].event.type
        try:
            # Without spans: no caller waits for them.
            changesets = [
                await self._handle(subscription, Cause.record(self._group, record, urgent=subscription.urgent), record)
                for subscription, record, _ in taken
            ]
            self._point(f"{self._group}:{name}:before")
            applied = await self._writer.apply_gathered(changesets, lane=(self._group, lane))
            self._point(f"{self._group}:{name}:after")
        except (Conflict, Rejected, Unavailable):
            return False
        # A single record whose key is parked; several with such a one conflict in `bus.guard`.
        return applied.verdict != BEHIND

    async def _first(self, subscription: Subscription, record: Record) -> None:
        cause = Cause.record(self._group, record, urgent=subscription.urgent)
        try:
            async with AsyncExitStack() as held:
                if self._may_have_killed(record):
                    cause = replace(cause, alone=True)
                    if await self._is_handled(record, held):
                        return
                applied = await self._decide(subscription, cause, record)
            # Keep the order of its key: it waits behind the parked event.
            if applied.verdict == BEHIND:
                await self._park(cause, record, SumaError("an earlier event of its key is parked"), attempts=0)
        except Unavailable as error:
            await self._park(cause, record, error, attempts=1)
        except Rejected as error:
            try:
                await self._reject(subscription, cause, record, error, attempts=1)
            except Unavailable as unavailable:
                await self._park(cause, record, unavailable, attempts=1)

    def _may_have_killed(self, record: Record) -> bool:
        """Return whether the partition's previous owner may have begun to handle this event, and died of it."""
        # Only an older event can have been begun by it: a new one costs no query.
        return (record.header("time") or "") < self._since.get((record.topic, record.part), "")

    async def _is_handled(self, record: Record, held: AsyncExitStack) -> bool:
        """Record the attempt at an event that a dead process may have begun; return whether it is handled already.

        An event that was begun before is handled alone, so that the next death can only be its own.

        Raises:
            ProcessDied: the event was begun too often.
        """
        begun = await self._parked.attempt(self._group, record.event_id, alone=False)
        if begun:
            await held.enter_async_context(self._alone)
            # Counted again only here: beside others a death proves nothing about this event.
            begun = await self._parked.attempt(self._group, record.event_id, alone=True)
        if begun is not None and begun >= DEATHS_MOST:
            raise ProcessDied(f"The process died {begun} times while it handled {record.type}.")
        return begun is None

    async def _again(self, retry: Due) -> None:
        record, subscription = retry.record, self._subscriptions.get(retry.record.type)
        cause = Cause.record(self._group, record, urgent=True, parked=retry.seq)
        try:
            if subscription is None:
                # The group has no subscription any more: mark the event done, so that later ones of its key can run.
                await self._writer.apply(Changeset(cause))
            else:
                await self._decide(subscription, cause, record)
            await self._unpark(record)
        except Unavailable as error:
            await self._postpone_or_dead_letter(retry, subscription, cause, error)
        except Rejected as error:
            assert subscription is not None
            await self._dead_letter(retry, subscription, cause, error)
        # Not in a `finally`: a stopped lane would queue the same event again with each claim.
        self._retrying.discard(retry.seq)

    async def _postpone_or_dead_letter(
        self, retry: Due, subscription: Subscription | None, cause: Cause, error: Unavailable
    ) -> None:
        """Postpone a failed event, or dead-letter it when its attempts or its age are used up."""
        most = FAULTS_MOST if is_fault(error) else ATTEMPTS_MOST
        is_exhausted = retry.attempts >= most or retry.age >= AGE_MOST_SECONDS
        if is_exhausted and subscription is not None:
            exhausted = Exhausted(f"{retry.attempts} attempts failed; the last error: {error}", code=error.code)
            await self._dead_letter(retry, subscription, cause, exhausted)
        else:
            await self._postpone(retry, error)

    async def _dead_letter(self, retry: Due, subscription: Subscription, cause: Cause, error: SumaError) -> None:
        """Dead-letter the event; postpone it when its original cannot be stored now."""
        try:
            await self._reject(subscription, cause, retry.record, error, attempts=retry.attempts)
            await self._unpark(retry.record)
        # The dead letter needs the object store: while that is away, the event waits like any other.
        except Unavailable as unavailable:
            await self._postpone(retry, unavailable)

    async def _postpone(self, retry: Due, error: SumaError) -> None:
        with suppress(Unavailable):  # The claim has postponed it already.
            await self._parked.postpone(self._group, retry.seq, delay=backoff(retry.attempts), error=_error_text(error))
        await self._notices.waits(self._group, retry.record, error, attempts=retry.attempts)

    async def _unpark(self, record: Record) -> None:
        """Clear the notice of an event that is no longer parked, and let the next of its key run."""
        self._retried()
        await self._notices.gone(record)

    async def _decide(self, subscription: Subscription, cause: Cause, record: Record) -> Applied:
        """Load, decide and apply; retry on a conflict.

        Raises:
            Unavailable: a dependency is unavailable, there were too many conflicts, or the handler crashed.
            Rejected: the event can never be handled.
        """
        name = subscription.event.type
        for attempt in range(DECIDE_MOST):
            try:
                # After a conflict rows carry the event itself: its place in the log may be what they lacked.
                cause = replace(cause, again=attempt > 0)
                with self._span(record):
                    self._point(f"{self._group}:{name}:before")
                    applied = await self._writer.apply(await self._handle(subscription, cause, record))
                    self._point(f"{self._group}:{name}:after")
                    return applied
            except Conflict:
                metrics.conflicts.labels(self._group).inc()
        raise Contended()

    def _span(self, record: Record) -> AbstractContextManager[object]:
        attributes = _span_attributes(self._group, record)
        parent = record.header("traceparent")
        return span(f"process {record.type}", parent=parent, kind=SpanKind.CONSUMER, attributes=attributes)

    async def _handle(self, subscription: Subscription, cause: Cause, record: Record) -> Changeset:
        envelope = record.envelope()
        try:
            # Only deciding needs a place at the gate; a changeset that waits for its commit takes none.
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
            "handler crashed", group=self._group, event_type=record.type, event_id=record.event_id, exc_info=error
        )
        return Crashed(error)

    async def _park(self, cause: Cause, record: Record, error: SumaError, *, attempts: int) -> None:
        metrics.parked.labels(self._group).inc()
        log.warning(
            "parked event", group=self._group, event_type=record.type, event_id=record.event_id, error=str(error)
        )
        parking = Parking(record, "parked", _error_text(error), attempts, delay=backoff(0))
        await self._writer.apply(Changeset(cause), state="parked", parking=parking)
        await self._notices.waits(self._group, record, error, attempts=attempts)

    async def _reject(
        self, subscription: Subscription, cause: Cause, record: Record, error: SumaError, *, attempts: int
    ) -> None:
        """Write the dead letter and the failure report in one transaction.

        Raises:
            Stopped: its report failed; the lane stops.
            Unavailable: the original cannot be stored now.
        """
        try:
            report = subscription.on_dead(cause, record, error)
            # The original is durable before the transaction that names it.
            dead_letter = await self._notices.dead_letter(self._group, record, error, attempts=attempts)
            applied = await self._writer.apply(
                report.emit(dead_letter), state="dead", parking=Parking(record, "dead", _error_text(error), attempts)
            )
        except Unavailable:
            raise
        # Without the report a turn would wait for ever: stop the lane and call an operator instead.
        except Exception as failure:
            raise self._stop(
                record, Unavailable(f"its report could not be written: {failure}", code=Crashed.code)
            ) from failure
        # Its key is parked: it fails in its turn, after the earlier events.
        if applied.verdict == BEHIND:
            await self._park(cause, record, error, attempts=0)
        elif applied.verdict == FRESH:
            metrics.dead_letters.labels(self._group).inc()
            about = {"group": self._group, "event_type": record.type, "event_id": record.event_id}
            log.error("dead-lettered event", **about, error=str(error))

    def _stop(self, record: Record, error: SumaError) -> Stopped:
        """Stop this lane until an operator intervenes; the other lanes go on."""
        reason = f"{self._group} stopped at {record.type} {record.event_id}: {error}"
        log.error("stopped lane", group=self._group, event_id=record.event_id, error=str(error))
        self.stopped.append(reason)
        return Stopped(reason)


def is_fault(error: SumaError) -> bool:
    """Return whether our code failed by itself, and not a dependency of it."""
    return isinstance(error, Crashed) and error.is_fault


def being_cancelled() -> bool:
    """Return whether this task itself is being cancelled. Otherwise a CancelledError came from an awaited call, and is
    an ordinary failure.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _span_attributes(group: str, record: Record) -> dict[str, str | int]:
    """Return the messaging attributes of a span (OpenTelemetry semantic conventions)."""
    return {
        "messaging.system": "suma",
        "messaging.operation.type": "process",
        "messaging.destination.name": record.topic,
        "messaging.destination.partition.id": str(record.part),
        "messaging.message.id": record.event_id,
        "messaging.consumer.group.name": group,
    }


def _error_text(error: SumaError) -> str:
    """Format an error for `bus.parked`; the code comes first, so that queries can find it."""
    return f"{error.code}: {error}"
