"""`python -m tests.exploration --cases 200 --sequences 300 --seed 1`: the large run, on a platform of its own.

Exit 0: nothing was wrong. Exit 1: each finding is printed with the first request that shows it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.exploration.run import explored


def main() -> int:
    chosen = _parser().parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="suma-exploration-") as place:
        found = asyncio.run(
            explored(Path(place), cases=chosen.cases, sequences=chosen.sequences, steps=chosen.steps, seed=chosen.seed)
        )
    for (operation, wrong), request in sorted(found.wrong.items()):
        print(f"{operation}: {wrong}\n    {request}")
    slowest = sorted(found.seconds.items(), key=lambda item: -item[1])
    for operation, spent in slowest[:5]:
        print(f"{spent:6.1f} s in {found.asked[operation]} answers of {operation}")
    seconds = time.monotonic() - began
    statuses = ", ".join(f"{status}: {number}" for status, number in sorted(found.statuses.items()))
    about = f"{found.cases} cases of {len(found.asked)} operations, {found.sequences} sequences, in {seconds:.0f} s"
    print(f"{about}; {len(found.wrong)} wrong ({statuses})")
    return 1 if found.wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.exploration", description=__doc__)
    parser.add_argument("--cases", type=int, default=200, help="valid requests of each operation, and invalid ones")
    parser.add_argument("--sequences", type=int, default=300)
    parser.add_argument("--steps", type=int, default=12, help="the most operations of a sequence")
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    sys.exit(main())
