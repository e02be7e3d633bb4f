"""The offline model: deterministic, without network, English, and small (architecture.md 12)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import datetime

from libs import ids
from libs.clock import SystemClock
from libs.events.committee import Task
from libs.events.values import Plan
from libs.models.offline import answers, texts
from libs.models.offline import review as rules
from libs.models.offline.planner import GAP, SECONDS_MOST, THRESHOLD, Planner
from libs.models.ports import Answered, ClarificationNeeded, ModelText, PlanDraft, PlannerOutcome
from libs.multimodal import compiler
from libs.skills import Categories, ToolDefinition
from libs.texts import literal

NOW = SystemClock().now


class OfflineModel:
    """Plans by the intents that skills declare. The same task gives the same plan, but for its ids."""

    name = "offline"

    def __init__(
        self,
        categories: Categories,
        *,
        new_id: Callable[[], str] = ids.new,
        now: Callable[[], datetime] = NOW,
        threshold: float = THRESHOLD,
        gap: float = GAP,
        seconds: float = SECONDS_MOST,
    ) -> None:
        """`now`, in UTC, is what "last year" and "older than two weeks" are counted from."""
        self._categories, self._new_id = categories, new_id
        self._planner = Planner(categories, new_id=new_id, now=now, threshold=threshold, gap=gap, seconds=seconds)

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        """One plan does the whole request, so once its steps have been seen, what is left is the answer."""
        if task.observations:
            return Answered("".join(answers.answer(task, self._categories)))
        # A thread, and bounded by the planner itself: the event loop serves everything else.
        match outcome := await asyncio.to_thread(self._planner.plan, task, catalogue):
            case Answered(text=text):
                return replace(outcome, text=literal(text))
            case ClarificationNeeded(question=question):
                return replace(outcome, question=literal(question))
        return outcome

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        if await asyncio.to_thread(rules.is_document, task.text, plan, catalogue):
            return ModelText(rules.APPROVED)
        asked = await asyncio.to_thread(self._planner.wish, task, catalogue)
        whole = task.model_copy(update={"text": asked, "clarification": None, "replies": ()})
        return ModelText(await asyncio.to_thread(rules.review, whole, plan, catalogue))

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        # Without observations: `plan` takes a task that has some as done, and answers.
        fresh = await self.plan(task.model_copy(update={"observations": ()}), catalogue)
        if isinstance(fresh, PlanDraft) and not rules.same(compiler.worded(fresh.plan, task.text), plan):
            return fresh
        return PlanDraft(rules.without(plan, reason, new_id=self._new_id))

    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        if (told := texts.left_out(seen.description for seen in task.observations)) is not None:
            yield ModelText(literal(told))
        for sentence in answers.answer(task, self._categories):
            yield ModelText(sentence)
