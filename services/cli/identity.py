"""Commands of identity: open the web UI signed in."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from services.cli.terminal import Json, connected, console, interactive, print_json


def open_(
    show: Annotated[bool, typer.Option("--print", help="Only print the link.")] = False, as_json: Json = False
) -> None:
    """Open the web UI, signed in with your key. The link works once, within a minute."""
    with connected() as client:
        made = client.post("/v1/signin/code", {})
    if as_json:
        print_json(made)
        return
    console.print(Text(made["url"]))
    if interactive() and not show:
        typer.launch(made["url"])
