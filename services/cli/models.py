"""`suma models`: asks a model for what a turn needs of it, and says what it can do. No platform is needed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from libs.errors import Rejected, SumaError
from libs.events.committee import Task
from libs.events.values import Observation, Plan, StepState, Usage
from libs.models import Answered, Drafted, Unclear
from libs.models.choice import KEY, KEY_FILE, OFFLINE, PROVIDERS, URL, Choice, Output
from libs.outbound import Door
from services.cli import words
from services.cli.errors import NOT_DONE
from services.cli.terminal import Json, console, print_json

if TYPE_CHECKING:
    from libs.models.vendors import VendorModel
    from libs.skills import ToolDefinition
    from services.settings import Process

app = typer.Typer(help="The model that plans and answers.", invoke_without_command=True)
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
WAYS: tuple[Output, ...] = ("tool", "schema", "text")
Which = Annotated[
    str | None, typer.Option("--model", metavar="PROVIDER:NAME", help="This one, not the configured one.")
]
At = Annotated[str | None, typer.Option("--url", help=f"Where it is, instead of {URL}.")]
How = Annotated[
    str | None, typer.Option("--output", metavar="|".join(WAYS), help="How it is asked for JSON; else as configured.")
]


@dataclass(frozen=True, slots=True)
class Tried:
    """One thing that was asked of the model."""

    what: str
    ok: bool
    said: str
    seconds: float = 0.0
    code: str = ""
    usage: Usage = field(default_factory=Usage)


@app.callback()
def models(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        check()


@app.command()
def check(model: Which = None, url: At = None, output: How = None, as_json: Json = False) -> None:
    """Try the model: is it there, does it take the key, does it plan, judge and answer; how fast, at what price."""
    which, how = _which(model, url, output)
    if which is None:
        _offline(as_json)
        return
    tried, price_known = asyncio.run(_tried(how, which))
    if as_json:
        print_json(_told(which, tried, price_known))
    else:
        _shown(which, tried, price_known)
    if not all(one.ok for one in tried):
        raise typer.Exit(NOT_DONE)


@app.command(name="list")
def list_(as_json: Json = False) -> None:
    """The providers, and the variables that they need."""
    if as_json:
        print_json([asdict(provider) for provider in PROVIDERS.values()])
        return
    _listed(OFFLINE, "our own model: no network, no key, no price", "")
    for provider in PROVIDERS.values():
        key = f"key: {provider.variable or KEY}{'' if provider.keyed else ', if it wants one'}"
        _listed(provider.example, provider.about, f"{key}; {provider.url or f'set {URL}'}")
    console.print(Text(f"\n{KEY} and {KEY_FILE} go before a vendor's own variable; {URL} before its address.", "dim"))


def _listed(example: str, about: str, needs: str) -> None:
    console.print(Text(f"{example:30}", style="bold"), Text(about), sep="")
    if needs:
        console.print(Text(f"{'':30}{needs}", style="dim"))


def _which(model: str | None, url: str | None, output: str | None) -> tuple[Choice | None, Process]:
    """What is meant, by the settings and what goes before them. Raises `Rejected`."""
    from services import minds, settings

    how = settings.process()
    given = {name: value for name, value in (("model_url", url), ("model_output", output)) if value is not None}
    if output is not None and output not in WAYS:
        raise Rejected(f"--output is one of {', '.join(WAYS)}")
    how = how.model_copy(update=given)
    return minds.chosen(how, model), how


async def _tried(how: Process, which: Choice) -> tuple[list[Tried], bool]:
    tools = await asyncio.to_thread(_tools)
    async with _model(how, which) as model:
        tried = [await _there(model)]
        if not tried[0].ok:
            return tried, True
        tried += await _asked(model, tools)
    if not tried[1].ok and tried[1].code in ("MODEL_NONSENSE", "MODEL_REFUSED"):
        tried[1] = await _otherwise(how, which, tried[1], tools)
    return tried, model.priced


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


async def _otherwise(how: Process, which: Choice, failed: Tried, tools: Sequence[ToolDefinition]) -> Tried:
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
async def _model(how: Process, which: Choice) -> AsyncIterator[VendorModel]:
    from services import minds

    async with minds.vendor(how, which) as behind:
        yield behind(Door(minds.DOOR))


def _tools() -> Sequence[ToolDefinition]:
    from libs.skills import Skills
    from services import settings

    return Skills.load((settings.HOUSE / "skills",)).tools


def _verdict(text: str) -> str:
    try:
        approved = json.loads(text)["approved"]
    except (ValueError, LookupError, TypeError):
        raise Rejected(f"its verdict cannot be read: {words.line(text, 120)}") from None
    return "approves" if approved is True else "rejects"


def _offline(as_json: bool) -> None:
    if as_json:
        print_json({"model": OFFLINE, "ok": True, "tried": []})
    else:
        console.print(Text("✔ offline: our own model, without network, key or price. `suma models list` names others."))


def _told(which: Choice, tried: Sequence[Tried], price_known: bool) -> dict[str, Any]:
    spent = _spent(tried)
    return {
        "model": which.name,
        "url": which.url,
        "output": which.output,
        "ok": all(one.ok for one in tried),
        "tried": [{name: getattr(one, name) for name in ("what", "ok", "said", "seconds", "code")} for one in tried],
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost_micros": spent.cost_micros if price_known else None,
    }


def _shown(which: Choice, tried: Sequence[Tried], price_known: bool) -> None:
    console.print(Text(f"{which.name} at {which.url}, asked for JSON by {which.output}", style="bold"))
    for one in tried:
        sign, style = ("✔", "green") if one.ok else ("✘", "red")
        console.print(Text(f"{sign} {one.what:7}{words.plain(one.said)} ({one.seconds:.1f} s)", style=style))
    spent = _spent(tried)
    if spent.input_tokens:
        price = f"${spent.cost_micros / 1e6:.4f}" if price_known else "at a price that is not known"
        console.print(Text(f"  {spent.input_tokens} tokens in, {spent.output_tokens} out, {price}", style="dim"))
    if not price_known:
        told = "Its calls count as free: set SUMA_MODEL_INPUT_PRICE and SUMA_MODEL_OUTPUT_PRICE to have them limited."
        console.print(Text(f"  {told}", style="yellow"))


def _spent(tried: Sequence[Tried]) -> Usage:
    spent = Usage()
    for one in tried:
        spent = spent.plus(one.usage)
    return spent
