"""Who pays for what is under way, and the bill of one call.

Whoever runs a leased call says whose it is (`paid_by`); the model's door asks. Where nobody has said so, a call that
costs something is refused: none is free because someone forgot.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from libs.budgets.ports import NOTHING, Amount, Budgets, OverBudget, Payer, Reservation
from libs.errors import Rejected, Unavailable
from libs.telemetry import metrics
from libs.telemetry.logs import logger

log = logger("budgets")

_payer: ContextVar[Payer | None] = ContextVar("payer", default=None)


class NoPayer(Rejected):
    """Nobody was named who pays for this call, so it is not made."""

    code = "NO_PAYER"


@contextmanager
def paid_by(payer: Payer) -> Iterator[None]:
    """Calls of a model in this block are this payer's."""
    token = _payer.set(payer)
    try:
        yield
    finally:
        _payer.reset(token)


async def billed(budgets: Budgets | None, worst: Amount, *, about: str) -> Bill:
    """Reserve for one call, on behalf of whoever pays here; without accounts the bill is nobody's.

    Raises:
        NoPayer, OverBudget, Unavailable: then the call is not to be made.
    """
    if budgets is None:
        return Bill()
    payer = _payer.get()
    if payer is None:
        raise NoPayer
    try:
        reservation = await budgets.reserve(payer, worst, about=about)
    except OverBudget as over:
        metrics.budget_reservations.labels(over.code).inc()
        raise
    metrics.budget_reservations.labels("reserved").inc()
    return Bill(budgets, reservation)


class Bill:
    """Of one call. One that is never settled stays as it was reserved: the call may have been paid for."""

    def __init__(self, budgets: Budgets | None = None, reservation: Reservation | None = None) -> None:
        self._budgets, self._reservation = budgets, reservation

    async def settle(self, used: Amount) -> None:
        """What the call used. That this cannot be told now loses nobody an answer: the worst case then stays."""
        if self._budgets is None or self._reservation is None:
            return
        worst = self._reservation.worst
        try:
            changed = await self._budgets.settle(self._reservation, used)
        except Unavailable as error:
            log.warning("a call could not be settled: its worst case counts", error=str(error))
            return
        if changed and (used.tokens > worst.tokens or used.cost_micros > worst.cost_micros):
            metrics.budget_overruns.inc()
            log.warning("a call has used more than its worst case", tokens=used.tokens, reserved=worst.tokens)

    async def cancel(self) -> None:
        """The call was not made, or whoever would charge for it has said that it failed."""
        await self.settle(NOTHING)
