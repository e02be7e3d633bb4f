"""`python -m tests.trial [--turns N] [--seed S] [--only NAME]`: run the kill trial, print it, and write
`build/kill-trial.json`. Ends with 1 when Suma repeated or lost an effect, or when too few turns were hit."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import uvloop
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from libs.embedded.postgres import ephemeral
from libs.telemetry import logs
from tests.trial import killer, report
from tests.trial.contenders import CONTENDERS, Contender
from tests.trial.count import LEAST_HIT
from tests.trial.schedule import draw

WIDE = 170
BUILD = Path(__file__).resolve().parents[2] / "build"
TURNS = 1000
LEAST = LEAST_HIT + 0.05
"""The last turns of a run may end before an added kill."""
TOLD_EVERY_SECONDS = 20.0


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    logs.configure(json=False, level="ERROR")
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)
    accounts, stops = [], asked.turns // 100 if asked.stops is None else asked.stops
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console) as progress:
        for name in asked.only or CONTENDERS:
            contender = CONTENDERS[name]
            tell = Progressing(progress, contender.name)
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                accounts.append(runner.run(_tried(contender, asked.turns, asked.seed, stops, tell)))
            tell.stop()
    console.print(report.table(accounts))
    BUILD.mkdir(exist_ok=True)
    told = report.document(accounts, seed=asked.seed, turns=asked.turns)
    (BUILD / "kill-trial.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    problems = [problem for each in accounts for problem in each.problems]
    if any(each.ours for each in accounts):
        console.print("; ".join(problems) or "Suma repeated nothing and lost nothing.")
    console.print(f"The same again: make kill-trial TURNS={asked.turns} SEED={asked.seed}")
    return int(bool(problems))


async def _tried(
    contender: Contender, turns: int, seed: int, stops: int, tell: Callable[[str], None]
) -> report.Account:
    drawn = draw(seed, turns, contender.effects)
    with tempfile.TemporaryDirectory(prefix="suma-trial-") as folder:
        async with ephemeral() as server, contender.stage(server, Path(folder)) as stage:
            result = await killer.run(
                contender, stage, drawn, Path(folder), tell, stops=stops if contender.ours else 0, least=LEAST
            )
    return report.account(contender.name, drawn, result, ours=contender.ours)


class Progressing:
    """Where a contender is: a line that moves, or one every now and then where nothing can move."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress, self._name, self._told = progress, name, time.monotonic()
        self._task = progress.add_task(name)

    def __call__(self, text: str) -> None:
        self._progress.update(self._task, description=f"{self._name}: {text}")
        if not self._progress.console.is_terminal and time.monotonic() - self._told > TOLD_EVERY_SECONDS:
            self._told = time.monotonic()
            self._progress.console.print(f"{self._name}: {text}")

    def stop(self) -> None:
        self._progress.stop_task(self._task)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.trial", description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS, help=f"of each contender (default {TURNS})")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31), help="draws the turns and the kills")
    parser.add_argument(
        "--stops", type=int, help="how often Suma's executor is stopped beyond its leases (1 %% of the turns)"
    )
    parser.add_argument("--only", action="append", choices=[*CONTENDERS], help="only this one; may be given again")
    return parser


if __name__ == "__main__":
    sys.exit(main())
