"""Scope Weaver's names for existing routes (S4-56); /graph is in `workspace`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, WebSocket

from services.gateway.http.bodies import StrictRoute
from services.gateway.http.commands import IdempotencyKey, IdempotentRequest
from services.gateway.http.errors import raises
from services.gateway.http.models import Id
from services.gateway.identity import access
from services.gateway.identity.security import Authenticated, CanRead
from services.gateway.sessions import socket
from services.gateway.sessions.context import Here
from services.gateway.sessions.models import RunRequest, RunResponse, Status
from services.gateway.sessions.routes import SENDING, send_message
from services.gateway.sessions.stream import Position, Until

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
    shown = await here.readable(who, session) if session else None
    counts = await here.store.counts(who.tenant, reader=access.reader(who))
    return Status(tenant=who.tenant, session=shown, **counts)


@router.websocket("/stream")
async def stream(
    connection: WebSocket, here: Here, session: Annotated[Id, Query()], after: Position = 0, until: Until = None
) -> None:
    """Send a session's events over a WebSocket; an alias of /v1/sessions/{id}/stream."""
    await socket.serve(connection, here, session, after, until)
