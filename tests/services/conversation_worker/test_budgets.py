"""What a turn may use, through the house: reserved before each call of a real model, and told by name when it is
gone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from libs.budgets import Account, Amount, Limits
from libs.database import Dsns
from libs.events import TurnEnded
from tests.infrastructure import bank
from tests.infrastructure.vendor import APPROVED, Turn, refused, said
from tests.services.conversation_worker.test_models import LIST, MAKE, Scenario, scenario
from tests.support.platform import TENANT, run_platform

SPENT = 120
"""Tokens that the vendor counts for each call."""


def limited(account: str, tokens: int = 10**9, cost: int = 10**9) -> Limits:
    return bank.limited(**{account: Amount(tokens, cost)})


async def account_of(on: Scenario) -> Account:
    found = (await on.at.platform.budgets.accounts(TENANT, "s")).session
    assert found is not None
    return found


async def ended(on: Scenario, text: str = "list my files") -> TurnEnded:
    return await on.at.finish(await on.say(text), session="s")


async def test_usage_of_a_turn_is_spent_and_nothing_stays_reserved(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, MAKE, APPROVED, said("Made.")) as on:
        assert (await ended(on, "make a folder new")).state == "completed"
        account = await account_of(on)
        assert (account.tokens.spent, account.tokens.reserved) == (3 * SPENT, 0)
        assert (account.cost_micros.spent, account.cost_micros.reserved) == (3 * 140, 0)
        assert (await on.at.platform.budgets.accounts(TENANT)).tenant.tokens.spent == 3 * SPENT


@pytest.mark.requirement("A17c")
@pytest.mark.parametrize(
    ("account", "unit", "reason"),
    [
        ("turn", "tokens", "MAX_TOKENS"),
        ("turn", "cost", "MAX_COST"),
        ("session", "tokens", "SESSION_MAX_TOKENS"),
        ("session", "cost", "SESSION_MAX_COST"),
        ("tenant", "tokens", "TENANT_MAX_TOKENS"),
        ("tenant", "cost", "TENANT_MAX_COST"),
    ],
)
async def test_call_that_might_overspend_ends_the_turn_with_the_limit(
    home: Dsns, tmp_path: Path, account: str, unit: str, reason: str
) -> None:
    async with scenario(home, tmp_path, LIST, limits=limited(account, **{unit: 1000})) as on:
        told = await ended(on)
        assert (told.state, told.reason, on.there.asked) == ("failed", reason, [])
        assert f"limit for this {account} reached ({'$0.0010' if unit == 'cost' else '1,000 tokens'}" in told.detail
        assert "the next call may use up to" in told.detail
        assert (await account_of(on)).tokens.spent == 0


@pytest.mark.requirement("A17c")
async def test_a_change_whose_review_cannot_be_paid_is_not_made(home: Dsns, tmp_path: Path) -> None:
    dear = replace(MAKE, usage=(50_000, 20))
    async with scenario(home, tmp_path, dear, APPROVED, said("Made."), limits=limited("turn", tokens=60_000)) as on:
        told = await ended(on, "make a folder new")
        assert (told.state, told.reason, on.forms) == ("failed", "MAX_TOKENS", ["propose"])
        assert not (on.at.root / "work" / "new").exists()


async def test_session_that_used_its_budget_does_not_stop_another(home: Dsns, tmp_path: Path) -> None:
    dear, limits = said("Two.", usage=(90_000, 0)), limited("session", tokens=100_000)
    async with scenario(home, tmp_path, LIST, dear, LIST, said("Two."), limits=limits) as on:
        assert (await ended(on)).state == "completed"
        assert (await ended(on)).reason == "SESSION_MAX_TOKENS"
        turn = await on.at.say("list my files", session="another", root=on.at.folder("a.txt"))
        assert (await on.at.ended(turn, session="another")).state == "completed"


@pytest.mark.requirement("A17c")
async def test_concurrent_sessions_stay_within_the_budget_of_their_tenant(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, limits=limited("tenant", tokens=150_000)) as on:
        on.there.script = lambda asked: LIST if asked.form else said("Two.")
        root = on.at.folder("a.txt")
        turns = {f"s{n}": await on.at.say("list my files", session=f"s{n}", root=root) for n in range(12)}
        ends = [await on.at.ended(turn, session=session) for session, turn in turns.items()]
        assert {end.reason for end in ends} <= {None, "TENANT_MAX_TOKENS"}
        tokens = (await on.at.platform.budgets.accounts(TENANT)).tenant.tokens
        assert (tokens.spent, tokens.reserved) == (len(on.there.asked) * SPENT, 0)


@pytest.mark.requirement("A17c")
async def test_budget_of_a_running_call_is_given_to_no_other(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, Turn(hangs=True), limits=limited("tenant", tokens=60_000)) as on:
        slow, root = await on.say(), on.at.folder("a.txt")
        await on.there.heard(1)
        turns = {f"s{n}": await on.at.say("list my files", session=f"s{n}", root=root) for n in range(5)}
        ends = [await on.at.ended(turn, session=session) for session, turn in turns.items()]
        assert {end.reason for end in ends} == {"TENANT_MAX_TOKENS"}
        assert all("reserved" in end.detail for end in ends)
        assert len(on.there.asked) == 1
        await on.at.cancel(slow, session="s")
        await on.at.ended(slow, session="s")


async def test_unaffordable_answer_reports_the_completed_steps(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, LIST, limits=limited("turn", tokens=60_000)) as on:
        on.there.turns[0] = replace(LIST, usage=(50_000, 20))
        told = await ended(on)
        assert (told.state, told.reason) == ("failed", "MAX_TOKENS")
        assert "50,020 tokens spent" in told.detail
        assert "only the answer is missing: 1 of 1 steps are done" in told.detail


async def test_calls_that_the_vendor_refuses_cost_nothing(home: Dsns, tmp_path: Path) -> None:
    busy = refused(429, retry_after_ms="30")
    async with scenario(home, tmp_path, busy, refused(500), LIST, busy, said("Two.")) as on:
        assert (await ended(on)).state == "completed"
        account = await account_of(on)
        assert (account.tokens.spent, account.tokens.reserved) == (2 * SPENT, 0)


@pytest.mark.parametrize("broken", [Turn(hangs=True), said("There are tw", breaks=True), refused(504)])
async def test_call_that_broke_off_stays_reserved(home: Dsns, tmp_path: Path, broken: Turn) -> None:
    async with scenario(home, tmp_path, LIST, broken, said("Two."), first=1.5) as on:
        assert (await ended(on)).state == "completed"
        account = await account_of(on)
        assert account.tokens.spent == 2 * SPENT
        assert account.tokens.reserved > 16_000, "its worst case"


@pytest.mark.parametrize(
    ("fault", "reason", "says"),
    [
        (Turn(hangs=True), "MODEL_TIMED_OUT", "sent nothing within 0.7 s"),
        (said("There", hangs=True), "MODEL_TIMED_OUT", "sent nothing for 0.7 s"),
    ],
)
async def test_model_that_never_answers_is_no_budget_limit(
    home: Dsns, tmp_path: Path, fault: Turn, reason: str, says: str
) -> None:
    limits = limited("turn", tokens=60_000)
    async with scenario(home, tmp_path, *[fault] * 5, limits=limits, first=0.7, pause=0.7) as on:
        turn = await on.say()
        for attempt in range(1, 5):
            await on.there.heard(attempt)
            await on.waits()
            await on.at.later(60)
        told = await on.at.ended(turn, session="s")
        assert (told.state, told.reason) == ("failed", reason)
        assert told.detail == f"5 attempts failed; the last error: openai:toy {says}"
        assert (await account_of(on)).tokens.reserved > 5 * 16_000, "each may have been billed"


@pytest.mark.slow
async def test_turn_whose_circuit_opens_names_server_and_fault(home: Dsns, tmp_path: Path) -> None:
    broken = Turn(raw=b'{"a": 1}', kind="application/json")
    async with scenario(home, tmp_path, limits=limited("turn", tokens=60_000)) as on:
        on.there.script = lambda _: broken
        turn = await on.say()
        await on.there.heard(5)
        for _ in range(3):
            await on.waits()
            await on.at.later(60)
        told = await on.at.ended(turn, session="s")
        assert (told.state, told.reason) == ("failed", "CIRCUIT_OPEN")
        assert f"the model server of openai:toy ({on.there.url}) is unavailable" in told.detail
        assert "the last error: openai:toy returned something other than a model's answer" in told.detail


@pytest.mark.requirement("A23")
async def test_cancelled_call_stays_reserved_until_it_counts_as_spent(home: Dsns, tmp_path: Path) -> None:
    async with scenario(home, tmp_path, Turn(hangs=True)) as on:
        turn = await on.say()
        await on.there.heard(1)
        await on.at.cancel(turn, session="s")
        assert (await on.at.ended(turn, session="s")).state == "cancelled"
        reserved = (await account_of(on)).tokens.reserved
        await on.at.later(6 * 3600 + 1)
        assert await on.at.platform.budgets.trim() == 1
        assert (await account_of(on)).tokens.spent == reserved > 0


async def test_offline_model_reserves_no_budget(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as at:
        turn = await at.say("list my files", session="s", root=at.folder("a.txt"))
        assert (await at.ended(turn, session="s")).state == "completed"
        async with at.platform.database.read("budgets", TENANT) as connection:
            assert await connection.fetchval("select count(*) from budgets.accounts") == 0
