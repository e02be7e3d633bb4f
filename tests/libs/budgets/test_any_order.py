"""Budgets match a simple model under any order of reservations, settlements and lost calls."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.budgets import NOTHING, Amount, OverBudget, Payer, Reservation
from tests.infrastructure.bank import Bank, tried
from tests.support.examples import examples

LIMITS = {"turn": Amount(20, 30), "session": Amount(40, 50), "tenant": Amount(60, 70)}
HELD = """
select kind, name, tokens_spent + tokens_reserved as tokens, cost_spent + cost_reserved as cost,
    tokens_reserved, cost_reserved from budgets.accounts where tenant_id = $1
"""
Step = tuple[str, int, Amount]
tenants = itertools.count()
amounts = st.builds(Amount, st.integers(0, 15), st.integers(0, 20))
steps = st.tuples(
    st.sampled_from(["reserve", "reserve", "settle", "settle again", "cancel", "lose", "free turn"]),
    st.integers(0, 7),
    amounts,
)


@dataclass
class Book:
    """The model: amounts spent, and amounts reserved for unsettled calls."""

    tenant: str
    spent: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    under_way: list[Reservation] = field(default_factory=list)
    lost: list[Reservation] = field(default_factory=list)
    over: list[Reservation] = field(default_factory=list)
    freed: set[str] = field(default_factory=set)
    """Failed calls, for which their turn no longer pays."""

    def payer(self, number: int) -> Payer:
        """Return payers for four turns in two sessions."""
        return Payer(self.tenant, f"s{number % 2}", f"t{number % 4}")

    def held(self, kind: str, name: str) -> tuple[int, int]:
        mine = [call.worst for call in (*self.under_way, *self.lost) if (kind, name) in self.accounts(call)]
        tokens = self.spent[kind, name, "tokens"] + sum(worst.tokens for worst in mine)
        return tokens, self.spent[kind, name, "cost"] + sum(worst.cost_micros for worst in mine)

    def refusal(self, payer: Payer, worst: Amount) -> str | None:
        for kind, name in accounts(payer):
            tokens, cost = self.held(kind, name)
            prefix, limit = "" if kind == "turn" else f"{kind.upper()}_", LIMITS[kind]
            if tokens + worst.tokens > limit.tokens:
                return f"{prefix}MAX_TOKENS"
            if cost + worst.cost_micros > limit.cost_micros:
                return f"{prefix}MAX_COST"
        return None

    def accounts(self, call: Reservation) -> list[tuple[str, str]]:
        return accounts(call.payer)[call.id in self.freed :]

    def settle(self, number: int, used: Amount) -> Reservation:
        call = self.under_way.pop(number % len(self.under_way))
        self.over.append(call)
        for kind, name in self.accounts(call):
            self.spent[kind, name, "tokens"] += used.tokens
            self.spent[kind, name, "cost"] += used.cost_micros
        return call


def accounts(payer: Payer) -> list[tuple[str, str]]:
    return [("turn", payer.turn), ("session", payer.session), ("tenant", "")]


@pytest.mark.requirement("A17c")
@given(order=st.lists(steps, max_size=25))
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
async def test_accounts_match_a_model_after_any_calls(bank: Bank, order: list[Step]) -> None:
    book, budgets = Book(f"tenant {next(tenants)}"), bank.one(**LIMITS)
    for verb, number, amount in order:
        if verb == "reserve":
            payer = book.payer(number)
            got = await tried(budgets, payer, amount)
            assert (got.code if isinstance(got, OverBudget) else None) == book.refusal(payer, amount)
            book.under_way += [got] if isinstance(got, Reservation) else []
        elif verb == "settle again" and book.over:
            assert not await budgets.settle(book.over[number % len(book.over)], amount)
        elif verb == "lose" and book.under_way:
            book.lost.append(book.under_way.pop(number % len(book.under_way)))
        elif verb == "free turn" and (calls := [*book.under_way, *book.over]):
            failed = calls[number % len(calls)]
            await budgets.free_turn(failed)
            book.freed |= {failed.id} if failed in book.under_way else set()
        elif verb in ("settle", "cancel") and book.under_way:
            used = amount if verb == "settle" else NOTHING
            assert await budgets.settle(book.settle(number, used), used)
        await agrees(bank, book)


async def agrees(bank: Bank, book: Book) -> None:
    for row in await bank.eye.fetch(HELD, book.tenant):
        name = "" if row["kind"] == "tenant" else row["name"]
        assert (row["tokens"], row["cost"]) == book.held(row["kind"], name)
