"""Budgets: what calls of a model may use, reserved before each is made and settled after it (architecture.md 8).

Three accounts pay for a call together: its turn's, its session's, and its tenant's of the day. `ports` has the words
and the promise, `paying` says who pays for what is under way, `postgres` keeps the accounts.
"""

from libs.budgets.paying import Charge, billed, paid_by, payer
from libs.budgets.ports import (
    NOTHING,
    Account,
    Accounts,
    Amount,
    Balance,
    Budgets,
    Limits,
    OverBudget,
    Payer,
    Reservation,
    Window,
)

__all__ = [
    "NOTHING",
    "Account",
    "Accounts",
    "Amount",
    "Balance",
    "Budgets",
    "Charge",
    "Limits",
    "OverBudget",
    "Payer",
    "Reservation",
    "Window",
    "billed",
    "paid_by",
    "payer",
    "postgres",
]
