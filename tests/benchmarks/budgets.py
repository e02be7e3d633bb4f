"""Reservations before calls of a model, beside the least that keeps one number under a limit: a raw `update … where`.

A reservation checks and changes three accounts and notes the call; the raw one changes a row. Both wait for the disk,
on as many connections. And a thousand callers at once before one account: by how much it is overspent.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import asyncpg
from rich.text import Text

from libs.budgets import Amount, OverBudget, Payer
from libs.budgets.postgres import PostgresBudgets
from libs.budgets.schema import SCHEMA
from libs.bus.log import SCHEMA as BUS
from libs.database import Database, Dsns, migrate
from tests.benchmarks.contest import Server
from tests.benchmarks.rows import Row, most
from tests.infrastructure import PLENTY, TEMPLATE, fresh_database
from tests.infrastructure.bank import limited

Call = Callable[[int], Awaitable[object]]
AT_ONCE, ROWS, CONNECTIONS = 32, 64, 4
CALLERS, LIMIT = 1000, 1003
WORST, USED = Amount(40_000, 70_000), Amount(5_000, 9_000)
RAW = "update raw set spent = spent + $2 where id = $1 and spent + $2 <= most"


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    rounds, each = (4, 100) if quick else (15, 300)
    taken: dict[str, list[float]] = {
        name: [] for name in ("one", "one raw", "many", "many raw", "settled", "settled raw")
    }
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(Server.started())
        where = await stack.enter_async_context(fresh_database(server.postgres, TEMPLATE))
        for schema in (BUS, SCHEMA):
            await migrate(where.owner, schema)
        budgets = PostgresBudgets(await _database(stack, where), PLENTY)
        raw = await stack.enter_async_context(_raw(where))
        await raw.execute("create table raw (id int primary key, spent bigint not null, most bigint not null)")
        await raw.execute("insert into raw select n, 0, 1000000000000 from generate_series(0, $1::int) as n", ROWS)
        numbers = itertools.count()
        calls: dict[str, Call] = {
            "one": lambda n: budgets.reserve(_payer(numbers), WORST, about="toy"),
            "one raw": lambda n: raw.execute(RAW, 0, 1),
            "many": lambda n: budgets.reserve(_payer(numbers, f"tenant {n % ROWS}"), WORST, about="toy"),
            "many raw": lambda n: raw.execute(RAW, n % ROWS, 1),
        }
        for n in range(rounds):
            tell(f"reservations, round {n + 1} of {rounds}")
            for name, call in calls.items():
                taken[name].append(await _together(call, each))
            taken["settled"].append(await _settled(budgets, _payer(numbers, "alone")))
            taken["settled raw"].append(await _twice(raw))
        tell("a thousand callers")
        over = await _overshoot(await _databases(stack, where))
    median = {name: statistics.median(times) for name, times in taken.items()}
    ratios = {
        name: statistics.median(ours / theirs for ours, theirs in zip(taken[name], taken[f"{name} raw"], strict=True))
        for name in ("one", "many", "settled")
    }
    row = "raw update … where of one row"
    return [
        Row("budget reservations, one tenant", median["one"], "/s", row, median["one raw"], paired=ratios["one"]),
        Row(
            f"budget reservations, {ROWS} tenants",
            *(median["many"], "/s", "the same of as many rows", median["many raw"]),
            paired=ratios["many"],
        ),
        Row(
            "reserved and settled, alone: p50",
            *(median["settled"] * 1000, "ms", "two raw updates", median["settled raw"] * 1000),
            paired=ratios["settled"],
        ),
        Row("budget overshoot with 1,000 callers", over, "units", goal=most(0)),
    ], Text()


def _payer(numbers: Iterator[int], tenant: str = "one") -> Payer:
    """Each call of a turn of its own, a few turns to a session."""
    n = next(numbers)
    return Payer(tenant, f"s{n // 4}", f"t{n}")


async def _together(call: Call, count: int) -> float:
    """Calls a second, with so many at once."""
    left = iter(range(count))

    async def caller() -> None:
        for n in left:
            await call(n)

    began = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(AT_ONCE)))
    return count / (time.perf_counter() - began)


async def _settled(budgets: PostgresBudgets, payer: Payer) -> float:
    began = time.perf_counter()
    await budgets.settle(await budgets.reserve(payer, WORST, about="toy"), USED)
    return time.perf_counter() - began


async def _twice(raw: asyncpg.Pool[asyncpg.Record]) -> float:
    began = time.perf_counter()
    await raw.execute(RAW, 0, 1)
    await raw.execute(RAW, 0, 1)
    return time.perf_counter() - began


async def _overshoot(databases: list[Database]) -> float:
    """What was given out beyond the limit, when a thousand ask for 7 of it at once from several processes."""
    desks = [PostgresBudgets(database, limited(tenant=Amount(LIMIT, 10**12))) for database in databases]

    async def ask(n: int) -> int:
        try:
            await desks[n % len(desks)].reserve(Payer("crowd", f"s{n % 7}", f"t{n}"), Amount(7), about="toy")
        except OverBudget:
            return 0
        return 7

    given = sum(await asyncio.gather(*map(ask, range(CALLERS))))
    tokens = (await desks[0].accounts("crowd")).tenant.tokens
    return float(max(0, given - LIMIT, tokens.spent + tokens.reserved - LIMIT))


async def _database(stack: AsyncExitStack, where: Dsns) -> Database:
    database = Database(where)
    stack.push_async_callback(database.close)
    return database


async def _databases(stack: AsyncExitStack, where: Dsns) -> list[Database]:
    return [await _database(stack, where) for _ in range(4)]


def _raw(where: Dsns) -> asyncpg.Pool[asyncpg.Record]:
    return asyncpg.create_pool(where.owner, min_size=CONNECTIONS, max_size=CONNECTIONS)
