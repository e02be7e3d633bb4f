"""`python -m tests.chaos --profile split --minutes 30 --seed 1`: the platform under load while everything goes wrong
that can, and a judgement at the end.

Exit 0: nothing was lost, nothing happened twice, everything in order. Exit 1: the sentences say what was not. The logs
of every process, the journal of the load and all data stay in the folder that is named then; they go after a clean run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from typing import Any

import uvloop

from libs.telemetry import logs
from tests.chaos.profiles import PROFILES
from tests.chaos.run import Ended, Plan, run

BUILD = Path("build")
SHOWN_MOST = 10


def main() -> int:
    chosen = _parser().parse_args()
    logs.configure(json=False, level="ERROR")
    seed = chosen.seed if chosen.seed is not None else SystemRandom().randint(1, 10**6)
    plan = Plan(PROFILES[chosen.profile], seed, chosen.minutes * 60, people=chosen.people)
    place = (BUILD / f"chaos-{plan.profile.name}-{seed}").resolve()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    print(f"chaos: {plan.profile.name}, seed {seed}, {chosen.minutes:g} minutes; all of it in {place}", flush=True)
    ended = _performed(plan, place)
    if ended is None:
        return 130
    place.with_suffix(".json").write_text(json.dumps(ended.report(), indent=1))
    _tell(ended)
    if ended.clean and not chosen.keep:
        shutil.rmtree(place)
    return 0 if ended.clean else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--profile", choices=sorted(PROFILES), default="embedded")
    parser.add_argument("--minutes", type=float, default=30, help="of faults; the load drains afterwards")
    parser.add_argument("--seed", type=int, help="of the faults and the load, to have the same again")
    parser.add_argument("--people", type=int, default=5, help="sessions at a time")
    parser.add_argument("--keep", action="store_true", help="keep the folder after a clean run, too")
    return parser


def _performed(plan: Plan, place: Path) -> Ended | None:
    """How it ended; None when someone has stopped it, and nothing of it runs any more."""

    async def performing() -> Ended:
        task = asyncio.ensure_future(run(plan, place, tell=_say))
        for asked in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(asked, task.cancel)
        return await task

    with suppress(asyncio.CancelledError), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(performing())
    return None


def _say(line: str) -> None:
    print(f"  {time.strftime('%H:%M:%S')} {line}", flush=True)


def _tell(ended: Ended) -> None:
    print(_table(ended.figures()))
    for check, sentences in ended.problems.items():
        print(f"✘ {check.replace('_', ' ')}: {len(sentences)}")
        for sentence in sentences[:SHOWN_MOST]:
            print(f"    {sentence}")
    print("✔ clean" if ended.clean else "✘ not clean")


def _table(figures: Mapping[str, Any]) -> str:
    width = max(map(len, figures))
    return "\n".join(f"  {name:{width}}  {value}" for name, value in figures.items())


if __name__ == "__main__":
    sys.exit(main())
