"""`python -m tests.evals [--half tuned|held-out] [--kind K] [--id ID] [-v]`, or `--days`.

It ends with 0 when enough is right and nothing was changed wrongly, else with 1.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from rich.console import Console

from services.cli.evals import cases, table
from services.cli.evals.cases import HALVES, BadCases
from services.cli.evals.table import Tally
from tests.evals import days, in_process

LEAST = 0.9


def main() -> int:
    chosen = _parser().parse_args()
    console = Console(highlight=False, soft_wrap=True)
    if chosen.days:
        console.print(*days.figures(), sep="\n")
        return 0
    try:
        wanted = cases.half(chosen.half).of(id=chosen.id, kind=chosen.kind)
        cases.check(wanted)
    except BadCases as error:
        console.print(f"tests.evals: {error}", style="red", markup=False)
        return 2
    tally = Tally(tuple(asyncio.run(in_process.scores(in_process.Agent.offline(), wanted, wanted.cases))))
    for score in tally.scores:
        if chosen.verbose and not score.right:
            console.print(table.failure(score), markup=False)
        elif chosen.verbose > 1 or chosen.id:
            console.print(f"✔ {score.case.id} {score.case.request!r}", markup=False)
    table.show(console, tally)
    return 0 if tally.all.value >= LEAST and not tally.wrong_changes else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.evals", description="The offline model on the cases.")
    parser.add_argument("--half", default="tuned", help=" or ".join(HALVES))
    parser.add_argument("--kind", help="only cases of this kind")
    parser.add_argument("--id", help="only this case")
    parser.add_argument("--days", action="store_true", help="how the rounds of tests/evals/day*.yaml were judged")
    parser.add_argument(
        "-v", "--verbose", action="count", default=0, help="each case that is not right; -vv: each case"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
