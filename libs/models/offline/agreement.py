"""A skill that a planner names must agree with the one that its own words mean; else the person is asked (DESIGN §7).

A model may call a tool by a name that reads well and is another's: "delete the copies" with a tool that moves. The
matcher, which knows the skills' own phrases, reads the description of each step that changes something and says so
where it is sure. A look that another skill would have done as well harms nobody, and is not asked about.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from libs.events.committee import Task
from libs.events.values import Plan
from libs.models.offline import phrasebook as say
from libs.models.offline.matching import Matcher, rivals
from libs.models.offline.voice import candidate, use_of
from libs.models.ports import Drafted, Model, PlannerOutcome, Said, Unclear
from libs.retrieval.words import language_of
from libs.skills import ToolDefinition


class Agreeing:
    """Another model, whose plans are read once more before anyone else sees them."""

    def __init__(self, model: Model, matcher: Matcher) -> None:
        self._model, self._matcher = model, matcher

    @property
    def name(self) -> str:
        return self._model.name

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        outcome = await self._model.plan(task, catalogue)
        if not isinstance(outcome, Drafted) or _decided(task):
            return outcome
        return await self._doubt(task, outcome, catalogue) or outcome

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> Said:
        return await self._model.review(task, plan, catalogue)

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> Drafted:
        """Nobody can be asked here: a mended plan that does not agree comes back as the one that was rejected."""
        mended = await self._model.resolve(task, plan, reason, catalogue)
        if _decided(task) or await self._doubt(task, mended, catalogue) is None:
            return mended
        return Drafted(plan, mended.usage)

    def answer(self, task: Task) -> AsyncIterator[Said]:
        return self._model.answer(task)

    async def _doubt(self, task: Task, drafted: Drafted, catalogue: Sequence[ToolDefinition]) -> Unclear | None:
        for step in drafted.plan.steps:
            if not step.mutates:
                continue
            found = await rivals(self._matcher, step, catalogue)
            if found:
                language = language_of(task.text)
                told = (f"({n}) {use_of(each.tool, language)}" for n, each in enumerate(found, 1))
                choices = say.OR[language].join(told)
                question = say.WHICH[language].format(said=step.description.rstrip("."), choices=choices)
                named = (candidate(each.tool, each.score, language=language) for each in found)
                return Unclear(question, tuple(named), usage=drafted.usage)
        return None


def _decided(task: Task) -> bool:
    """The person has said which, so nothing is asked again."""
    return task.clarification is not None or task.skill is not None
