"""`suma effects`: actions with unknown outcome, and the answers that people give about them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from services.cli import completion, words
from services.cli.errors import NOT_DONE, Usage
from services.cli.terminal import Json, connected, console, print_json, print_table

app = typer.Typer(help="Actions with unknown outcome.", no_args_is_help=True)

Which = Annotated[
    str,
    typer.Argument(
        metavar="EFFECT", help="Its ID, as `suma effects list` shows it.", autocompletion=completion.effects
    ),
]


@app.command(name="list")
def list_(
    session: Annotated[
        str | None, typer.Option(help="Of this session only.", autocompletion=completion.sessions)
    ] = None,
    as_json: Json = False,
) -> None:
    """List the actions with unknown outcome, oldest first."""
    with connected() as client:
        found = client.get("/v1/effects", **({"session": session} if session else {}))["effects"]
    if as_json:
        print_json(found)
        return
    if not found:
        console.print(Text("No unresolved actions.", style="dim"))
        return
    print_table(("effect", "since", "tool", "what"), map(_row, found))


@app.command()
def show(effect: Which, as_json: Json = False) -> None:
    """Show one: what should have happened, why the outcome is unknown, and its idempotency key."""
    with connected() as client:
        found = client.get(f"/v1/effects/{effect}")
    if as_json:
        print_json(found)
    else:
        for name, value in _fields(found):
            console.print(Text(f"{name:10}", style="dim"), Text(words.plain(value)))


@app.command()
def resolve(
    effect: Which,
    happened: Annotated[
        bool | None, typer.Option("--happened/--did-not-happen", help="What you found out.", show_default=False)
    ] = None,
    reason: Annotated[str, typer.Option("--reason", "-r", help="How you know.")] = "",
    data: Annotated[
        str | None, typer.Option(metavar="JSON", help="Its result, an object, for the steps that follow.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Record whether it happened. A waiting turn continues; the first answer counts."""
    if happened is None:
        raise Usage("use --happened or --did-not-happen")
    with connected() as client:
        seen = client.get(f"/v1/effects/{effect}")
        finding = {"verdict": "happened" if happened else "did_not_happen", "reason": reason, "digest": seen["digest"]}
        done = client.resolve(effect, {**finding, **({"data": _object(data)} if data is not None else {})})
    if as_json:
        print_json(done)
        return
    closed = (done["outcome"] or {}).get("data")
    if closed is None:
        console.print(Text("The answer is being processed.", style="dim"))
    elif closed["outcome"] == "stale":
        console.print(Text(f"✘ Not accepted: {words.line(closed['reason'], 300)}", style="red"))
        raise typer.Exit(NOT_DONE)
    else:
        console.print(Text(f"✔ {closed['outcome'].replace('_', ' ')}", style="green"))


def _row(effect: Mapping[str, Any]) -> Sequence[str]:
    data, since = effect["data"], effect["opened_at"][:16].replace("T", " ")
    return effect["approval_id"], since, words.line(data["tool"] or "", 40), words.line(data["title"], 80)


def _fields(effect: Mapping[str, Any]) -> list[tuple[str, object]]:
    """List the fields of an effect with their values."""
    data = effect["data"]
    rows = [
        ("effect", effect["approval_id"]),
        ("session", effect["session_id"]),
        ("turn", effect["turn_id"]),
        ("tool", data["tool"]),
        ("what", data["title"]),
        *((f"  {name}", value) for name, value in data["args"].items()),
        ("why", data.get("detail", "")),
        ("key", data.get("intent", "")),
        ("since", effect["opened_at"]),
        ("outcome", effect["outcome"] or "not known"),
        ("by", effect["principal"]),
        ("reason", effect["reason"]),
    ]
    return [(name, value) for name, value in rows if value not in (None, "")]


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Usage(f"--data is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Usage("--data must be a JSON object")
    return value
