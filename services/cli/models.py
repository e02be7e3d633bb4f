"""`suma models`: test a model for everything that a turn needs. No platform is needed."""

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
    from services.cli.model_check import Report
    from services.settings import Process

app = typer.Typer(help="The model that plans and answers.", invoke_without_command=True)
Which = Annotated[
    str | None, typer.Option("--model", metavar="PROVIDER:NAME", help="This model instead of the configured one.")
]
At = Annotated[str | None, typer.Option("--url", help=f"Its address, instead of {URL}.")]
How = Annotated[
    str | None,
    typer.Option("--output", metavar="|".join(WAYS), help="How to ask it for JSON (default: as configured)."),
]

CHECK_FIELDS = ("what", "ok", "said", "seconds", "code")
"""The fields of each check, as JSON."""


@app.callback()
def models(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        check()


@app.command()
def check(model: Which = None, url: At = None, output: How = None, as_json: Json = False) -> None:
    """Test the model: connection, key, planning, review and answers; speed and price."""
    which, how = _choose(model, url, output)
    if which is None:
        _offline(as_json)
        return
    from services.cli.model_check import check_model

    done = check_model(how, which)
    if as_json:
        print_json(_document(which, done))
    else:
        _show(which, done)
    if not done.ok:
        raise typer.Exit(NOT_DONE)


@app.command(name="list")
def list_(as_json: Json = False) -> None:
    """List the providers and the variables that they need."""
    if as_json:
        print_json([asdict(provider) for provider in PROVIDERS.values()])
        return
    _print_provider(OFFLINE, "the built-in model: no network, no key, no cost", "")
    for provider in PROVIDERS.values():
        key = f"key: {provider.variable or KEY}{'' if provider.keyed else ', if it wants one'}"
        _print_provider(provider.example, provider.about, f"{key}; {provider.url or f'set {URL}'}")
    console.print(
        Text(f"\n{KEY} and {KEY_FILE} take precedence over a vendor's own variable; {URL} over its address.", "dim")
    )


def _print_provider(example: str, about: str, needs: str) -> None:
    console.print(Text(f"{example:30}", style="bold"), Text(about), sep="")
    if needs:
        console.print(Text(f"{'':30}{needs}", style="dim"))


def _choose(model: str | None, url: str | None, output: str | None) -> tuple[Choice | None, Process]:
    """Return the model from the options, else from the settings. Raises `Rejected`."""
    from services import model_factory, settings

    how = settings.process()
    given = {name: value for name, value in (("model_url", url), ("model_output", output)) if value is not None}
    if output is not None and output not in WAYS:
        raise Rejected(f"--output is one of {', '.join(WAYS)}")
    how = how.model_copy(update=given)
    return model_factory.chosen(how, model), how


def _offline(as_json: bool) -> None:
    if as_json:
        print_json({"model": OFFLINE, "ok": True, "tried": []})
    else:
        console.print(
            Text("✔ offline: the built-in planner; no network, key or cost. `suma models list` shows others.")
        )


def _document(which: Choice, done: Report) -> dict[str, Any]:
    spent = done.spent
    return {
        "model": which.name,
        "url": which.url,
        "output": which.output,
        "ok": done.ok,
        "tried": [{name: getattr(one, name) for name in CHECK_FIELDS} for one in done.tried],
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost_micros": spent.cost_micros if done.priced else None,
    }


def _show(which: Choice, done: Report) -> None:
    console.print(Text(f"{which.name} at {which.url}, asked for JSON by {which.output}", style="bold"))
    for one in done.tried:
        sign, style = ("✔", "green") if one.ok else ("✘", "red")
        console.print(Text(f"{sign} {one.what:7}{words.plain(one.said)} ({one.seconds:.1f} s)", style=style))
    spent = done.spent
    if spent.input_tokens:
        price = f"${spent.cost_micros / 1e6:.4f}" if done.priced else "price unknown"
        console.print(Text(f"  {spent.input_tokens} tokens in, {spent.output_tokens} out, {price}", style="dim"))
    if not done.priced:
        warning = (
            "Its calls count as free: set SUMA_MODEL_INPUT_PRICE and SUMA_MODEL_OUTPUT_PRICE to have them limited."
        )
        console.print(Text(f"  {warning}", style="yellow"))
