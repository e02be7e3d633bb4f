"""`suma budgets`: limits, use and reservations of real model calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from services.cli import completion
from services.cli.terminal import Json, connected, console, print_json


def budgets(
    session: Annotated[
        str | None, typer.Option(help="Also show this session.", autocompletion=completion.sessions)
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the limits, use and reservations of model calls."""
    with connected() as client:
        found = client.get("/v1/budgets", **({"session": session} if session else {}))
    if as_json:
        print_json(found)
        return
    accounts = {name: found[name] for name in ("tenant", "session") if found[name] is not None}
    table = Table("account", "of", "limit", "spent", "reserved", "left", "until", box=None, pad_edge=False)
    for column in table.columns[2:6]:
        column.justify = "right"
    for name, account in accounts.items():
        for row in _rows(name, account):
            table.add_row(*map(Text, row))
    console.print(table)
    if not any(
        unit[kind] for account in accounts.values() for unit in _units(account) for kind in ("spent", "reserved")
    ):
        console.print(Text("Nothing has been spent: the built-in planner is free.", style="dim"))


def _rows(name: str, account: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    until = (account["until"] or "")[:16].replace("T", " ")
    for unit, of in zip(("tokens", "dollars"), _units(account), strict=True):
        left = max(0, of["limit"] - of["spent"] - of["reserved"])
        yield (name, unit, *(_format_amount(unit, n) for n in (of["limit"], of["spent"], of["reserved"], left)), until)


def _units(account: Mapping[str, Any]) -> tuple[Mapping[str, int], Mapping[str, int]]:
    return account["tokens"], account["cost_micros"]


def _format_amount(unit: str, amount: int) -> str:
    return f"{amount:,}" if unit == "tokens" else f"{amount / 1e6:,.4f}"
