"""The `Model` port over a vendor: planner, critic and resolver by structured output with bounded repair, answers as
they come."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from libs.budgets import Amount, Budgets
from libs.errors import Unavailable
from libs.events.committee import Task
from libs.events.values import Plan, Usage
from libs.models.ports import Drafted, Nonsense, PlannerOutcome, Said
from libs.models.vendors import prompts, replies
from libs.models.vendors.errors import TooLong
from libs.models.vendors.line import Ask, Form, Line, Piece
from libs.models.vendors.opening import Opened
from libs.models.vendors.prices import Price, Till, listing
from libs.outbound import Door, State
from libs.skills import ToolDefinition
from libs.telemetry import metrics

REPAIRS = 2
"""After the first answer: with the validator's own words a model mends what it can mend, and then never."""
LOOK_SECONDS = 3.0
"""Between two looks whether a vendor is back."""
QUOTED_MOST = 4000
"""Letters of a useless answer that the model is shown again."""
PLANNED = Form("propose", "A plan, an answer or a question.", replies.Reply.model_json_schema())
JUDGED = Form("judge", "The verdict on the plan.", replies.Verdict.model_json_schema())
T = TypeVar("T")


class VendorModel:
    """Each call may be paid for again when the process dies before what it brought is committed, and never after.

    Every call is paid for from `budgets` by whoever is named there (`paid_by`); None where a person tries a model."""

    def __init__(
        self,
        opened: Opened,
        door: Door,
        *,
        price: Price | None,
        now: Callable[[], datetime],
        budgets: Budgets | None,
    ) -> None:
        till = Till(opened.choice.name, price, listing(opened))
        self._line = Line(opened, door, till, budgets=budgets)
        self._most = opened.bounds.input_letters
        self._data, self._now = prompts.Rendered(self._most), now
        self._looked = float("-inf")

    @property
    def name(self) -> str:
        return self._line.name

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        tools = _allowed(task, catalogue)
        found, usage = await self._mended(
            self._planning(task, tools), lambda piece: replies.outcome(piece.text, tools, cut=piece.cut)
        )
        return replace(found, usage=usage)

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> Said:
        """As it was said, whole or not: what cannot be read as a clear yes is a no, and that is not decided here."""
        data = self._data.critic(task, plan, catalogue, self._now())
        piece = await self._line.whole(self._ask("review", prompts.critic(), data, JUDGED))
        return Said(replies.unfenced(piece.text), piece.usage)

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> Drafted:
        tools = _allowed(task, catalogue)
        data = self._data.resolver(task, plan, reason, tools, self._now())
        found, usage = await self._mended(
            self._ask("resolve", prompts.resolver(), data, PLANNED),
            lambda piece: replies.revised(piece.text, tools, cut=piece.cut),
        )
        return replace(found, usage=usage)

    async def answer(self, task: Task) -> AsyncIterator[Said]:
        ask = self._ask("answer", prompts.answer(), self._data.answer(task, self._now()), None)
        said = False
        async with aclosing(self._line.stream(ask)) as pieces:
            async for piece in pieces:
                said = said or bool(piece.text.strip())
                if piece.last and not said:
                    raise Nonsense(f"{self.name} said nothing", usage=piece.usage)
                usage = piece.usage if piece.last else Usage(model=self.name)
                yield Said(" […]" if piece.cut else piece.text, usage)

    def worst(self, task: Task, catalogue: Sequence[ToolDefinition]) -> Amount:
        """What one call for a plan might use at most: so much is reserved for it."""
        return self._line.worst(self._planning(task, _allowed(task, catalogue)))

    @property
    def priced(self) -> bool:
        """Is it known what its calls so far have cost?"""
        return not self._line.till.unknown

    async def status(self) -> int:
        """What the vendor's list of models is answered with, which costs nothing. Raises `Unavailable`."""
        return await self._line.status()

    async def alive(self) -> str:
        """Whether it may be asked. Only while its circuit is open the vendor is really asked, now and then, for its
        list of models, which costs nothing. Raises `Unavailable`."""
        if self._line.door.state is not State.OPEN:
            return self.name
        due = time.monotonic() - self._looked >= LOOK_SECONDS
        if due:
            self._looked = time.monotonic()
        if not due or not await self._answers():
            raise Unavailable(f"{self.name} has not answered for some time")
        return self.name

    async def _answers(self) -> bool:
        """Is someone there who takes questions, whatever becomes of them?"""
        try:
            status = await self._line.status()
        except Unavailable:
            return False
        return status < 500 and status != 429

    def _planning(self, task: Task, tools: Sequence[ToolDefinition]) -> Ask:
        return self._ask("plan", prompts.planner(), self._data.planner(task, tools, self._now()), PLANNED)

    def _ask(self, verb: str, system: str, data: str, form: Form | None) -> Ask:
        if len(data) > self._most:
            raise TooLong(
                f"{self.name}: the request and the tools alone are longer than the {self._most} letters that it is sent"
            )
        return Ask(verb, system, (("person", data),), form)

    async def _mended(self, ask: Ask, read: Callable[[Piece], T]) -> tuple[T, Usage]:
        """What the model said, once it can be read; asked again with the reason why not, twice at most."""
        usage, why = Usage(model=self.name), ""
        for repair in range(REPAIRS + 1):
            if repair:
                metrics.model_repairs.labels(self.name, ask.verb).inc()
            piece = await self._line.whole(ask)
            usage = usage.plus(piece.usage)
            try:
                return read(piece), usage
            except Nonsense as nonsense:
                why = str(nonsense)
                ask = ask.followed(piece.text[:QUOTED_MOST], prompts.mend(why))
        raise Nonsense(f"{self.name} did not say anything that can be used: {why[:500]}", usage=usage)


def _allowed(task: Task, catalogue: Sequence[ToolDefinition]) -> list[ToolDefinition]:
    """What the agent may not use is not offered; that it is not used is checked elsewhere."""
    return [tool for tool in catalogue if any(_names(entry, tool.name) for entry in task.tools)]


def _names(entry: str, tool: str) -> bool:
    return entry in ("*", tool) or (entry.endswith(".*") and tool.startswith(entry[:-1]))
