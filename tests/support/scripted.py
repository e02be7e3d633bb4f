"""A model that plays the replies it was given, in order: prose instead of JSON, a plan repeated, a model that is down.

A real adapter of the port, so that tests of the committee and the turn need no patching.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Generic, TypeVar

from libs.errors import Rejected
from libs.events.committee import Task
from libs.events.values import Plan
from libs.models.ports import ModelText, PlanDraft, PlannerOutcome
from libs.skills import ToolDefinition

T = TypeVar("T")


class OutOfReplies(Rejected):
    """The script has no further reply for this verb."""

    code = "OUT_OF_REPLIES"


class Scripted:
    """Each verb takes the next of its own replies; an exception among them is raised. `asked` lists the verbs."""

    name = "scripted"

    def __init__(
        self,
        *,
        plans: Iterable[PlannerOutcome | Exception] = (),
        reviews: Iterable[str | Exception] = (),
        resolutions: Iterable[Plan | Exception] = (),
        answers: Iterable[Sequence[str] | Exception] = (),
    ) -> None:
        self._plans: _Replies[PlannerOutcome] = _Replies("plan", plans)
        self._reviews = _Replies("review", reviews)
        self._resolutions = _Replies("resolve", resolutions)
        self._answers = _Replies("answer", answers)
        self.asked: list[str] = []

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        self.asked.append("plan")
        return self._plans.next()

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        self.asked.append("review")
        return ModelText(self._reviews.next())

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        self.asked.append("resolve")
        return PlanDraft(self._resolutions.next())

    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        self.asked.append("answer")
        for delta in self._answers.next():
            yield ModelText(delta)


class _Replies(Generic[T]):
    def __init__(self, verb: str, replies: Iterable[T | Exception]) -> None:
        self._verb, self._left = verb, list(replies)

    def next(self) -> T:
        if not self._left:
            raise OutOfReplies(f"no reply is left for {self._verb}")
        reply = self._left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply
