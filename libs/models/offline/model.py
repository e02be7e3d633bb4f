"""The offline model: deterministic, without network, and honest about what it cannot do (DESIGN §11)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime

from libs import ids
from libs.clock import SystemClock
from libs.events.committee import Task
from libs.events.values import Plan
from libs.models.offline import answers, critic, resolver
from libs.models.offline.matching import Matcher
from libs.models.offline.planner import Planner
from libs.models.offline.replies import Wish
from libs.models.ports import Answered, Drafted, PlannerOutcome, Said
from libs.retrieval import Embedder
from libs.skills import Categories, ToolDefinition

NOW = SystemClock().now


class OfflineModel:
    """Plans by matching words to the tools of the catalogue. The same task gives the same plan, but for its ids."""

    name = "offline"

    def __init__(
        self,
        embedder: Embedder,
        categories: Categories,
        *,
        new_id: Callable[[], str] = ids.new,
        now: Callable[[], datetime] = NOW,
    ) -> None:
        """`now`, in UTC, is what "last year" and "older than two weeks" are counted from."""
        self._categories, self._new_id, self._now = categories, new_id, now
        self._planner = Planner(Matcher(embedder), categories, new_id=new_id, now=now)

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        """One plan does the whole request, so once its steps have been seen, what is left is the answer."""
        if task.observations:
            return Answered("".join(answers.answer(task, self._categories)))
        return await self._planner.plan(task, catalogue)

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> Said:
        wish = await self._planner.wish(task, catalogue) if task.clarification else Wish(task.text)
        if critic.just_that(wish.calls, plan):
            return Said(critic.APPROVED)
        asked = task.model_copy(update={"text": wish.text, "clarification": None, "replies": ()})
        return Said(critic.review(asked, plan, catalogue, categories=self._categories, now=self._now()))

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> Drafted:
        fresh = await self._planner.plan(task, catalogue)
        if isinstance(fresh, Drafted) and not resolver.same(fresh.plan, plan):
            return fresh
        return Drafted(resolver.without(plan, reason, new_id=self._new_id))

    async def answer(self, task: Task) -> AsyncIterator[Said]:
        for sentence in answers.answer(task, self._categories):
            yield Said(sentence)
