"""Scope Weaver's names for existing routes (S4-56); /graph is in `workspace`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, WebSocket

from services.gateway.api import socket
from services.gateway.api.bodies import StrictRoute
from services.gateway.api.commands import IdempotencyKey, IdempotentRequest
from services.gateway.api.context import Here
from services.gateway.api.errors import raises
from services.gateway.api.models import Id, RunRequest, RunResponse, SessionShown, Status
from services.gateway.api.security import Authenticated, CanRead
from services.gateway.api.sessions import SENDING, send_message
from services.gateway.api.stream import Position, Until
from services.gateway.domain import access

router = APIRouter(route_class=StrictRoute, tags=["scope weaver"])


@router.post("/run", status_code=202, response_model=RunResponse, responses=raises(*SENDING))
async def run(
    request: Request, here: Here, who: Authenticated, body: RunRequest, key: IdempotencyKey = None
) -> RunResponse:
    """Send a message; an alias of POST /v1/sessions/message."""
    accepted = await send_message(here, who, IdempotentRequest.of(request, key, body), body)
    return RunResponse(**accepted.model_dump())


@router.get("/status")
async def status(here: Here, who: CanRead, session: Annotated[Id | None, Query()] = None) -> Status:
    """Return the counts of the sessions that the caller sees, and the state of one session if named (S4-56)."""
    shown = SessionShown.model_validate(await here.readable(who, session)) if session else None
    counts = await here.store.counts(who.tenant, reader=access.reader(who))
    return Status(
        tenant=who.tenant,
        sessions=counts.sessions,
        turns=counts.turns,
        approvals=counts.approvals,
        session=shown,
        as_of=counts.at,
    )


@router.websocket("/stream")
async def stream(
    connection: WebSocket, here: Here, session: Annotated[Id, Query()], after: Position = 0, until: Until = None
) -> None:
    """Send a session's events over a WebSocket; an alias of /v1/sessions/{id}/stream."""
    await socket.serve(connection, here, session, after, until)
