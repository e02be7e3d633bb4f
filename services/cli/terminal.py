"""The person's terminal, or the program behind it: where output goes, and the platform that is spoken to."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

if TYPE_CHECKING:
    from services.cli.client import Client

console = Console(highlight=False, soft_wrap=True)
errors_console = Console(stderr=True, highlight=False, soft_wrap=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def connected() -> Client:
    """A client of the platform that is meant. Raises `Rejected` where there is none."""
    # `--help`, and what needs no platform, are not to wait for an HTTP client.
    from services.cli.address import find
    from services.cli.client import Client

    return Client(find())


def interactive() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def print_json(value: Any, indent: int | None = 1) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=indent, default=str) + "\n")
    sys.stdout.flush()
