"""Model budgets: limits, spending and reservations (architecture.md 8)."""

from __future__ import annotations

from fastapi import APIRouter

from services.gateway.http.bodies import StrictRoute
from services.gateway.http.models import Id
from services.gateway.identity.security import CanRead
from services.gateway.sessions.context import Here
from services.gateway.sessions.models import Budgets, BudgetShown

router = APIRouter(route_class=StrictRoute, tags=["budgets"])


@router.get("/v1/budgets")
async def budgets(here: Here, who: CanRead, session: Id | None = None) -> Budgets:
    """Return the tenant's budget of the current window, and a session's if named."""
    if session is not None:
        await here.readable(who, session)
    found = await here.platform.budgets.accounts(who.tenant, session)
    return Budgets(
        tenant=BudgetShown.model_validate(found.tenant),
        session=BudgetShown.model_validate(found.session) if found.session is not None else None,
        as_of=here.platform.clock.now(),
    )
