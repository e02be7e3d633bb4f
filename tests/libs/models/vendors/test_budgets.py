"""Vendor calls are paid for in advance: the payer, the amount, and the settlement of failed calls."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import pytest_asyncio

from libs.budgets import Account, Amount, OverBudget
from libs.budgets.paying import NoPayer, paid_by
from libs.budgets.postgres import PostgresBudgets
from libs.database import Dsns
from libs.errors import SumaError, Unavailable
from libs.models.vendors import Bounds, VendorModel, opened
from libs.models.vendors.errors import ModelRefused
from libs.models.vendors.model_call import Ask, Form
from libs.resilience import CircuitOpen, GuardedCall, Rules, State
from tests.infrastructure.bank import ADA, Bank
from tests.infrastructure.bank import bank as opened_bank
from tests.infrastructure.vendor import Turn, Vendor, planned, refused, said
from tests.libs.models.vendors.conftest import LISTED, NOON, PRICE, TASK, choice
from tests.support.platform import skills

USED = 120
"""Tokens that the vendor counts for a call."""
TALK = "Sure, I will list them!"


@pytest_asyncio.fixture(loop_scope="session")
async def bank(where: Dsns) -> AsyncIterator[Bank]:
    async with opened_bank(where) as bank:
        yield bank


@asynccontextmanager
async def speaking(
    there: Vendor, budgets: PostgresBudgets, guard: GuardedCall | None = None
) -> AsyncIterator[VendorModel]:
    async with opened(choice(there), Bounds(first=5.0)) as line:
        yield VendorModel(line, guard or GuardedCall("model"), price=PRICE, now=lambda: NOON, budgets=budgets)


async def account(budgets: PostgresBudgets) -> Account:
    return (await budgets.accounts(ADA.tenant)).tenant


@pytest.mark.requirement("A17c")
async def test_call_without_a_payer_is_not_sent(there: Vendor, bank: Bank) -> None:
    async with speaking(there.play(said("Two.")), bank.budgets()) as model:
        with pytest.raises(NoPayer):
            [piece async for piece in model.answer(TASK)]
    assert there.asked == []


@pytest.mark.requirement("A17c")
async def test_call_that_might_overspend_is_refused_before_sending(there: Vendor, bank: Bank) -> None:
    async with speaking(there.play(planned(LISTED)), bank.budgets(tenant=Amount(16_000, 10**9))) as model:
        with pytest.raises(OverBudget) as over, paid_by(ADA):
            await model.plan(TASK, skills().tools)
    assert (over.value.code, there.asked) == ("TENANT_MAX_TOKENS", [])
    assert await bank.held("tenant") == (0, 0)


async def test_budget_refusal_leaves_the_circuit_open(there: Vendor, bank: Bank) -> None:
    guard = GuardedCall("model", Rules(failures=1, rest=0.0))
    async with speaking(there.play(refused(500)), bank.budgets(turn=Amount(16_000, 10**9)), guard) as model:
        with suppress(Unavailable):
            async with guard.call_scope():
                raise Unavailable("it is away")
        with pytest.raises(OverBudget), paid_by(ADA):
            await model.plan(TASK, skills().tools)
    assert guard.state is State.OPEN


async def test_each_repair_is_charged(there: Vendor, bank: Bank) -> None:
    budgets = bank.budgets()
    async with speaking(there.play(said(TALK), said(TALK), planned(LISTED)), budgets) as model:
        with paid_by(ADA):
            found = await model.plan(TASK, skills().tools)
    assert found.usage.input_tokens == 300
    assert ((await account(budgets)).tokens.spent, (await account(budgets)).tokens.reserved) == (3 * USED, 0)


async def test_repairs_stop_at_the_budget(there: Vendor, bank: Bank) -> None:
    dear = said(TALK, usage=(60_000, 20))
    async with speaking(there.play(dear, planned(LISTED)), bank.budgets(turn=Amount(90_000, 10**9))) as model:
        with pytest.raises(OverBudget), paid_by(ADA):
            await model.plan(TASK, skills().tools)
    assert (await bank.held())[0] == 60_020
    assert len(there.asked) == 1


async def test_call_blocked_by_an_open_circuit_costs_nothing(there: Vendor, bank: Bank) -> None:
    budgets, guard = bank.budgets(), GuardedCall("model", Rules(failures=1, rest=60.0))
    async with speaking(there.play(refused(500)), budgets, guard) as model:
        with paid_by(ADA):
            for _ in range(2):
                with pytest.raises(Unavailable):
                    [piece async for piece in model.answer(TASK)]
            with pytest.raises(
                CircuitOpen, match=rf"the model server of openai:toy \({there.url}\) .*: openai:toy failed"
            ):
                await model.plan(TASK, skills().tools)
    assert len(there.asked) == 1
    assert ((await account(budgets)).tokens.spent, (await account(budgets)).tokens.reserved) == (0, 0)


async def test_unreachable_vendor_costs_nothing(there: Vendor, bank: Bank) -> None:
    budgets = bank.budgets()
    async with speaking(there, budgets) as model:
        await there.stop()
        with pytest.raises(Unavailable), paid_by(ADA):
            [piece async for piece in model.answer(TASK)]
    assert ((await account(budgets)).tokens.spent, (await account(budgets)).tokens.reserved) == (0, 0)


@pytest.mark.parametrize(
    "turn", [said("Once", hangs=True), said("Once", breaks=True), refused(504), Turn(raw=b"<html>")]
)
async def test_reservation_is_kept_if_the_vendor_may_have_charged(there: Vendor, bank: Bank, turn: Turn) -> None:
    budgets = bank.budgets()
    async with opened(choice(there.play(turn)), Bounds(first=2.0, pause=0.5)) as line:
        model = VendorModel(line, GuardedCall("model"), price=PRICE, now=lambda: NOON, budgets=budgets)
        with pytest.raises(SumaError), paid_by(ADA):
            [piece async for piece in model.answer(TASK)]
    held = await account(budgets)
    assert (held.tokens.spent, held.tokens.reserved > 16_000, held.cost_micros.reserved > 32_000) == (0, True, True)


@pytest.mark.parametrize(
    "turn",
    [
        Turn(raw=b"<html>Bad Gateway", status=502, kind="text/html"),
        Turn(raw=b"<html>Log in", kind="text/html"),
        refused(502),
    ],
    ids=["502 in HTML", "HTML", "502"],
)
async def test_answer_of_no_model_costs_nothing_and_is_reported(there: Vendor, bank: Bank, turn: Turn) -> None:
    budgets = bank.budgets(turn=Amount(80_000, 10**9))
    guard = GuardedCall("model", Rules(failures=99, rest=60.0))
    async with speaking(there.play(*[turn] * 9), budgets, guard) as model:
        for _ in range(3):
            with pytest.raises(Unavailable, match=rf"HTTP {turn.status}"), paid_by(ADA):
                await model.plan(TASK, skills().tools)
    assert ((await account(budgets)).tokens.spent, (await account(budgets)).tokens.reserved) == (0, 0)


async def test_answer_declined_midway_is_charged(there: Vendor, bank: Bank) -> None:
    budgets = bank.budgets()
    async with speaking(there.play(said("Well", finish="content_filter")), budgets) as model:
        with pytest.raises(ModelRefused), paid_by(ADA):
            [piece async for piece in model.answer(TASK)]
    assert ((await account(budgets)).tokens.spent, (await account(budgets)).tokens.reserved) == (USED, 0)


async def test_token_count_above_the_estimate_is_charged(there: Vendor, bank: Bank) -> None:
    budgets = bank.budgets(turn=Amount(100_000, 10**9))
    async with speaking(there.play(said("Two.", usage=(10**6, 5))), budgets) as model:
        with paid_by(ADA):
            [piece async for piece in model.answer(TASK)]
            with pytest.raises(OverBudget):
                [piece async for piece in model.answer(TASK)]
    assert (await account(budgets)).tokens.spent == 10**6 + 5


@pytest.mark.filterwarnings("ignore:Failed to extract usage")
@pytest.mark.parametrize("usage", [(-(10**6), 20), (10**30, 20)])
async def test_nonsensical_token_counts_are_limited_and_keep_the_answer(
    there: Vendor, bank: Bank, usage: tuple[int, int]
) -> None:
    budgets = bank.budgets()
    async with speaking(there.play(said("Two.", usage=usage)), budgets) as model:
        with paid_by(ADA):
            assert "".join([piece.text async for piece in model.answer(TASK)]) == "Two."
    held = await account(budgets)
    assert (held.tokens.spent >= 20, held.tokens.reserved) == (True, 0)


async def test_an_answer_is_not_lost_because_it_cannot_be_settled(there: Vendor, bank: Bank) -> None:
    budgets = bank.budgets()
    async with speaking(there.play(said("Two.")), budgets) as model:
        await bank.eye.execute("alter function budgets.settle set lock_timeout = '10ms'")
        with paid_by(ADA):
            answer = model.answer(TASK)
            first = await anext(answer)
            async with bank.eye.transaction():
                await bank.eye.execute("select from budgets.accounts for update")
                rest = [piece.text async for piece in answer]
    assert (first.text, "".join(rest)) == ("Two.", "")
    assert ((await account(budgets)).tokens.spent, (await account(budgets)).tokens.reserved > 16_000) == (0, True)


TEXTS = (
    "plain words, and more of them",
    "ünïcödé – “quotes”",
    "日本語のテキスト",
    "🙂🙃🙂",
    "a  b\n\n\tc",
    "\ud800 alone",
)


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_has_more_tokens_than_are_reserved_for_it(text: str) -> None:
    ask = Ask("answer", "system", (("person", text),))
    assert ask.tokens_most >= len(text.encode(errors="surrogatepass")) + len("system")


def test_repair_messages_and_the_form_raise_the_token_estimate() -> None:
    ask = Ask("plan", "system", (("person", "x"),), Form("f", "about", {"type": "object"}))
    assert ask.followed("y" * 1000, "z" * 1000).tokens_most >= ask.tokens_most + 2000
    assert ask.tokens_most > Ask("plan", "system", (("person", "x"),)).tokens_most
