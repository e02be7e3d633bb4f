"""The accounts in Postgres, on the database's clock: each method is one statement in one short transaction."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiosql

from libs import ids
from libs.budgets.ports import CODES, Account, Accounts, Amount, Balance, Limits, OverBudget, Payer, Reservation
from libs.database import Connection, Database
from libs.telemetry import metrics

POOL = "budgets"
LOST_SECONDS = 6 * 3600.0
"""Longer than any model call may take: older reservations will not be settled."""
TRIM_MOST = 200
"""Most reservations, tenants, and accounts of each that one trim handles."""

queries: Any = aiosql.from_path(Path(__file__).parent / "queries.sql", "asyncpg")


class PostgresBudgets:
    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self.limits = limits
        for result in ("reserved", *CODES.values()):
            # Prometheus sees no increase in a counter that first appears at 1, so create it at 0.
            metrics.budget_reservations.labels(result)

    async def reserve(self, payer: Payer, worst: Amount, *, about: str) -> Reservation:
        # A negative amount would free what other calls have reserved.
        if worst.tokens < 0 or worst.cost_micros < 0:
            raise ValueError("a call cannot use less than nothing")
        reservation, most = Reservation(ids.new(), payer, worst), self.limits
        async with self._database.connection(POOL) as connection:
            # If the answer is lost, the room stays reserved until `trim` writes it off.
            refused = await queries.reserve(
                connection,
                tenant=payer.tenant,
                session=payer.session,
                turn=payer.turn,
                span=most.window,
                id=reservation.id,
                about=about,
                tokens=worst.tokens,
                cost=worst.cost_micros,
                # In the order in which `budgets.reserve` locks the accounts (decision 0034).
                most_tokens=[most.turn.tokens, most.session.tokens, most.tenant.tokens],
                most_cost=[most.turn.cost_micros, most.session.cost_micros, most.tenant.cost_micros],
            )
        if refused is not None:
            raise _over(refused, worst)
        return reservation

    async def settle(self, reservation: Reservation, used: Amount) -> bool:
        async with self._database.connection(POOL) as connection:
            return await _settle(connection, reservation.payer.tenant, reservation.id, used)

    async def free_turn(self, reservation: Reservation) -> None:
        async with self._database.connection(POOL) as connection:
            await queries.free_turn(connection, tenant=reservation.payer.tenant, id=reservation.id)

    async def accounts(self, tenant: str, session: str | None = None) -> Accounts:
        async with self._database.read(POOL, tenant) as connection:
            rows = queries.accounts(connection, tenant=tenant, session=session, span=self.limits.window)
            found = {row["kind"]: row async for row in rows}
        of_session = _account(found["session"], self.limits.session) if "session" in found else None
        return Accounts(_account(found["tenant"], self.limits.tenant), of_session)

    async def trim(self) -> int:
        async with self._database.connection(POOL) as connection:
            # Their calls may have been billed, so they count as spent (decision 0034).
            lost = [row async for row in queries.lost(connection, seconds=LOST_SECONDS, most=TRIM_MOST)]
            # One at a time, as a call would settle it, so that no two can deadlock.
            written_off = [
                await _settle(connection, row["tenant"], row["id"], Amount(row["tokens"], row["cost"])) for row in lost
            ]
            metrics.budget_lost.inc(sum(written_off))
            idle = [row["tenant"] async for row in queries.idle(connection, most=TRIM_MOST)]
            forgotten = [int(await queries.forget(connection, tenant=tenant, most=TRIM_MOST)) for tenant in idle]
        return sum(written_off) + sum(forgotten)


async def _settle(connection: Connection, tenant: str, id: str, used: Amount) -> bool:
    settled = await queries.settle(connection, tenant=tenant, id=id, tokens=used.tokens, cost=used.cost_micros)
    return bool(settled)


def _over(row: Mapping[str, Any], worst: Amount) -> OverBudget:
    wanted = worst.tokens if row["unit"] == "tokens" else worst.cost_micros
    balance = Balance(row["most"], row["spent"], row["reserved"])
    return OverBudget(row["kind"], row["unit"], balance, wanted, until=row["until"])


def _account(row: Mapping[str, Any], most: Amount) -> Account:
    return Account(
        Balance(most.tokens, row["tokens_spent"] or 0, row["tokens_reserved"] or 0),
        Balance(most.cost_micros, row["cost_spent"] or 0, row["cost_reserved"] or 0),
        row["until"],
    )
