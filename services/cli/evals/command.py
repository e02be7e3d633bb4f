"""`suma eval`: play cases through a platform started for the run, and report the share of right ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from services.cli import words
from services.cli.errors import NOT_DONE, Usage
from services.cli.terminal import console, errors_console

if TYPE_CHECKING:
    from services.cli.evals.cases import Cases
    from services.cli.evals.play import Played
    from services.cli.evals.table import Costs, Tally

AT_ONCE = 3


def evaluate(
    model: Annotated[
        str | None, typer.Option(metavar="PROVIDER:NAME", help="The model; SUMA_MODEL or `offline` where left out.")
    ] = None,
    half: Annotated[str, typer.Option(help="Of the bundled cases: tuned or held-out.")] = "held-out",
    file: Annotated[
        Path | None, typer.Option("--cases", metavar="FILE", help="Cases of your own, instead of the bundled ones.")
    ] = None,
    only: Annotated[str | None, typer.Option(metavar="ID", help="Only this case.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only cases of this kind.")] = None,
    least: Annotated[float, typer.Option(min=0, max=1, help="The share that must be right.")] = 0.9,
    at_once: Annotated[int, typer.Option(min=1, max=16, help="Sessions at a time.")] = AT_ONCE,
    out: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write all of it as JSON, too.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say what went wrong with each case.")] = False,
) -> None:
    """Measure a model on cases: requests with their expected results.

    It starts a platform with real files in temporary folders, and removes both afterwards. It exits with 0 if enough
    is right and no file was changed wrongly, else with 1.
    """
    from services.cli.evals import cases, play, table

    wanted = (cases.read(file) if file is not None else cases.half(half)).of(id=only, kind=kind)
    cases.check(wanted)
    if out is not None and not out.parent.is_dir():
        raise Usage(f"{out.parent} is not a folder")
    with play.platform(model) as (address, root), _progress(wanted) as seen:
        played = play.play_all(address, root, wanted, at_once=at_once, seen=seen)
    tally, costs = table.Tally(tuple(one.score for one in played)), table.Costs.of(played)
    for one in played:
        if verbose and not one.score.right:
            console.print(Text(words.plain(table.failure(one.score))))
    table.show(console, tally)
    table.show_costs(console, costs)
    if out is not None:
        out.write_text(json.dumps(_document(played, tally, costs), ensure_ascii=False, indent=1) + "\n", "utf-8")
    if tally.all.value < least or tally.wrong_changes:
        raise typer.Exit(NOT_DONE)


@contextmanager
def _progress(wanted: Cases) -> Iterator[Any]:
    """Show progress on a terminal; elsewhere show nothing."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors_console, transient=True, disable=not errors_console.is_terminal) as shown:
        task = shown.add_task("cases", total=len(wanted.cases))

        def seen(_: Played) -> None:
            shown.advance(task)

        yield seen


def _document(played: tuple[Played, ...], tally: Tally, costs: Costs) -> dict[str, Any]:
    return {
        "right": tally.all.right,
        "of": tally.all.of,
        "wrong_changes": [score.case.id for score in tally.wrong_changes],
        "funnel": {stage.value: count for stage, count in tally.funnel.items()},
        "kinds": {name: {"right": share.right, "of": share.of} for name, share in tally.by_kind()},
        **costs.document(),
        "cases": [_row(one) for one in played],
    }


def _row(one: Played) -> dict[str, Any]:
    score = one.score
    return {
        "id": score.case.id,
        "request": score.case.request,
        "right": score.right,
        "stage": score.stage.value if score.stage is not None else None,
        "wrong_change": score.wrong_change,
        "detail": score.detail,
        "outcome": one.outcome.value,
        "tools": list(one.tools),
        "answer": one.said,
        "catches": one.catches,
        "seconds": round(one.seconds, 3),
        "tokens": one.tokens,
        "cost_micros": one.cost_micros,
    }
