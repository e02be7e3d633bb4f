"""A session's events over a WebSocket: the same view as the server-sent events, one JSON text message each.

A refusal before the socket opens is a problem document, as on any route. Afterwards the close code says what to do.
The client sends nothing: commands are requests to the other routes, with their idempotency keys and policy decisions.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import Annotated, Any, cast

import orjson
from fastapi import APIRouter, Path, Response, WebSocket, WebSocketDisconnect

from libs.identity import Principal
from libs.runtime.problem_details import document
from services.gateway.http.errors import Refusal, raises
from services.gateway.http.models import Id
from services.gateway.identity.reading import SESSIONS
from services.gateway.identity.security import CanRead
from services.gateway.sessions.context import Here, NoSuchSession, Sessions
from services.gateway.sessions.routes import NoSuchTurn
from services.gateway.sessions.stream import STREAMS_FULL, End, Position, Until, View, delta_of
from services.gateway.sessions.viewer import Heartbeat, Item, TextDelta

router = APIRouter(tags=["events"])

CLOSE_CODES = {End.DONE: 1000, End.LEAVING: 1012, End.FORBIDDEN: 4401}
UNWANTED = 1003
HEARTBEAT = '{"type":"heartbeat"}'
UPGRADE: dict[int | str, dict[str, Any]] = {
    101: {"description": "The WebSocket is open (docs/streams.md lists its messages and close codes)"},
    **raises(NoSuchSession, NoSuchTurn, STREAMS_FULL),
    **raises(Refusal(426, "UPGRADE_REQUIRED", "This is a WebSocket; ask for an upgrade, or use /events.")),
}


@router.get("/v1/sessions/{session_id}/stream", status_code=101, responses=UPGRADE, response_class=Response)
async def upgrade(
    here: Here, who: CanRead, session_id: Annotated[Id, Path()], after: Position = 0, until: Until = None
) -> Response:
    """Open a WebSocket of the session's events after `after`: one JSON text message each."""
    detail = "This is a WebSocket; ask for an upgrade, or use /events."
    return document(426, "UPGRADE_REQUIRED", detail, headers={"Upgrade": "websocket", "Connection": "Upgrade"})


@router.websocket("/v1/sessions/{session_id}/stream")
async def stream(
    socket: WebSocket, here: Here, session_id: Annotated[Id, Path()], after: Position = 0, until: Until = None
) -> None:
    await serve(socket, here, session_id, after, until)


async def serve(socket: WebSocket, here: Sessions, session_id: str, after: int, until: str | None) -> None:
    """Send a session's events over a WebSocket until either side ends it.

    Raises `SumaError` before the socket opens: the framework answers with its problem document.
    """
    who = cast("Principal", socket.state.caller)
    await here.identity.reads.check(who, SESSIONS)
    view = await View.of(here, who, socket, session_id, after, until)
    await socket.accept()
    sending = asyncio.ensure_future(_send(socket, view))
    listening = asyncio.ensure_future(_listen(socket))
    try:
        await asyncio.wait((sending, listening), return_when=asyncio.FIRST_COMPLETED)
        if sending.done() and (end := sending.result()) is not None:
            await socket.close(CLOSE_CODES[end], end.value)
        elif listening.done() and listening.result():
            await socket.close(UNWANTED, "this stream takes no messages")
    finally:
        sending.cancel()
        listening.cancel()
        await asyncio.gather(sending, listening, return_exceptions=True)


async def _send(socket: WebSocket, view: View) -> End | None:
    """Send until the view ends, and return why; None if the client is gone."""
    with suppress(WebSocketDisconnect):
        async with aclosing(view.items()) as items:
            async for item in items:
                if isinstance(item, End):
                    return item
                await socket.send_text(_message(item))
    return None


async def _listen(socket: WebSocket) -> bool:
    """Wait for the client to leave, or to send a message; return whether it sent one."""
    message = await socket.receive()
    return bool(message["type"] == "websocket.receive")


def _message(item: Item) -> str:
    match item:
        case Heartbeat():
            return HEARTBEAT
        case TextDelta():
            return orjson.dumps({"type": "delta", **delta_of(item)}).decode()
        case _:
            return item.json
