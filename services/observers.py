"""Observers of the settings: a consumer group of its own, so that they neither delay nor undo a turn.

They read `conversation.outbound` alone, which has every step of a session in order.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from libs.changes import Cause, Changeset
from libs.events import Envelope, Event, PlanProposed, StepChanged, StepState, TurnEnded, TurnStarted
from libs.events.topics import OBSERVERS
from libs.hooks import Hook, Observed, Point, frozen
from libs.hooks.threads import HookThread
from libs.runtime import Service, Subscription

EVENTS: tuple[type[Event], ...] = (TurnStarted, PlanProposed, StepChanged, TurnEnded)
RESULTS = (StepState.SUCCEEDED, StepState.FAILED, StepState.DENIED, StepState.UNKNOWN)
REMEMBERED = 1_000
"""Events of which this process remembers the observers that have handled them: one may be decided twice."""


def service(hooks: Sequence[Hook], *, seconds: float) -> Service:
    """Return the group of the observers; without any it has no subscription, and the log does not wait for it."""
    on = Observers(hooks, seconds=seconds)
    return Service(OBSERVERS, [Subscription(event, on.handle) for event in EVENTS] if hooks else [])


class Observers:
    def __init__(self, hooks: Sequence[Hook], *, seconds: float) -> None:
        self._threads = [HookThread(hook, seconds) for hook in hooks]
        self._done: OrderedDict[str, set[tuple[Point, str]]] = OrderedDict()

    async def handle(self, cause: Cause, event: Envelope[Any]) -> Changeset:
        """Call the observers of this event. After an error it is handled again, by those that have not done so yet."""
        done = self._done.setdefault(event.id, set())
        while len(self._done) > REMEMBERED:
            self._done.popitem(last=False)
        failures: list[BaseException] = []
        for seen in _observed(cause, event):
            for thread in self._threads:
                mark = (seen.point, f"{thread.hook.name} {seen.data.get('attempt', '')}")
                if thread.hook.point is not seen.point or mark in done:
                    continue
                # One that fails must not keep the event from the others.
                error = (await thread.call(seen)).error
                if error is None:
                    done.add(mark)
                else:
                    failures.append(error)
        if failures:
            raise failures[0]
        return Changeset(cause)


def _observed(cause: Cause, event: Envelope[Any]) -> Iterator[Observed]:
    whole = event.data.model_dump(mode="json", by_alias=True)
    for point, data in _points(event.data, whole):
        yield Observed(
            point=point,
            id=event.id,
            tenant=cause.tenant,
            session=cause.session or "",
            turn=event.data.turn_id,
            at=event.time,
            data=frozen(data),
        )


def _points(event: Event, data: dict[str, Any]) -> Iterator[tuple[Point, dict[str, Any]]]:
    match event:
        case TurnStarted():
            yield Point.TASK_START, data
        case PlanProposed(reviews=reviews):
            rejections = [review.model_dump(mode="json") for review in reviews if not review.approved]
            yield Point.PLAN_CREATED, data
            for attempt, rejection in enumerate(rejections, 1):
                yield Point.PLAN_REJECTED, {"turn_id": event.turn_id, "attempt": attempt, **rejection}
            yield Point.PLAN_APPROVED, data
        case StepChanged(state=StepState.RUNNING):
            yield Point.TOOL_CALL, data
        case StepChanged(state=state) if state in RESULTS:
            yield Point.TOOL_RESULT, data
        case TurnEnded(state="completed"):
            yield Point.TASK_COMPLETE, data
        case TurnEnded(reason=reason):
            if reason == "COMMITTEE_REJECTED":
                yield Point.PLAN_REJECTED, {"attempt": 3, **data}
            yield Point.TASK_FAILED, data
