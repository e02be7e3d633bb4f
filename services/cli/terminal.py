"""Input and output of the command, and its connection to the platform."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text
from typing_extensions import override

if TYPE_CHECKING:
    from services.cli.client import Client


class Output(Console):
    """A console with the terminal's width; in a pipe or a file, wide enough that no table line is cut or wrapped."""

    WIDEST = 100_000

    @property
    @override
    def options(self) -> ConsoleOptions:
        return super().options if self.is_terminal else super().options.update(width=self.WIDEST)

    @override
    def print(self, *objects: Any, **options: Any) -> None:
        """Print; of a table in a pipe or a file, without the spaces that fill its last column."""
        if self.is_terminal or not any(isinstance(each, Table) for each in objects):
            super().print(*objects, **options)
            return
        with self.capture() as table:
            super().print(*objects, **options)
        self.file.write("\n".join(row.rstrip() for row in table.get().split("\n")))


console = Output(highlight=False, soft_wrap=True)
errors_console = Output(stderr=True, highlight=False, soft_wrap=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def connected() -> Client:
    """Return a client of the selected platform. Raises `Rejected` if there is none."""
    # `--help` and offline commands must not wait for the HTTP client's import.
    from services.cli.address import find
    from services.cli.client import Client

    return Client(find())


def interactive() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of cells, which hold no markup."""
    table = Table(*headings, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def print_done(result: Any, text: str, *, as_json: bool) -> None:
    """Report a change that was made: its result for a program, a line for a person."""
    if as_json:
        print_json(result)
    else:
        console.print(Text(f"✔ {text}", style="green"))


def print_json(value: Any, indent: int | None = 1) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=indent, default=str) + "\n")
    # A program at the other end of a pipe reads each line as it happens.
    sys.stdout.flush()
