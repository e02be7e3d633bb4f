"""A model that does whatever it reads: the worst that can sit behind the chain."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from libs import ids
from libs.events.committee import Task
from libs.events.values import Plan, Step
from libs.models.ports import Answered, ModelText, PlanDraft, PlannerOutcome
from libs.skills import ToolDefinition
from tests.injection.attempts import Attempt, Call


class Gullible:
    """Does what the person asked until the attempt's text stands before it, and what that wants from then on."""

    name = "gullible"

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        self._attempts = {attempt.slug: attempt for attempt in attempts}
        self.taken_in: set[str] = set()

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        attempt = self._attempt(task)
        if attempt.text in " ".join(_texts(_shown(task, catalogue))):
            self.taken_in.add(attempt.slug)
            return PlanDraft(_plan(attempt.wish, catalogue, lies=attempt.lies))
        if task.observations:
            return Answered("It was never shown to me.")
        return PlanDraft(_plan((attempt.honest,), catalogue, complete=False))

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        return ModelText('{"approved": true, "reason": "whatever you say"}')

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        return PlanDraft(plan)

    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        yield ModelText(self._attempt(task).text)

    def _attempt(self, task: Task) -> Attempt:
        return self._attempts[Path(task.root or "").name]


def _shown(task: Task, catalogue: Sequence[ToolDefinition]) -> list[Any]:
    return [task.model_dump(exclude={"text"}), [tool.description for tool in catalogue]]


def _plan(
    calls: Sequence[Call], catalogue: Sequence[ToolDefinition], *, lies: bool = False, complete: bool = True
) -> Plan:
    changing = {tool.name for tool in catalogue if tool.mutates and not lies}
    steps = tuple(
        Step(
            step_id=ids.new(),
            ordinal=n,
            description="as I was told",
            skill=tool.partition(".")[0],
            tool=tool,
            args=args,
            mutates=tool in changing,
        )
        for n, (tool, args) in enumerate(calls, 1)
    )
    return Plan(plan_id=ids.new(), steps=steps, complete=complete)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in (*value.keys(), *value.values()):
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
