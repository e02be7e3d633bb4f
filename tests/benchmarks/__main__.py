"""`python -m tests.benchmarks [--quick] [--only NAME]`: measure, print, and write `build/bench.json`."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import uvloop
from rich.console import Console, RenderableType
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from libs.telemetry import logs
from tests.benchmarks import (
    budgets,
    fairness,
    growth,
    hop,
    kafka,
    matching,
    multimodal,
    policy,
    sandbox,
    sessions,
    start,
    streams,
    surfaces,
    turns,
    web,
    workspace,
)
from tests.benchmarks.rows import Row, table

WIDE = 150
BUILD = Path(__file__).resolve().parents[2] / "build"


Result = tuple[list[Row], RenderableType]


class Benchmark(Protocol):
    """Measures one thing; `tell` shows where it is."""

    def __call__(self, tell: Callable[[str], None], *, quick: bool) -> Coroutine[Any, Any, Result]: ...


BENCHMARKS: dict[str, Benchmark] = {
    "turns": turns.measure,
    "hop": hop.measure,
    "workspace": workspace.measure,
    "sessions": sessions.measure,
    "policy": policy.measure,
    "matching": matching.measure,
    "start": start.measure,
    "fairness": fairness.measure,
    "kafka": kafka.measure,
    "growth": growth.measure,
    "budgets": budgets.measure,
    "streams": streams.measure,
    "surfaces": surfaces.measure,
    "web": web.measure,
    "sandbox": sandbox.measure,
    "multimodal": multimodal.measure,
}


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    logs.configure(json=False, level="ERROR")
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)
    measured: list[Row] = []
    failed: list[str] = []
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console) as progress:
        for name in asked.only or BENCHMARKS:
            task = progress.add_task(name)
            try:
                with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                    rows, extra = runner.run(BENCHMARKS[name](partial(_tell, progress, task), quick=asked.quick))
            except Exception:
                # The figures of the others took half an hour.
                console.print_exception()
                failed.append(name)
                continue
            finally:
                progress.stop_task(task)
            progress.update(task, description=f"{name}: done", completed=100)
            measured += rows
            console.print(extra)
            _keep(measured)
    console.print(table(measured))
    if failed:
        console.print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def _keep(measured: Sequence[Row]) -> None:
    BUILD.mkdir(exist_ok=True)
    (BUILD / "bench.json").write_text(json.dumps([row.document() for row in measured], indent=2) + "\n", "utf-8")


def _tell(progress: Progress, task: TaskID, text: str) -> None:
    progress.update(task, description=text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes and few repetitions: ratios are rough")
    parser.add_argument("--only", action="append", choices=[*BENCHMARKS], help="only this one; may be given again")
    return parser


if __name__ == "__main__":
    sys.exit(main())
