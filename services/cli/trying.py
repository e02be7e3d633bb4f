"""What a turn needs of a model, asked of it: is it there, does it take the key, does it plan, judge and answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from libs.budgets.ports import Amount
from libs.errors import Rejected, SumaError
from libs.events.committee import Task
from libs.events.values import Observation, Plan, StepState, Usage
from libs.models.choice import WAYS, Choice
from libs.models.ports import Answered, Drafted, Unclear
from libs.outbound import Door
from libs.skills import Skills, ToolDefinition
from services import minds, settings
from services.cli import words

if TYPE_CHECKING:
    from libs.models.vendors import VendorModel

TOY = Task(
    text="list the files in this folder",
    intent="request",
    tools=("*",),
    workspace={"names": ["invoice.pdf", "photo.jpg"]},
)
SEEN = Observation(
    ordinal=1,
    tool="manage-files.list",
    description="List the folder.",
    state=StepState.SUCCEEDED,
    summary="2 files",
    data={"nodes": ["invoice.pdf", "photo.jpg"]},
)


@dataclass(frozen=True, slots=True)
class Tried:
    """One thing that was asked of the model."""

    what: str
    ok: bool
    said: str
    seconds: float = 0.0
    code: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Trial:
    """All that was asked, in order; it ends early where nobody answers."""

    tried: tuple[Tried, ...]
    priced: bool = True
    """Whether we know what its tokens cost."""

    @property
    def ok(self) -> bool:
        return all(one.ok for one in self.tried)

    @property
    def spent(self) -> Usage:
        spent = Usage()
        for one in self.tried:
            spent = spent.plus(one.usage)
        return spent


def trial(how: settings.Process, which: Choice) -> Trial:
    """Raises `Rejected` where the model cannot be used as it is configured."""
    return asyncio.run(_trial(how, which))


async def _trial(how: settings.Process, which: Choice) -> Trial:
    tools = await asyncio.to_thread(_tools)
    async with _model(how, which) as model:
        tried = [await _there(model)]
        if not tried[0].ok:
            return Trial(tuple(tried))
        tried += await _asked(model, tools)
        tried.append(_payable(model.worst(TOY, tools), how.budgets.limits.turn))
    if not tried[1].ok and tried[1].code in ("MODEL_NONSENSE", "MODEL_REFUSED"):
        tried[1] = await _otherwise(how, which, tried[1], tools)
    return Trial(tuple(tried), model.priced)


async def _asked(model: VendorModel, tools: Sequence[ToolDefinition]) -> list[Tried]:
    made: list[Plan] = []

    async def plan() -> tuple[str, Usage]:
        found = await model.plan(TOY, tools)
        match found:
            case Drafted(plan=plan):
                made.append(plan)
                return f"plans: {', '.join(step.tool for step in plan.steps)}", found.usage
            case Answered(text=text) | Unclear(question=text):
                raise Rejected(f"it makes no plan where one is needed, and says: {words.line(text, 120)}")

    async def judge() -> tuple[str, Usage]:
        said = await model.review(TOY, made[0], tools)
        return f"judges: {_verdict(said.text)}", said.usage

    async def answer() -> tuple[str, Usage]:
        return await _answered(model)

    tried = [await _try("plan", plan)]
    tried += [await _try("judge", judge)] if made else []
    return [*tried, await _try("answer", answer)]


async def _answered(model: VendorModel) -> tuple[str, Usage]:
    began, first, pieces, usage = time.monotonic(), 0.0, 0, Usage()
    async for said in model.answer(TOY.model_copy(update={"observations": (SEEN,)})):
        usage = usage.plus(said.usage)
        if said.text:
            first = first or time.monotonic() - began
            pieces += 1
    how = "streams" if pieces > 1 else "answers in one piece"
    return f"{how}: first words after {first:.1f} s, {words.count(pieces, 'piece')}", usage


def _payable(worst: Amount, most: Amount) -> Tried:
    """Whether a turn may make one call at all: what it might use at most is reserved before it."""
    said = f"a plan may use up to {worst.tokens:,} tokens and ${worst.cost_micros / 1e6:.2f}"
    if worst.tokens > most.tokens:
        less = "raise SUMA_BUDGETS__TURN_TOKENS, or lower SUMA_MODEL_OUTPUT_TOKENS"
        return Tried("pay", False, f"{said}, and a turn no more than {most.tokens:,} tokens: {less}", code="MAX_TOKENS")
    if worst.cost_micros > most.cost_micros:
        less = "raise SUMA_BUDGETS__TURN_DOLLARS, or lower SUMA_MODEL_OUTPUT_TOKENS"
        dear = f"{said}, and a turn no more than ${most.cost_micros / 1e6:.2f}: {less}"
        return Tried("pay", False, dear, code="MAX_COST")
    return Tried("pay", True, f"{said}, which a turn may")


async def _there(model: VendorModel) -> Tried:
    """Whether someone answers, and takes the key; some servers have no list of models to ask for."""

    async def ask() -> tuple[str, Usage]:
        status = await model.status()
        if status in (401, 403):
            raise Rejected(f"it does not accept the key (HTTP {status})", code="MODEL_KEY_REFUSED")
        return ("answers, and takes the key" if status < 300 else f"answers (HTTP {status})"), Usage()

    return await _try("reach", ask)


async def _try(what: str, ask: Callable[[], Awaitable[tuple[str, Usage]]]) -> Tried:
    began = time.monotonic()
    try:
        said, usage = await ask()
    except SumaError as error:
        return Tried(what, False, str(error), time.monotonic() - began, error.code)
    return Tried(what, True, said, time.monotonic() - began, usage=usage)


async def _otherwise(how: settings.Process, which: Choice, failed: Tried, tools: Sequence[ToolDefinition]) -> Tried:
    """The same plan, asked for in another way, which may be the one that this server understands."""
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
    """Paid for by whoever tries it, who is told what it cost: there may be no platform, and so no accounts."""
    async with minds.vendor(how, which) as behind:
        yield behind(Door(minds.DOOR), None)


def _tools() -> Sequence[ToolDefinition]:
    return Skills.load((settings.HOUSE / "skills",)).tools


def _verdict(text: str) -> str:
    try:
        approved = json.loads(text)["approved"]
    except (ValueError, LookupError, TypeError):
        raise Rejected(f"its verdict cannot be read: {words.line(text, 120)}") from None
    return "approves" if approved is True else "rejects"
