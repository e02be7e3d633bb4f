"""The payer of the running work, and the charge of one call.

The runner of a leased call names its payer (`paid_by`), which the model's guarded call reads. Without a payer, a call
that costs something is refused, so that none is free by omission.
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

# A context variable: between the lease and the model lie ports that know no payer.
_payer: ContextVar[Payer | None] = ContextVar("payer", default=None)


class NoPayer(Rejected):
    """No payer was named for this call, so it is not made."""

    code = "NO_PAYER"


@contextmanager
def paid_by(payer: Payer) -> Iterator[None]:
    """Charge model calls in this block to this payer."""
    token = _payer.set(payer)
    try:
        yield
    finally:
        _payer.reset(token)


def payer() -> Payer | None:
    """Return the payer of the running work, if one was named."""
    return _payer.get()


async def billed(budgets: Budgets | None, worst: Amount, *, about: str) -> Charge:
    """Reserve for one call on behalf of the current payer; without accounts nothing is charged.

    Raises:
        NoPayer, OverBudget, Unavailable: do not make the call.
    """
    if budgets is None:
        return Charge()
    paying = payer()
    if paying is None:
        raise NoPayer
    try:
        reservation = await budgets.reserve(paying, worst, about=about)
    except OverBudget as over:
        metrics.budget_reservations.labels(over.code).inc()
        raise
    metrics.budget_reservations.labels("reserved").inc()
    return Charge(budgets, reservation)


class Charge:
    """The charge of one call. If it is never settled the reservation stays: the call may have been billed."""

    def __init__(self, budgets: Budgets | None = None, reservation: Reservation | None = None) -> None:
        self._budgets, self._reservation = budgets, reservation

    async def settle(self, used: Amount) -> None:
        """Record what the call used. If that fails, the answer remains valid and the worst case stays reserved."""
        if self._budgets is None or self._reservation is None:
            return
        worst = self._reservation.worst
        try:
            changed = await self._budgets.settle(self._reservation, used)
        except Unavailable as error:
            log.warning("could not settle a call", error=str(error))
            return
        # Only the first settlement counts, so only it can have exceeded the reservation.
        if changed and (used.tokens > worst.tokens or used.cost_micros > worst.cost_micros):
            metrics.budget_overruns.inc()
            log.warning("exceeded the worst case of a call", tokens=used.tokens, reserved=worst.tokens)

    async def free_turn(self) -> None:
        """Let the turn pay for a retry: the call failed. Its session and its tenant keep what it may have cost."""
        if self._budgets is None or self._reservation is None:
            return
        try:
            await self._budgets.free_turn(self._reservation)
        except Unavailable as error:
            log.warning("could not free a turn's reservation", error=str(error))

    async def cancel(self) -> None:
        """Release the reservation: the call was not made, or the vendor reported that it failed unbilled."""
        await self.settle(NOTHING)
