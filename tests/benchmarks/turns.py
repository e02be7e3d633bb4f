"""A durable, tool-using turn beside LangGraph and beside the same written by hand (architecture.md 18)."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from rich.table import Table

from libs.embedded.postgres import Postgres
from tests import peers
from tests.benchmarks.contest import Contender, Load, Measured, Of, Runs, Server, median, race, ratio
from tests.benchmarks.counts import Cost, count
from tests.benchmarks.rows import Goal, Row, figure, least, most
from tests.infrastructure import TEMPLATE, dsns, fresh_database

EACH = (
    "All sides sleep three times for 0 to 4 ms (model, tool, model) and make each step durable. "
    "Suma is the whole platform: identity, limits, six policy decisions, a signed grant, a folder listing, memory "
    "written and recalled, ten chained audit records, numbered events for viewers, traces, six services with "
    "production's pools. Suma's bus alone: the same events through the same services, without their work. "
    "LangGraph is a bare graph with a checkpoint after each step; by hand is 4 or 7 transactions."
)
NEEDS: Mapping[str, float] = {
    "commits": 5,
    "read round trips": 3,
    "document bytes": 24_000,
    "spans": 10,
    "thread hops": 1,
    "internal HTTP calls": 0,
}
"""The aims for a turn at one session; a test holds it to bounds that a busy machine keeps (`counts.BOUNDS`)."""
Command = Callable[[Postgres, str], Awaitable[Sequence[str]]]

SUMA, ECHO = "Suma", "Suma, bus only"
ONE, EIGHT = "LangGraph, 1 saver", "LangGraph, 8 savers"
SEVEN, FOUR = "by hand, 7 tx", "by hand, 4 tx"
EMPTY = "template1"
SINGLE, SOME, MANY = 1, 16, 64

FULL = (Load(SINGLE, 24), Load(SOME, 128), Load(MANY, 384)), 5
QUICK = (Load(SINGLE, 12), Load(SOME, 64), Load(MANY, 256)), 3


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Table]:
    """The rows, and everyone's raw figures."""
    loads, rounds = QUICK if quick else FULL
    tell("making LangGraph's environment")
    await peers.python("langgraph")
    async with Server.started() as server:
        tell("counting what one turn needs")
        counted = (await counted_on(server.postgres)).counts
        runs = await race(server, contenders(), loads, rounds=rounds, tell=tell)
    full = [replace(row, why=because(counted, runs)) for row in rows(SUMA, runs)]
    return [*full, *rows(ECHO, runs), *needs(counted)], raw(runs)


async def counted_on(server: Postgres) -> Cost:
    """Count one full turn, on a database of its own."""
    async with fresh_database(server) as where:
        name = where.owner.split("@/")[1].split("?")[0]
        return await count(dsns(server, name))


def needs(counted: Mapping[str, float]) -> list[Row]:
    """Return what one turn at one session needs, with the most that it may."""
    return [Row(f"{SUMA}: {name} of a turn", counted[name], "", goal=most(bound)) for name, bound in NEEDS.items()]


def because(counted: Mapping[str, float], runs: Runs) -> str:
    """Return why a turn costs more than LangGraph's: what it consists of, and where its CPU goes."""
    parts = ", ".join(f"{value:,.3g} {name}" for name, value in counted.items() if name != "internal HTTP calls")
    ours, bus = runs[SUMA, MANY], runs[ECHO, MANY]
    whole, database = median(ours, _cpu) * 1000, median(ours, _database) * 1000
    bare, stored = median(bus, _cpu) * 1000, median(bus, _database) * 1000
    return (
        f"a full turn is {parts}; LangGraph's bare graph is 8 to 12 commits of one checkpoint each. "
        f"Of {whole:.1f} ms of CPU at {MANY} sessions, {database:.1f} are Postgres's. The bus alone takes {bare:.1f} "
        f"({stored:.1f} of it Postgres's); the rest is the work of the services (docs/turn-cost.md)."
    )


def contenders() -> list[Contender]:
    return [
        Contender(SUMA, ours("platform"), TEMPLATE),
        Contender(ONE, _langgraph(1), EMPTY),
        Contender(ECHO, ours("echo"), TEMPLATE),
        Contender(EIGHT, _langgraph(8), EMPTY),
        Contender(SEVEN, _by_hand(7), EMPTY),
        Contender(FOUR, _by_hand(4), EMPTY),
    ]


def rows(who: str, runs: Runs) -> Iterator[Row]:
    def row(what: str, sessions: int, of: Of, peer: str, goal: Goal | None = None, *, unit: str = "ms") -> Row:
        ours, theirs = runs[who, sessions], runs[peer, sessions]
        scale = 1000 if unit == "ms" else 1
        name = f"{who}: {what}, {sessions} session{'s' * (sessions > 1)}"
        figures = median(ours, of) * scale, unit, peer, median(theirs, of) * scale
        return Row(name, *figures, goal, ratio(ours, theirs, of))

    yield row("turn p50", SINGLE, _p50, ONE, most(1.1))
    for peer in (EIGHT, SEVEN, FOUR):
        yield row("turn p50", SINGLE, _p50, peer)
    yield row("turn p99", SINGLE, _p99, ONE)
    for peer in (ONE, EIGHT, SEVEN):
        yield row("turns/s", SOME, _rate, peer, unit="/s")
    yield row("turns/s", MANY, _rate, EIGHT, least(1.2), unit="/s")
    for peer in (ONE, SEVEN, FOUR):
        yield row("turns/s", MANY, _rate, peer, unit="/s")
    yield row("CPU of a turn", MANY, _cpu, EIGHT, most(1.0))
    for peer in (ONE, SEVEN):
        yield row("CPU of a turn", MANY, _cpu, peer)
    yield Row(f"{who}: turn p99 ÷ p50, 16 sessions", median(runs[who, SOME], _spread), "×", goal=most(4.0))
    yield Row(f"{who}: audit and memory after the last answer", median(runs[who, MANY], _lag) * 1000, "ms")


def raw(runs: Runs) -> Table:
    made = Table("contender", "sessions", "p50 ms", "p99 ms", "turns/s", "range", "CPU ms", "of it Postgres")
    made.title = "The turn, raw: medians of the rounds"
    made.caption = EACH
    for (name, sessions), measured in sorted(runs.items(), key=lambda item: item[0][1]):
        rates = [run.rate for run in measured]
        ends = f"{figure(min(rates))}–{figure(max(rates))}"
        p50, p99, cpu, database = (figure(median(measured, of) * 1000) for of in (_p50, _p99, _cpu, _database))
        made.add_row(name, str(sessions), p50, p99, figure(median(measured, _rate)), ends, cpu, database)
    return made


def _p50(run: Measured) -> float:
    return run.p50


def _p99(run: Measured) -> float:
    return run.p99


def _spread(run: Measured) -> float:
    return run.p99 / run.p50


def _rate(run: Measured) -> float:
    return run.rate


def _cpu(run: Measured) -> float:
    return (run.cpu + run.database) / len(run.latencies)


def _database(run: Measured) -> float:
    return run.database / len(run.latencies)


def _lag(run: Measured) -> float:
    return run.lag


def ours(module: str) -> Command:
    """Return the command of a contender that runs Suma's own code."""

    async def command(server: Postgres, database: str) -> Sequence[str]:
        where = dsns(server, database)
        return [sys.executable, "-m", f"tests.benchmarks.contenders.{module}", where.owner, where.bus, where.app]

    return command


def _langgraph(savers: int) -> Command:
    async def command(server: Postgres, database: str) -> Sequence[str]:
        interpreter = await peers.python("langgraph")
        dsn = server.dsn("suma_owner", database)
        return [interpreter, "-m", "tests.benchmarks.contenders.langgraph", dsn, str(savers)]

    return command


def _by_hand(transactions: int) -> Command:
    async def command(server: Postgres, database: str) -> Sequence[str]:
        dsn = server.dsn("suma_owner", database)
        return [sys.executable, "-m", "tests.benchmarks.contenders.by_hand", dsn, str(transactions)]

    return command
