"""Check another model's plan: each step must use the tool that its own description means, or the user is asked.

A model may name a tool that reads well and does something else: "remove the duplicates" with a tool that moves. The
offline planner reads the description of each step that changes something. It objects only where it understands the
words fully and they mean another tool.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from libs.events.committee import Task
from libs.events.values import Candidate, Plan, Step
from libs.models.offline import texts
from libs.models.offline.planner import Planner
from libs.models.ports import ClarificationNeeded, Model, ModelText, PlanDraft, PlannerOutcome
from libs.skills import ToolDefinition


class Agreeing:
    """Another model, whose plans are read once more before they are used."""

    def __init__(self, model: Model, planner: Planner) -> None:
        self._model, self._planner = model, planner

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def behind(self) -> Model:
        """The model itself, for readiness."""
        return self._model

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        outcome = await self._model.plan(task, catalogue)
        if not isinstance(outcome, PlanDraft) or _decided(task):
            return outcome
        return await self._objection(task, outcome, catalogue) or outcome

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        return await self._model.review(task, plan, catalogue)

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        """Return the rejected plan if the mended one does not agree: a resolution cannot ask."""
        mended = await self._model.resolve(task, plan, reason, catalogue)
        if _decided(task) or await self._objection(task, mended, catalogue) is None:
            return mended
        return PlanDraft(plan, mended.usage)

    def answer(self, task: Task) -> AsyncIterator[ModelText]:
        return self._model.answer(task)

    async def _objection(
        self, task: Task, drafted: PlanDraft, catalogue: Sequence[ToolDefinition]
    ) -> ClarificationNeeded | None:
        for step in drafted.plan.steps:
            if step.mutates and (other := await self._other(task, step, catalogue)) is not None:
                tools = {tool.name: tool for tool in catalogue}
                both = [tools[name] for name in (other, step.tool) if name in tools]
                ways = texts.choices([tool.description.rstrip(".") for tool in both])
                named = tuple(Candidate(skill=tool.skill, score=1.0, description=tool.description) for tool in both)
                question = texts.DISAGREES.format(said=step.description.rstrip("."), ways=ways)
                return ClarificationNeeded(question, named, usage=drafted.usage)
        return None

    async def _other(self, task: Task, step: Step, catalogue: Sequence[ToolDefinition]) -> str | None:
        """Return the tool that the step's words mean, if it is another one that changes something."""
        asked = Task(text=step.description, intent=task.intent, workspace=task.workspace, tools=("*",))
        meant = await asyncio.to_thread(self._planner.plan, asked, catalogue)
        if not isinstance(meant, PlanDraft):
            return None
        changing = [each.tool for each in meant.plan.steps if each.mutates]
        return None if not changing or step.tool in changing else changing[0]


def _decided(task: Task) -> bool:
    """Return whether the user has chosen a tool already."""
    return task.clarification is not None or task.skill is not None
