"""The `Model` port over a vendor: plans, reviews and revisions as structured output with bounded repair, and streamed
answers.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from textwrap import shorten
from typing import TypeVar

from libs.budgets import Amount, Budgets
from libs.errors import Unavailable
from libs.events.committee import Task
from libs.events.values import Plan, Usage
from libs.models.ports import InvalidModelOutput, ModelText, PlanDraft, PlannerOutcome
from libs.models.vendors import pictures, prompts, replies
from libs.models.vendors.client import Opened
from libs.models.vendors.errors import TooLong
from libs.models.vendors.model_call import Ask, Form, ModelCall, Piece
from libs.models.vendors.pricing import Price, Pricing, listing
from libs.resilience import GuardedCall, State
from libs.skills import ToolDefinition
from libs.telemetry import metrics

REPAIRS = 2
"""Repairs after the first answer: given the validator's message, a model repairs its answer within two, or never."""
LOOK_SECONDS = 3.0
"""Seconds between checks whether a vendor is back."""
WHY_MOST = 500
QUOTED_MOST = 4000
"""Characters of an unusable answer that are sent back to the model."""
PLANNED = Form("propose", "A plan, an answer or a question.", replies.Reply.model_json_schema())
JUDGED = Form("judge", "The verdict on the plan.", replies.Verdict.model_json_schema())
T = TypeVar("T")


class VendorModel:
    """A vendor's model. If the process dies before an answer is committed, the call is repeated and paid for again; a
    committed one never is.

    The payer named in `budgets` (`paid_by`) pays for each call; `budgets` is None where a person tries a model. A model
    that sees is shown the pictures that a person attached and steps have read, which `load` returns; without it none
    are shown.
    """

    def __init__(
        self,
        opened: Opened,
        guard: GuardedCall,
        *,
        price: Price | None,
        now: Callable[[], datetime],
        budgets: Budgets | None,
        load: pictures.Load | None = None,
    ) -> None:
        pricing = Pricing(opened.choice.name, price, listing(opened))
        self._model_call = ModelCall(opened, guard, pricing, budgets=budgets)
        self._most = opened.bounds.input_letters
        self._data, self._now = prompts.Rendered(self._most), now
        self._load = load if opened.choice.sees else None
        self._checked_at, self._has_answered = float("-inf"), False

    @property
    def name(self) -> str:
        return self._model_call.name

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        tools = _allowed(task, catalogue)
        found, usage = await self._repaired(
            await self._seeing(self._planning(task, tools)),
            lambda piece: replies.outcome(piece.text, tools, cut=piece.cut),
        )
        return replace(found, usage=usage)

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        """Return the critic's text unparsed: the caller treats anything but a clear approval as a rejection."""
        data = self._data.critic(task, plan, catalogue, self._now())
        piece = await self._model_call.whole(self._ask("review", prompts.CRITIC, data, JUDGED))
        return ModelText(replies.unfenced(piece.text), piece.usage)

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        tools = _allowed(task, catalogue)
        data = self._data.resolver(task, plan, reason, tools, self._now())
        found, usage = await self._repaired(
            await self._seeing(self._ask("resolve", prompts.RESOLVER, data, PLANNED, task)),
            lambda piece: replies.revised(piece.text, tools, cut=piece.cut),
        )
        return replace(found, usage=usage)

    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        system, data = prompts.answering(task.manner), self._data.answer(task, self._now())
        ask = await self._seeing(self._ask("answer", system, data, None, task))
        said = False
        async with aclosing(self._model_call.stream(ask)) as pieces:
            async for piece in pieces:
                said = said or bool(piece.text.strip())
                if piece.last and not said:
                    raise InvalidModelOutput(f"{self.name} returned an empty answer", usage=piece.usage)
                usage = piece.usage if piece.last else Usage(model=self.name)
                yield ModelText(f"{piece.text} […]" if piece.cut else piece.text, usage)

    def worst(self, task: Task, catalogue: Sequence[ToolDefinition]) -> Amount:
        """Return the most that one planning call might use; this amount is reserved for it."""
        return self._model_call.worst(self._planning(task, _allowed(task, catalogue)))

    @property
    def priced(self) -> bool:
        """Whether the cost of all calls so far is known."""
        return not self._model_call.pricing.unknown

    async def status(self) -> int:
        """Return the HTTP status of the vendor's list of models, which is free. Raises `Unavailable`."""
        return await self._model_call.status()

    async def alive(self) -> str:
        """Return the model's name if it is available. Until it first answers, and while its circuit is open, the vendor
        is asked at intervals for its list of models, which is free. Raises `Unavailable`.
        """
        shut = self._model_call.guard.state is State.OPEN
        if self._has_answered and not shut:
            return self.name
        due = time.monotonic() - self._checked_at >= LOOK_SECONDS
        if due:
            self._checked_at = time.monotonic()
        if not due or not await self._accepts_requests():
            how = (
                "is unavailable; retrying later (circuit open)"
                if shut
                else f"does not answer at {self._model_call.url}"
            )
            raise Unavailable(f"{self.name} {how}. To use the offline planner, unset SUMA_MODEL and restart.")
        self._has_answered = True
        return self.name

    async def _accepts_requests(self) -> bool:
        """Return whether the vendor accepts requests at all, even if it refuses this one."""
        try:
            status = await self._model_call.status()
        except Unavailable:
            return False
        return status < 500 and status != 429

    def _planning(self, task: Task, tools: Sequence[ToolDefinition]) -> Ask:
        return self._ask("plan", prompts.PLANNER, self._data.planner(task, tools, self._now()), PLANNED, task)

    async def _seeing(self, ask: Ask) -> Ask:
        """Return the input with the bytes of its pictures."""
        if self._load is None or not ask.pictures.sources:
            return ask
        return replace(ask, pictures=await pictures.loaded(ask.pictures, self._load))

    def _ask(self, verb: str, system: str, data: str, form: Form | None, task: Task | None = None) -> Ask:
        if len(data) > self._most:
            raise TooLong(f"{self.name}: the request and the tools alone exceed the limit of {self._most} characters")
        seen = pictures.of(task, sees=self._load is not None) if task is not None else pictures.Pictures()
        whole = prompts.of(system, task.agent) if task is not None else system
        return Ask(verb, whole, (("person", data),), form, seen)

    async def _repaired(self, ask: Ask, read: Callable[[Piece], T]) -> tuple[T, Usage]:
        """Return the parsed answer. After an unusable one, ask again with the reason, at most `REPAIRS` times."""
        usage, why = Usage(model=self.name), ""
        for repair in range(REPAIRS + 1):
            if repair:
                metrics.model_repairs.labels(self.name, ask.verb).inc()
            piece = await self._model_call.whole(ask)
            # Of all tries: those that could not be used were paid for as well.
            usage = usage.plus(piece.usage)
            try:
                return read(piece), usage
            except InvalidModelOutput as error:
                why = str(error)
                ask = ask.followed(piece.text[:QUOTED_MOST], prompts.mend(why))
        raise InvalidModelOutput(
            f"{self.name} returned no usable response: {shorten(why, WHY_MOST, placeholder=' …')}; `suma models` tells "
            "whether a model is capable enough",
            usage=usage,
        )


def _allowed(task: Task, catalogue: Sequence[ToolDefinition]) -> list[ToolDefinition]:
    """Return the tools that the agent may use; the plan is checked against them elsewhere."""
    return [tool for tool in catalogue if any(_names(entry, tool.name) for entry in task.tools)]


def _names(entry: str, tool: str) -> bool:
    return entry in ("*", tool) or (entry.endswith(".*") and tool.startswith(entry[:-1]))
