"""A contest: contenders in processes of their own, one at a time, on one PostgreSQL whose own CPU counts as theirs."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from libs.embedded.postgres import Postgres
from tests.infrastructure import TEMPLATE, fresh_database

ROOT = Path(__file__).resolve().parents[2]
ANSWER_MOST_BYTES = 1 << 24
ANSWER_SECONDS = 300
WARM_UP = {"sessions": 8, "turns": 64}


@dataclass(frozen=True, slots=True)
class Load:
    sessions: int
    turns: int


@dataclass(frozen=True, slots=True)
class Contender:
    """How to start one: its command, given the server and a database of its own."""

    name: str
    command: Callable[[Postgres, str], Awaitable[Sequence[str]]]
    template: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One run, in seconds: `cpu` is of the contender's process, `database` of all of PostgreSQL's; `lag` is how long
    what nobody waits for took after the last answer, and is part of `wall`."""

    latencies: Sequence[float]
    wall: float
    cpu: float
    database: float
    lag: float

    @property
    def p50(self) -> float:
        return statistics.median(self.latencies)

    @property
    def p99(self) -> float:
        return sorted(self.latencies)[int(len(self.latencies) * 0.99)]

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.wall


Of = Callable[[Measured], float]


def median(runs: Sequence[Measured], of: Of) -> float:
    return statistics.median(map(of, runs))


Racer = Callable[[Load], Awaitable[Measured]]
"""A contender at work, to be given one load after another."""
Ask = Callable[[dict[str, int]], Awaitable[dict[str, Any]]]
Runs = Mapping[tuple[str, int], Sequence[Measured]]
"""What was measured, in the order of the rounds, by contender and number of sessions."""


async def race(
    server: Server, contenders: Sequence[Contender], loads: Sequence[Load], *, rounds: int, tell: Callable[[str], None]
) -> Runs:
    """All of them at work, one at a time and in short turns, so that a noisy minute meets everyone alike."""
    runs: dict[tuple[str, int], list[Measured]] = defaultdict(list)
    async with AsyncExitStack() as stack:
        racers = {}
        for contender in contenders:
            tell(f"starting {contender.name}")
            racers[contender.name] = await stack.enter_async_context(server.running(contender))
        for n in range(rounds):
            for load in loads:
                for name, racer in racers.items():
                    tell(f"round {n + 1} of {rounds}, {load.sessions} sessions: {name}")
                    runs[name, load.sessions].append(await racer(load))
    return runs


def ratio(ours: Sequence[Measured], theirs: Sequence[Measured], of: Of) -> float:
    """The median of the rounds' own ratios: what both met in the same minute."""
    return statistics.median(of(our) / of(their) for our, their in zip(ours, theirs, strict=True))


class Server:
    """A PostgreSQL as the embedded default has it, fsync on, for the contest alone."""

    def __init__(self, postgres: Postgres, pid: int) -> None:
        self.postgres, self._pid = postgres, pid

    @classmethod
    @asynccontextmanager
    async def started(cls) -> AsyncIterator[Server]:
        with tempfile.TemporaryDirectory(prefix="suma-bench-") as folder:
            data = Path(folder) / "data"
            data.mkdir(mode=0o700)
            async with Postgres(data) as postgres:
                await postgres.create_database(TEMPLATE)
                pid = int((data / "postgres" / "postmaster.pid").read_text().split("\n")[0])
                yield cls(postgres, pid)

    @asynccontextmanager
    async def running(self, contender: Contender) -> AsyncIterator[Racer]:
        """Start it on a fresh database and warm it up."""
        async with fresh_database(self.postgres, contender.template) as where:
            name = where.owner.split("@/")[1].split("?")[0]
            async with _process(await contender.command(self.postgres, name)) as ask:
                await ask(WARM_UP)
                yield partial(self._measure, ask)

    async def _measure(self, ask: Ask, load: Load) -> Measured:
        before = self.cpu()
        told = await ask({"sessions": load.sessions, "turns": load.turns})
        return Measured(told["latencies"], told["wall"], told["cpu"], self.cpu() - before, told["lag"])

    def cpu(self) -> float:
        """Seconds that the server's processes have used, ended ones included."""
        total = 0.0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == self._pid:
                total += int(fields[11]) + int(fields[12])
            elif stat.parent.name == str(self._pid):
                total += sum(map(int, fields[11:15]))
        return total / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def _process(command: Sequence[str]) -> AsyncIterator[Ask]:
    """A contender at work; what it says on standard error is shown only when it fails."""
    with tempfile.TemporaryFile() as complaints:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=complaints,
            limit=ANSWER_MOST_BYTES,
            env={**os.environ, "PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false"},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        asking, answering = process.stdin, process.stdout

        async def answer() -> dict[str, Any]:
            line = await asyncio.wait_for(answering.readline(), ANSWER_SECONDS)
            if not line:
                complaints.seek(0)
                raise RuntimeError(f"{' '.join(command)} failed:\n{complaints.read().decode(errors='replace')[-4000:]}")
            return dict(json.loads(line))

        async def ask(load: dict[str, int]) -> dict[str, Any]:
            asking.write(json.dumps(load).encode() + b"\n")
            return await answer()

        await answer()
        try:
            yield ask
        finally:
            asking.close()
            try:
                await asyncio.wait_for(process.wait(), 20)
            except TimeoutError:
                process.kill()
                await process.wait()
