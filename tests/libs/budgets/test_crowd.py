"""A thousand concurrent callers of one budget, over many connections, with continuous checks of the accounts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

import asyncpg
import pytest

from libs.budgets import Amount, Payer, Reservation
from libs.budgets.postgres import PostgresBudgets
from tests.infrastructure.bank import Bank, tried

CALLERS, PROCESSES = 1000, 4
LIMIT = 1003
HIGHEST = "select coalesce(max(tokens_spent + tokens_reserved - tokens_most), 0) from budgets.accounts"


@dataclass
class Watch:
    """The largest excess of any account over its limit, and the number of checks."""

    beyond: int = -LIMIT
    looks: int = 0


@asynccontextmanager
async def watched(bank: Bank) -> AsyncIterator[Watch]:
    """Check every account repeatedly, on a separate connection."""
    watch, eye = Watch(), await asyncpg.connect(bank.eye_dsn)

    async def look() -> None:
        while True:
            watch.beyond = max(watch.beyond, await eye.fetchval(HIGHEST))
            watch.looks += 1

    looking = asyncio.ensure_future(look())
    try:
        yield watch
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        await eye.close()


def payers(random: Random) -> list[Payer]:
    """Return turns of a few sessions of one tenant; some share a session."""
    return [Payer("ada", f"s{random.randrange(7)}", f"t{random.randrange(400)}") for _ in range(CALLERS)]


@pytest.mark.requirement("A17c")
@pytest.mark.parametrize("account", ["turn", "session", "tenant"])
async def test_exactly_as_many_of_a_thousand_callers_pass_as_fit(bank: Bank, account: str) -> None:
    processes = [bank.budgets(**{account: Amount(LIMIT, 10**12)}) for _ in range(PROCESSES)]
    payer = Payer("ada", "s1", "t1")
    async with watched(bank) as watch:
        asked = (tried(processes[n % PROCESSES], payer, Amount(7)) for n in range(CALLERS))
        got = [each for each in await asyncio.gather(*asked) if isinstance(each, Reservation)]
    assert len(got) == LIMIT // 7
    assert await bank.held(account) == (0, LIMIT // 7 * 7)
    assert watch.beyond <= 0 < watch.looks


@pytest.mark.requirement("A17c")
async def test_thousand_callers_release_unused_amounts_and_never_overspend(
    bank: Bank,
) -> None:
    processes = [bank.budgets(tenant=Amount(LIMIT, 10**12)) for _ in range(PROCESSES)]
    random = Random(17)
    used = [random.randint(1, 9) for _ in range(CALLERS)]
    async with watched(bank) as watch:
        calls = (paid(processes[n % PROCESSES], payer, used[n]) for n, payer in enumerate(payers(random)))
        spent = await asyncio.gather(*calls)
        while last := await paid(processes[0], Payer("ada", "s", "t"), 1):
            spent.append(last)
    assert await bank.held("tenant") == (sum(spent), 0)
    assert sum(spent) == LIMIT - 8, "one more, and the next call that might use 9 would not fit"
    assert watch.beyond <= 0
    assert await bank.eye.fetchval("select count(*) from budgets.reservations") == 0


async def paid(budgets: PostgresBudgets, payer: Payer, used: int) -> int:
    """Return the amount spent by a caller that reserves 9 and uses less; zero if there is no room."""
    kept = await tried(budgets, payer, Amount(9))
    if not isinstance(kept, Reservation):
        return 0
    await budgets.settle(kept, Amount(used))
    return used


@pytest.mark.requirement("A17c")
async def test_callers_of_many_turns_and_sessions_never_deadlock(bank: Bank) -> None:
    processes = [bank.budgets() for _ in range(PROCESSES)]

    async def call(budgets: PostgresBudgets, payer: Payer) -> None:
        await budgets.settle(await budgets.reserve(payer, Amount(3, 5), about="toy"), Amount(2, 4))

    crowd = payers(Random(5))
    await asyncio.gather(*(call(processes[n % PROCESSES], payer) for n, payer in enumerate(crowd)))
    assert [await bank.held(kind) for kind in ("turn", "session", "tenant")] == [(2 * CALLERS, 0)] * 3
