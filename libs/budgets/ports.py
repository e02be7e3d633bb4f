"""What a call may use, who pays for it, and the port that keeps the accounts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from libs.errors import Rejected

Kind = Literal["turn", "session", "tenant"]
Unit = Literal["tokens", "cost"]
CODES: Mapping[tuple[Kind, Unit], str] = {
    ("turn", "tokens"): "MAX_TOKENS",
    ("turn", "cost"): "MAX_COST",
    ("session", "tokens"): "SESSION_MAX_TOKENS",
    ("session", "cost"): "SESSION_MAX_COST",
    ("tenant", "tokens"): "TENANT_MAX_TOKENS",
    ("tenant", "cost"): "TENANT_MAX_COST",
}
"""Why a call was refused, and so why its turn ended."""
Window = Literal["hour", "day", "week", "month"]
"""Of the calendar, in UTC; a week begins on Monday."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens, read and written together, and millionths of a US dollar."""

    tokens: int = 0
    cost_micros: int = 0


NOTHING = Amount()


@dataclass(frozen=True, slots=True)
class Payer:
    """Whose accounts pay: as the platform knows it, never as a model or a text says."""

    tenant: str
    session: str
    turn: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What each account may hold: a turn's and a session's for their life, a tenant's in each window."""

    turn: Amount
    session: Amount
    tenant: Amount
    window: Window = "day"


@dataclass(frozen=True, slots=True)
class Reservation:
    """What is kept for one call, until it is settled."""

    id: str
    payer: Payer
    worst: Amount


@dataclass(frozen=True, slots=True)
class Balance:
    """One unit of an account. `reserved` is of calls under way, and of calls of which nobody knows what they cost."""

    limit: int
    spent: int = 0
    reserved: int = 0


@dataclass(frozen=True, slots=True)
class Account:
    """How an account stands, in both units; `until` a window ends."""

    tokens: Balance
    cost_micros: Balance
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A tenant's account of the window that is now, and one session's where it was asked for."""

    tenant: Account
    session: Account | None = None


class OverBudget(Rejected):
    """The call might use more than is left."""

    def __init__(self, kind: Kind, unit: Unit, balance: Balance, worst: int, *, until: datetime | None = None) -> None:
        self.kind, self.unit, self.balance, self.worst, self.until = kind, unit, balance, worst, until
        super().__init__(_words(self), code=CODES[kind, unit])


class Budgets(Protocol):
    """The accounts. At every moment, for each of them and in both units, what is spent and what is reserved come to no
    more than the limit, however many ask at once, from however many processes: with one exception, that what a call
    really used is recorded even where it is more than was reserved for it. Then nothing more is reserved until there
    is room.

    A reservation outlives whoever made it: a call that never came back may have been paid for, so what was reserved
    for it stays, and later counts as spent.
    """

    @property
    def limits(self) -> Limits: ...

    async def reserve(self, payer: Payer, worst: Amount, *, about: str) -> Reservation:
        """Keep room in all three accounts, or in none. `about` says what for, such as the model's name.

        Raises:
            OverBudget: an account has no room. Asking again does not help.
            Unavailable: the accounts cannot be reached, and nobody knows whether room is kept.
        """
        ...

    async def settle(self, reservation: Reservation, used: Amount) -> bool:
        """Spend what was used, and free the rest. Only the first time changes anything: False after that.

        Raises:
            Unavailable: the accounts cannot be reached; what was reserved stays so.
        """
        ...

    async def standing(self, tenant: str, session: str | None = None) -> Standing:
        """How the accounts stand. Raises Unavailable."""
        ...

    async def trim(self) -> int:
        """Write off some reservations that are too old to be settled any more, as spent, and forget some accounts that
        nobody has used for long; how many. Safe beside others. Raises Unavailable."""
        ...


def _words(over: OverBudget) -> str:
    """Why not, for the person whose turn it is."""
    balance, of = over.balance, {"turn": "this turn", "session": "this session", "tenant": "this tenant"}[over.kind]
    when = f" until {over.until:%Y-%m-%d %H:%M} UTC" if over.until is not None else ""
    held = f" and {_told(over.unit, balance.reserved)} reserved" if balance.reserved else ""
    return (
        f"{of} may use {_told(over.unit, balance.limit)}{when}: {_told(over.unit, balance.spent)} spent{held},"
        f" and the next call of the model might use up to {_told(over.unit, over.worst)}"
    )


def _told(unit: str, amount: int) -> str:
    return f"${amount / 1e6:,.4f}" if unit == "cost" else f"{amount:,} tokens"
