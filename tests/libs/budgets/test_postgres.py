"""The accounts: reservation before a call, settlement after it, and the limit that a refusal names."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from libs.budgets import NOTHING, Amount, OverBudget, Payer, Reservation, Window
from libs.database import DatabaseDown, tenant_set
from libs.runtime.host import host, prepare
from tests import infrastructure
from tests.infrastructure.bank import ADA, Bank, limited, tried

HUNDRED = Amount(100, 100)


async def test_reserved_amount_is_unavailable_to_other_calls(bank: Bank) -> None:
    budgets = bank.budgets(turn=HUNDRED)
    await budgets.reserve(ADA, Amount(60), about="toy")
    with pytest.raises(OverBudget) as refused:
        await budgets.reserve(ADA, Amount(41), about="toy")
    assert (refused.value.code, refused.value.balance.reserved) == ("MAX_TOKENS", 60)
    assert await bank.held() == (0, 60)


async def test_settlement_spends_the_usage_and_releases_the_rest(bank: Bank) -> None:
    budgets = bank.budgets(turn=HUNDRED)
    assert await budgets.settle(await budgets.reserve(ADA, Amount(90, 90), about="toy"), Amount(20, 5))
    assert await bank.held() == (20, 0)
    assert isinstance(await tried(budgets, ADA, Amount(80, 95)), Reservation)


async def test_a_call_is_settled_once(bank: Bank) -> None:
    budgets = bank.budgets()
    kept = await budgets.reserve(ADA, Amount(50), about="toy")
    settled = await asyncio.gather(*(budgets.settle(kept, Amount(n)) for n in range(10, 20)))
    assert sum(settled) == 1
    spent, reserved = await bank.held()
    assert (spent in range(10, 20), reserved) == (True, 0)


async def test_a_call_that_was_not_made_gives_everything_back(bank: Bank) -> None:
    budgets = bank.budgets()
    await budgets.settle(await budgets.reserve(ADA, HUNDRED, about="toy"), NOTHING)
    assert [await bank.held(kind) for kind in ("turn", "session", "tenant")] == [(0, 0)] * 3


@pytest.mark.parametrize(
    ("account", "limit", "code"),
    [
        ("turn", Amount(99, 100), "MAX_TOKENS"),
        ("turn", Amount(100, 99), "MAX_COST"),
        ("session", Amount(99, 100), "SESSION_MAX_TOKENS"),
        ("session", Amount(100, 99), "SESSION_MAX_COST"),
        ("tenant", Amount(99, 100), "TENANT_MAX_TOKENS"),
        ("tenant", Amount(100, 99), "TENANT_MAX_COST"),
    ],
)
async def test_refusal_names_its_account_and_reserves_nothing(
    bank: Bank, account: str, limit: Amount, code: str
) -> None:
    refused = await tried(bank.budgets(**{account: limit}), ADA, HUNDRED)
    assert isinstance(refused, OverBudget)
    assert refused.code == code
    assert [await bank.held(kind) for kind in ("turn", "session", "tenant")] == [(0, 0)] * 3


async def test_turns_share_a_session_and_sessions_share_a_tenant(bank: Bank) -> None:
    budgets = bank.budgets(session=HUNDRED, tenant=Amount(150, 150))
    await budgets.reserve(ADA, Amount(80), about="toy")
    in_session = await tried(budgets, replace(ADA, turn="t2"), Amount(30))
    in_tenant = await tried(budgets, replace(ADA, session="s2", turn="t3"), Amount(80))
    assert [getattr(refused, "code", "") for refused in (in_session, in_tenant)] == [
        "SESSION_MAX_TOKENS",
        "TENANT_MAX_TOKENS",
    ]
    assert isinstance(await tried(budgets, replace(ADA, session="s2", turn="t3"), Amount(70)), Reservation)


@pytest.mark.requirement("P8")
async def test_another_tenant_pays_from_accounts_of_its_own(bank: Bank) -> None:
    budgets = bank.budgets(turn=HUNDRED, session=HUNDRED, tenant=HUNDRED)
    await budgets.reserve(ADA, HUNDRED, about="toy")
    assert isinstance(await tried(budgets, replace(ADA, tenant="bob"), HUNDRED), Reservation)
    accounts = await budgets.accounts("eve", ADA.session)
    assert accounts.session is not None
    assert (accounts.tenant.tokens.reserved, accounts.session.tokens.reserved) == (0, 0)


@pytest.mark.requirement("P8")
async def test_reservation_of_another_tenant_cannot_be_settled(bank: Bank) -> None:
    budgets = bank.budgets()
    kept = await budgets.reserve(ADA, HUNDRED, about="toy")
    assert not await budgets.settle(replace(kept, payer=replace(ADA, tenant="eve")), NOTHING)
    assert await bank.held() == (0, 100)


async def test_overrun_is_recorded_and_blocks_further_reservations(bank: Bank) -> None:
    budgets = bank.budgets(turn=HUNDRED)
    kept = await budgets.reserve(ADA, Amount(90), about="toy")
    await budgets.settle(kept, Amount(130, 7))
    assert await bank.held() == (130, 0)
    refused = await tried(budgets, ADA, Amount(1))
    assert isinstance(refused, OverBudget)
    assert (refused.balance.spent, refused.balance.limit) == (130, 100)


@pytest.mark.requirement("A17c")
async def test_no_account_row_can_exceed_its_limit(bank: Bank) -> None:
    await bank.budgets(turn=HUNDRED).reserve(ADA, HUNDRED, about="toy")
    for amount in ("tokens_reserved", "tokens_spent", "cost_reserved", "cost_spent"):
        with pytest.raises(asyncpg.CheckViolationError):
            await bank.eye.execute(f"update budgets.accounts set {amount} = {amount} + 1 where kind = 'turn'")


async def test_lowered_limit_applies_to_new_reservations(bank: Bank) -> None:
    kept = await bank.budgets(turn=HUNDRED).reserve(ADA, HUNDRED, about="toy")
    lower = bank.budgets(turn=Amount(50, 50))
    assert isinstance(await tried(lower, ADA, Amount(1)), OverBudget)
    await lower.settle(kept, Amount(40))
    assert isinstance(await tried(lower, ADA, Amount(10)), Reservation)


@pytest.mark.parametrize("window", ["hour", "day", "week", "month"])
async def test_tenant_account_starts_empty_in_each_calendar_window(bank: Bank, window: Window) -> None:
    budgets = bank.budgets()
    budgets.limits = replace(limited(tenant=HUNDRED), window=window)
    await budgets.reserve(ADA, HUNDRED, about="toy")
    until = (await budgets.accounts("ada")).tenant.until
    assert until is not None
    await bank.later((until - datetime.now(UTC) + timedelta(seconds=1)).total_seconds())
    assert isinstance(await tried(budgets, ADA, HUNDRED), Reservation)
    assert (await budgets.accounts("ada")).tenant.tokens.reserved == 100


async def test_call_is_paid_from_the_window_where_it_began(bank: Bank) -> None:
    budgets = bank.budgets()
    kept = await budgets.reserve(ADA, HUNDRED, about="toy")
    await bank.later(86_400)
    await budgets.settle(kept, Amount(30))
    assert (await budgets.accounts("ada")).tenant.tokens.spent == 0
    assert await bank.held("tenant") == (30, 0)


async def test_unsettled_reservation_becomes_spent_despite_a_late_settlement(bank: Bank) -> None:
    budgets = bank.budgets()
    kept = await budgets.reserve(ADA, HUNDRED, about="toy")
    assert await budgets.trim() == 0
    await bank.later(6 * 3600 + 1)
    assert await budgets.trim() == 1
    assert not await budgets.settle(kept, NOTHING)
    assert [await bank.held(kind) for kind in ("turn", "session", "tenant")] == [(100, 0)] * 3


async def test_platform_writes_off_unsettled_reservations(bank: Bank) -> None:
    async with infrastructure.platform(bank.where) as platform:
        await prepare(platform, [])
        await platform.budgets.reserve(ADA, HUNDRED, about="toy")
        await infrastructure.shift(platform.database, seconds=6 * 3600 + 1)
        async with host(platform, [], pace=replace(infrastructure.PACE, account=0.05)), asyncio.timeout(60):
            while await bank.held() != (100, 0):
                await platform.bus.waiting()


async def test_old_accounts_are_forgotten_and_those_in_use_are_kept(bank: Bank) -> None:
    budgets = bank.budgets()
    await budgets.settle(await budgets.reserve(ADA, HUNDRED, about="toy"), HUNDRED)
    await bank.later(36 * 86_400)
    await budgets.reserve(Payer("ada", "s1", "t2"), HUNDRED, about="toy")
    while await budgets.trim():
        pass
    rows = await bank.eye.fetch("select kind || ' ' || tokens_spent as told from budgets.accounts order by kind")
    assert [row["told"] for row in rows] == ["session 100", "tenant 0", "turn 0"]


async def test_accounts_are_trimmed_by_many_at_once(bank: Bank) -> None:
    processes = [bank.budgets() for _ in range(3)]
    for n in range(20):
        await processes[0].reserve(Payer(f"tenant {n % 4}", "s", f"t{n}"), Amount(1), about="toy")
    await bank.later(401 * 86_400)
    assert sum(await asyncio.gather(*(budgets.trim() for budgets in processes))) >= 20
    await bank.later(401 * 86_400)
    while any([await budgets.trim() for budgets in processes]):
        pass
    assert await bank.eye.fetchval("select count(*) from budgets.accounts") == 0


async def test_long_wait_for_an_account_is_unavailable(bank: Bank) -> None:
    budgets = bank.budgets()
    kept = await budgets.reserve(ADA, HUNDRED, about="toy")
    await bank.eye.execute("alter function budgets.settle set lock_timeout = '10ms'")
    async with bank.eye.transaction():
        await bank.eye.execute("select from budgets.accounts for update")
        with pytest.raises(DatabaseDown):
            await budgets.settle(kept, NOTHING)
    assert await budgets.settle(kept, NOTHING)


@pytest.mark.requirement("P8")
async def test_unusual_tenant_name_has_its_own_account(bank: Bank) -> None:
    odd = replace(ADA, tenant='a",b')
    budgets = bank.budgets(turn=HUNDRED)
    await budgets.settle(await budgets.reserve(odd, HUNDRED, about="toy"), Amount(7))
    assert tenant_set([odd.tenant]) == await bank.eye.fetchval("select array[$1]::text", odd.tenant)
    assert await bank.held(tenant=odd.tenant) == (7, 0)
