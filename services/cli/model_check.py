"""Checks of a model: reachable, key accepted, and able to plan, review and answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from libs.budgets import Amount
from libs.errors import Rejected, SumaError
from libs.events import Observation, Plan, StepState, Task, Usage
from libs.models.choice import WAYS, Choice
from libs.models.ports import Answered, ClarificationNeeded, PlanDraft
from libs.resilience import GuardedCall
from libs.skills import Skills, ToolDefinition
from libs.telemetry.logs import quiet
from services import model_factory, settings
from services.cli import words

if TYPE_CHECKING:
    from libs.models.vendors import VendorModel

TASK = Task(
    text="list the files in this folder",
    intent="request",
    tools=("*",),
    workspace={"names": ["invoice.pdf", "photo.jpg"]},
)
OBSERVATION = Observation(
    ordinal=1,
    tool="manage-files.list",
    description="List the folder.",
    state=StepState.SUCCEEDED,
    summary="2 files",
    data={"nodes": ["invoice.pdf", "photo.jpg"]},
)


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check."""

    what: str
    ok: bool
    said: str
    seconds: float = 0.0
    code: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Report:
    """All check results in order; the first failed connection ends the list."""

    tried: tuple[Check, ...]
    priced: bool = True
    """Whether the price of the model's tokens is known."""

    @property
    def ok(self) -> bool:
        return all(one.ok for one in self.tried)

    @property
    def spent(self) -> Usage:
        spent = Usage()
        for one in self.tried:
            spent = spent.plus(one.usage)
        return spent


def check_model(how: settings.Process, which: Choice) -> Report:
    """Run all checks. Raises `Rejected` if the configured model cannot be used."""
    with quiet():
        return asyncio.run(_trial(how, which))


async def _trial(how: settings.Process, which: Choice) -> Report:
    tools = await asyncio.to_thread(_tools)
    async with _model(how, which) as model:
        # The free request first: a wrong address or key must cost nothing.
        tried = [await _there(model)]
        if not tried[0].ok:
            return Report(tuple(tried))
        tried += await _asked(model, tools)
        tried.append(_payable(model.worst(TASK, tools), how.budgets.limits.turn))
    if not tried[1].ok and tried[1].code in ("MODEL_OUTPUT_INVALID", "MODEL_REFUSED"):
        tried[1] = await _otherwise(how, which, tried[1], tools)
    return Report(tuple(tried), model.priced)


async def _asked(model: VendorModel, tools: Sequence[ToolDefinition]) -> list[Check]:
    made: list[Plan] = []

    async def plan() -> tuple[str, Usage]:
        found = await model.plan(TASK, tools)
        match found:
            case PlanDraft(plan=plan):
                made.append(plan)
                return f"plans: {', '.join(step.tool for step in plan.steps)}", found.usage
            case Answered(text=text) | ClarificationNeeded(question=text):
                raise Rejected(f"it returned text where a plan is needed: {words.line(text, 120)}")

    async def judge() -> tuple[str, Usage]:
        review = await model.review(TASK, made[0], tools)
        return f"judges: {_verdict(review.text)}", review.usage

    async def answer() -> tuple[str, Usage]:
        return await _answered(model)

    tried = [await _try("plan", plan)]
    tried += [await _try("judge", judge)] if made else []
    return [*tried, await _try("answer", answer)]


async def _answered(model: VendorModel) -> tuple[str, Usage]:
    began, first, pieces, usage = time.monotonic(), 0.0, 0, Usage()
    async for delta in model.answer(TASK.model_copy(update={"observations": (OBSERVATION,)})):
        usage = usage.plus(delta.usage)
        first, pieces = first or time.monotonic() - began, pieces + (not delta.usage.input_tokens)
    how = "streams" if pieces > 1 else "answers in one piece"
    return f"{how}: first words after {first:.1f} s, {words.count(pieces, 'piece')}", usage


def _payable(worst: Amount, most: Amount) -> Check:
    """Check that a turn can afford one call: its maximum use is reserved before it is made."""
    maximum = f"a plan may use up to {worst.tokens:,} tokens and ${worst.cost_micros / 1e6:.2f}"
    if worst.tokens > most.tokens:
        less = "raise SUMA_BUDGETS__TURN_TOKENS, or lower SUMA_MODEL_OUTPUT_TOKENS"
        return Check(
            "pay", False, f"{maximum}, and a turn no more than {most.tokens:,} tokens: {less}", code="MAX_TOKENS"
        )
    if worst.cost_micros > most.cost_micros:
        less = "raise SUMA_BUDGETS__TURN_DOLLARS, or lower SUMA_MODEL_OUTPUT_TOKENS"
        too_expensive = f"{maximum}, and a turn no more than ${most.cost_micros / 1e6:.2f}: {less}"
        return Check("pay", False, too_expensive, code="MAX_COST")
    return Check("pay", True, f"{maximum}, within the turn limit")


async def _there(model: VendorModel) -> Check:
    """Check that the server answers and accepts the key; some servers have no list of models."""

    async def ask() -> tuple[str, Usage]:
        status = await model.status()
        if status in (401, 403):
            raise Rejected(f"it does not accept the key (HTTP {status})", code="MODEL_KEY_REFUSED")
        return ("answers and accepts the key" if status < 300 else f"answers (HTTP {status})"), Usage()

    return await _try("reach", ask)


async def _try(what: str, ask: Callable[[], Awaitable[tuple[str, Usage]]]) -> Check:
    began = time.monotonic()
    try:
        detail, usage = await ask()
    except SumaError as error:
        return Check(what, False, str(error), time.monotonic() - began, error.code)
    return Check(what, True, detail, time.monotonic() - began, usage=usage)


async def _otherwise(how: settings.Process, which: Choice, failed: Check, tools: Sequence[ToolDefinition]) -> Check:
    """Try the same plan with the other output formats, and name one that works."""
    for output in WAYS:
        if output == which.output:
            continue
        async with _model(how, replace(which, output=output)) as model:
            again, *_ = await _asked(model, tools)
        if again.ok:
            return replace(failed, said=f"{failed.said}. It plans with SUMA_MODEL_OUTPUT={output}")
    return failed


@asynccontextmanager
async def _model(how: settings.Process, which: Choice) -> AsyncIterator[VendorModel]:
    """Yield the model without budget accounts: the check has no platform, and its user pays and sees the cost."""
    async with model_factory.vendor(how, which) as behind:
        yield behind(GuardedCall(model_factory.GUARD), None, None)


def _tools() -> Sequence[ToolDefinition]:
    return Skills.load((settings.BUNDLED / "skills",)).tools


def _verdict(text: str) -> str:
    try:
        approved = json.loads(text)["approved"]
    except (ValueError, LookupError, TypeError):
        raise Rejected(f"its verdict cannot be read: {words.line(text, 120)}") from None
    return "approves" if approved is True else "rejects"
