"""A process that is killed around a call of a model: what may have been paid stays paid for, whoever comes after it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from pydantic import SecretStr

from libs.budgets import Accounts, Amount, Limits, OverBudget, Payer, Reservation
from libs.budgets.paying import paid_by
from libs.budgets.postgres import PostgresBudgets
from libs.database import Database, Dsns
from libs.events.committee import Task
from libs.models.choice import Key, chosen
from libs.models.vendors import Bounds, Price, VendorModel, opened
from libs.resilience import GuardedCall
from tests.infrastructure import PLENTY
from tests.infrastructure.bank import ADA, Bank, bank, tried
from tests.infrastructure.vendor import KEY, Turn, Vendor, said, vendor
from tests.support.processes import Child

USED = 120
TASK = Task(text="how many files are there?", intent="question", tools=("*",))


@dataclass
class Deadly:
    """Accounts at which their process dies: before or after a verb."""

    budgets: PostgresBudgets
    point: str

    @property
    def limits(self) -> Limits:
        return self.budgets.limits

    async def reserve(self, payer: Payer, worst: Amount, *, about: str) -> Reservation:
        self._at("reserve:before")
        kept = await self.budgets.reserve(payer, worst, about=about)
        self._at("reserve:after")
        return kept

    async def settle(self, reservation: Reservation, used: Amount) -> bool:
        self._at("settle:before")
        settled = await self.budgets.settle(reservation, used)
        self._at("settle:after")
        return settled

    async def free_turn(self, reservation: Reservation) -> None:
        await self.budgets.free_turn(reservation)

    async def accounts(self, tenant: str, session: str | None = None) -> Accounts:
        return await self.budgets.accounts(tenant, session)

    async def trim(self) -> int:
        return await self.budgets.trim()

    def _at(self, point: str) -> None:
        if point == self.point:
            os.kill(os.getpid(), signal.SIGKILL)


def calls(where: Dsns, url: str, point: str) -> None:
    """A process that asks the model once, and dies at a point of that."""
    asyncio.run(_call(where, url, point))


async def _call(where: Dsns, url: str, point: str) -> None:
    which = chosen("openai:toy", url=url, key=Key(SecretStr(KEY), None, {}))
    accounts = Deadly(PostgresBudgets(Database(where), PLENTY), point)
    async with opened(which, Bounds()) as line:
        model = VendorModel(
            line, GuardedCall("model"), price=Price(1, 2), now=lambda: datetime.now(UTC), budgets=accounts
        )
        with paid_by(ADA):
            [piece async for piece in model.answer(TASK)]


@pytest_asyncio.fixture
async def there() -> AsyncIterator[Vendor]:
    async with vendor() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def accounts(where: Dsns) -> AsyncIterator[Bank]:
    async with bank(where) as opened:
        yield opened


@pytest.mark.requirement("A10", "A17c")
@pytest.mark.parametrize(
    ("point", "asked", "spent", "reserves"),
    [
        ("reserve:before", 0, 0, False),
        ("reserve:after", 0, 0, True),
        ("settle:before", 1, 0, True),
        ("settle:after", 1, USED, False),
    ],
)
async def test_kill_at_the_accounts_leaves_them_on_the_safe_side(
    accounts: Bank, there: Vendor, point: str, asked: int, spent: int, reserves: bool
) -> None:
    child = Child(calls, accounts.where, there.play(said("Two.")).url, point)
    assert await child.ended(60) == -signal.SIGKILL
    held = await accounts.held()
    assert (len(there.asked), held[0], held[1] > 16_000) == (asked, spent, reserves)


@pytest.mark.requirement("A10", "A17c")
async def test_kill_while_the_model_speaks_spends_the_worst_case(accounts: Bank, there: Vendor) -> None:
    child = Child(calls, accounts.where, there.play(Turn(chunks=["Tw"], hangs=True)).url, "nowhere")
    await there.heard(1, seconds=60)
    child.kill()
    await child.ended(60)
    _, worst = await accounts.held()
    next_one = accounts.budgets(turn=Amount(worst + 10, 10**12))
    assert isinstance(await tried(next_one, ADA, Amount(11)), OverBudget)
    await accounts.later(6 * 3600 + 1)
    assert await next_one.trim() == 1
    assert await accounts.held() == (worst, 0)
    assert isinstance(await tried(next_one, ADA, Amount(11)), OverBudget), "and it stays so"
