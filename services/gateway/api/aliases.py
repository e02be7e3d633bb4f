"""Scope Weaver's names for what we have by others (S4-56); /graph stands with the workspace."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from services.gateway.api.bodies import StrictRoute
from services.gateway.api.errors import PROBLEMS
from services.gateway.api.gateway import Here
from services.gateway.api.models import Id, RunRequest, RunResponse, SessionShown, Status
from services.gateway.api.security import Caller, Talker
from services.gateway.api.sessions import say
from services.gateway.api.writes import IdempotencyKey, Once

router = APIRouter(route_class=StrictRoute, tags=["scope weaver"], responses=PROBLEMS)


@router.post("/run", status_code=202, response_model=RunResponse)
async def run(request: Request, here: Here, who: Caller, body: RunRequest, key: IdempotencyKey = None) -> RunResponse:
    """The same as POST /v1/sessions/message."""
    accepted = await say(here, who, Once.of(request, key, body), body)
    return RunResponse(**accepted.model_dump())


@router.get("/status")
async def status(here: Here, who: Talker, session: Annotated[Id | None, Query()] = None) -> Status:
    """What is going on, of a tenant and of one session (S4-56)."""
    shown = SessionShown.model_validate(await here.session(who, session)) if session else None
    counts = await here.store.counts(who.tenant)
    return Status(
        sessions=counts.sessions, turns=counts.turns, approvals=counts.approvals, session=shown, as_of=counts.at
    )
