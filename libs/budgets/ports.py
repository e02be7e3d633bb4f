"""The limits of a model call, its payers, and the port that keeps the accounts."""

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
"""The codes with which a call is refused and its turn ends."""
Window = Literal["hour", "day", "week", "month"]
"""Calendar windows in UTC; a week begins on Monday."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens, input and output together, and millionths of a US dollar."""

    tokens: int = 0
    cost_micros: int = 0


NOTHING = Amount()


@dataclass(frozen=True, slots=True)
class Payer:
    """The accounts that pay, as the platform knows them; never taken from a model or a text."""

    tenant: str
    session: str
    turn: str


@dataclass(frozen=True, slots=True)
class Limits:
    """The limit of each account: a turn's and a session's for their life, a tenant's per window."""

    turn: Amount
    session: Amount
    tenant: Amount
    window: Window = "day"


@dataclass(frozen=True, slots=True)
class Reservation:
    """An amount reserved for one call until it is settled."""

    id: str
    payer: Payer
    worst: Amount


@dataclass(frozen=True, slots=True)
class Balance:
    """One unit of an account. `reserved` covers running calls, and calls whose cost is unknown."""

    limit: int
    spent: int = 0
    reserved: int = 0


@dataclass(frozen=True, slots=True)
class Account:
    """The state of an account in both units; `until` is the end of its window."""

    tokens: Balance
    cost_micros: Balance
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Accounts:
    """A tenant's account in the current window, and one session's where requested."""

    tenant: Account
    session: Account | None = None


class OverBudget(Rejected):
    """The call might use more than is left."""

    def __init__(self, kind: Kind, unit: Unit, balance: Balance, worst: int, *, until: datetime | None = None) -> None:
        self.kind, self.unit, self.balance, self.worst, self.until = kind, unit, balance, worst, until
        super().__init__(_words(self), code=CODES[kind, unit])


class Budgets(Protocol):
    """The accounts. At every moment, for each account and both units, spent plus reserved stays within the limit,
    however many callers and processes there are. One exception: a call's actual use is recorded even where it exceeds
    its reservation; then nothing more is reserved until there is room.

    A reservation outlives its process: a call that never returned may have been billed, so its reservation stays and
    later counts as spent. A failed call stays reserved for session and tenant; its retries are the same turn's.
    """

    @property
    def limits(self) -> Limits: ...

    async def reserve(self, payer: Payer, worst: Amount, *, about: str) -> Reservation:
        """Reserve in all three accounts, or in none. `about` names the purpose, such as the model.

        Raises:
            OverBudget: an account has no room. Retrying does not help.
            Unavailable: the accounts cannot be reached; whether room is reserved is unknown.
        """
        ...

    async def settle(self, reservation: Reservation, used: Amount) -> bool:
        """Spend what was used and release the rest. Only the first call counts; later ones return False.

        Raises:
            Unavailable: the accounts cannot be reached; the reservation stays.
        """
        ...

    async def free_turn(self, reservation: Reservation) -> None:
        """Release the turn's share of a call that failed, so that the turn can pay for a retry. The session and the
        tenant keep theirs until it is settled. Safe to repeat.

        Raises:
            Unavailable: the accounts cannot be reached; the reservation stays.
        """
        ...

    async def accounts(self, tenant: str, session: str | None = None) -> Accounts:
        """Return the accounts' state. Raises Unavailable."""
        ...

    async def trim(self) -> int:
        """Write off some reservations too old to be settled, as spent, and delete some long unused accounts; return how
        many. Safe to run concurrently. Raises Unavailable.
        """
        ...


def _words(over: OverBudget) -> str:
    """Return the refusal as a sentence for the turn's user."""
    balance, of = over.balance, {"turn": "this turn", "session": "this session", "tenant": "this tenant"}[over.kind]
    when = f" until {over.until:%Y-%m-%d %H:%M} UTC" if over.until is not None else ""
    held = f" and {_told(over.unit, balance.reserved)} reserved" if balance.reserved else ""
    unit = "Cost" if over.unit == "cost" else "Token"
    return (
        f"{unit} limit for {of} reached ({_told(over.unit, balance.limit)}{when}): {_told(over.unit, balance.spent)}"
        f" spent{held}; the next call may use up to {_told(over.unit, over.worst)}"
    )


def _told(unit: str, amount: int) -> str:
    return f"${amount / 1e6:,.4f}" if unit == "cost" else f"{amount:,} tokens"
