"""`python -m tests.benchmarks.turn`: counts of one full turn, which a test bounds, and its CPU, which is only shown."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence

import uvloop
from rich.console import Console
from rich.table import Table

from libs.telemetry import logs
from tests.benchmarks.contest import Contender, Load, Measured, Server, race
from tests.benchmarks.counts import BOUNDS, Round
from tests.benchmarks.rows import figure
from tests.benchmarks.turns import SUMA, counted_on, ours
from tests.infrastructure import TEMPLATE

LOADS = (Load(1, 48), Load(64, 256))
ROUNDS = 3


async def main() -> None:
    console = Console()
    async with Server.started() as server:
        cost = await counted_on(server.postgres)
        console.print(counts(cost.counts), path(cost.rounds))
        runs = await race(server, [Contender(SUMA, ours("platform"), TEMPLATE)], LOADS, rounds=ROUNDS, tell=_silent)
        console.print(cpu({sessions: measured for (_, sessions), measured in runs.items()}))


def counts(counted: Mapping[str, float]) -> Table:
    made = Table("one turn, one session", "counted", "bound")
    for name, value in counted.items():
        made.add_row(name, f"{value:,.2f}".removesuffix(".00"), f"{BOUNDS[name]:,g}")
    return made


def path(rounds: Sequence[Round]) -> Table:
    """Show the round trips of one turn, in order."""
    made = Table("round trip", "handles", "says", "starts", "bytes")
    for each in rounds:
        if each.read:
            made.add_row("read", f"{each.read[:76]}…", "", "", "")
        else:
            made.add_row(
                "commit", *("\n".join(part) for part in (each.inputs, each.events, each.leases)), f"{each.size:,}"
            )
        made.add_section()
    return made


def cpu(runs: Mapping[int, Sequence[Measured]]) -> Table:
    """Show the CPU of a turn, which depends on the machine's load."""
    made = Table("sessions", "Python, ms of CPU", "Postgres, ms of CPU", "p50 ms", "turns/s")
    for sessions, measured in runs.items():
        for run in measured:
            each = len(run.latencies)
            figures = (run.cpu / each * 1000, run.database / each * 1000, run.p50 * 1000, run.rate)
            made.add_row(str(sessions), *map(figure, figures))
    return made


def _silent(_: str) -> None:
    return None


if __name__ == "__main__":
    logs.configure(json=False, level="ERROR")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sys.exit(runner.run(main()))
