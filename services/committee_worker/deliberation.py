"""The state of a deliberation, carried by its leases from call to call."""

from __future__ import annotations

from typing import Any

from libs.events import Plan, PlanRequested, Review, Task, Usage, Value
from libs.leases import Lease

DELIBERATION = "deliberation"
"""The member of a lease's input that is the deliberation."""


class Deliberation(Value):
    """The input of the next model call."""

    request_id: str
    turn_id: str
    round: int
    task: Task
    wish: str | None = None
    plan: Plan | None = None
    rejected: tuple[Plan, ...] = ()
    """The earlier drafts, oldest first."""
    reviews: tuple[Review, ...] = ()
    usage: Usage = Usage()

    @property
    def rejections(self) -> int:
        # It also numbers the calls (`handlers._call_id`), so earlier reviews are never dropped.
        return sum(not review.approved for review in self.reviews)

    def reviewed(self, review: Review) -> Deliberation:
        return self.model_copy(update={"reviews": (*self.reviews, review)})

    def drafted(self, plan: Plan) -> Deliberation:
        earlier = (self.plan,) if self.plan is not None else ()
        return self.model_copy(update={"plan": plan, "rejected": (*self.rejected, *earlier)})

    def spent(self, usage: Usage) -> Deliberation:
        return self.model_copy(update={"usage": self.usage.plus(usage)})

    def dump(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


def opened(request: PlanRequested) -> Deliberation:
    """Return the initial deliberation of a request."""
    return Deliberation(
        request_id=request.request_id,
        turn_id=request.turn_id,
        round=request.round,
        task=request.task,
    )


def of(lease: Lease) -> Deliberation:
    """Return the deliberation in a lease's input."""
    return Deliberation.model_validate(lease.input[DELIBERATION])
