"""`suma models`: asks a model for what a turn needs of it, and says what it can do. No platform is needed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from libs.errors import Rejected
from libs.models.choice import KEY, KEY_FILE, OFFLINE, PROVIDERS, URL, WAYS, Choice
from services.cli import words
from services.cli.errors import NOT_DONE
from services.cli.terminal import Json, console, print_json

if TYPE_CHECKING:
    from services.cli.trying import Trial
    from services.settings import Process

app = typer.Typer(help="The model that plans and answers.", invoke_without_command=True)
Which = Annotated[
    str | None, typer.Option("--model", metavar="PROVIDER:NAME", help="This one, not the configured one.")
]
At = Annotated[str | None, typer.Option("--url", help=f"Where it is, instead of {URL}.")]
How = Annotated[
    str | None, typer.Option("--output", metavar="|".join(WAYS), help="How it is asked for JSON; else as configured.")
]

TOLD = ("what", "ok", "said", "seconds", "code")
"""Of each question, as JSON."""


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
    from services.cli.trying import trial

    done = trial(how, which)
    if as_json:
        print_json(_told(which, done))
    else:
        _shown(which, done)
    if not done.ok:
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


def _offline(as_json: bool) -> None:
    if as_json:
        print_json({"model": OFFLINE, "ok": True, "tried": []})
    else:
        console.print(Text("✔ offline: our own model, without network, key or price. `suma models list` names others."))


def _told(which: Choice, done: Trial) -> dict[str, Any]:
    spent = done.spent
    return {
        "model": which.name,
        "url": which.url,
        "output": which.output,
        "ok": done.ok,
        "tried": [{name: getattr(one, name) for name in TOLD} for one in done.tried],
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost_micros": spent.cost_micros if done.priced else None,
    }


def _shown(which: Choice, done: Trial) -> None:
    console.print(Text(f"{which.name} at {which.url}, asked for JSON by {which.output}", style="bold"))
    for one in done.tried:
        sign, style = ("✔", "green") if one.ok else ("✘", "red")
        console.print(Text(f"{sign} {one.what:7}{words.plain(one.said)} ({one.seconds:.1f} s)", style=style))
    spent = done.spent
    if spent.input_tokens:
        price = f"${spent.cost_micros / 1e6:.4f}" if done.priced else "at a price that is not known"
        console.print(Text(f"  {spent.input_tokens} tokens in, {spent.output_tokens} out, {price}", style="dim"))
    if not done.priced:
        told = "Its calls count as free: set SUMA_MODEL_INPUT_PRICE and SUMA_MODEL_OUTPUT_PRICE to have them limited."
        console.print(Text(f"  {told}", style="yellow"))
