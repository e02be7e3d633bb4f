"""Accounts in a database of the test's own, as many processes before them as it wants, and one who sees everything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import asyncpg

from libs.budgets import Amount, Limits, OverBudget, Payer, Reservation
from libs.budgets.postgres import PostgresBudgets
from libs.budgets.schema import SCHEMA
from libs.database import Database, Dsns, migrate
from tests import infrastructure

PLENTY = infrastructure.PLENTY
ADA = Payer("ada", "s1", "t1")
SUMS = """
select coalesce(sum(tokens_spent), 0) as spent, coalesce(sum(tokens_reserved), 0) as reserved
from budgets.accounts where tenant_id = $1 and kind = $2
"""


def limited(
    turn: Amount = PLENTY.turn,
    session: Amount = PLENTY.session,
    tenant: Amount = PLENTY.tenant,
) -> Limits:
    """Plenty, but for what is named."""
    return Limits(turn, session, tenant)


@dataclass
class Bank:
    """The accounts, seen by processes (`budgets`) and by one who sees everything (`eye`)."""

    where: Dsns
    eye: asyncpg.Connection[asyncpg.Record]
    databases: list[Database] = field(default_factory=list)

    def budgets(self, **limits: Amount) -> PostgresBudgets:
        """A process with connections of its own."""
        database = Database(self.where)
        self.databases.append(database)
        return PostgresBudgets(database, limited(**limits))

    def one(self, **limits: Amount) -> PostgresBudgets:
        """The same process each time."""
        return PostgresBudgets(self.databases[0], limited(**limits)) if self.databases else self.budgets(**limits)

    @property
    def eye_dsn(self) -> str:
        return _everything(self.where)

    async def held(self, kind: str = "turn", tenant: str = ADA.tenant) -> tuple[int, int]:
        """Tokens spent and reserved in all accounts of this kind."""
        row = await self.eye.fetchrow(SUMS, tenant, kind)
        assert row is not None
        return int(row["spent"]), int(row["reserved"])

    async def later(self, seconds: float) -> None:
        await infrastructure.shift(self.databases[0], seconds=seconds)

    async def close(self) -> None:
        for database in self.databases:
            await database.close()
        await self.eye.close()


@asynccontextmanager
async def bank(where: Dsns) -> AsyncIterator[Bank]:
    await migrate(where.owner, SCHEMA)
    opened = Bank(where, await asyncpg.connect(_everything(where)))
    try:
        yield opened
    finally:
        await opened.close()


def _everything(where: Dsns) -> str:
    return where.owner.replace("suma_owner", "postgres")


async def tried(budgets: PostgresBudgets, payer: Payer, worst: Amount) -> Reservation | OverBudget:
    """Room for a call, or why there is none."""
    try:
        return await budgets.reserve(payer, worst, about="toy")
    except OverBudget as over:
        return over
