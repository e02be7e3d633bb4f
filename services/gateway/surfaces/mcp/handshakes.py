"""The revisions with a handshake (2025-11-25 and older), without any session in this process.

The SDK's stateless transport cannot ask a client anything: the answer would reach another transport, or another
replica. Here it can. A question is written on the stream of its call with an id that names it; its answer is a request
like any other, which decides the approval or replies to the turn. The call only follows the turn, and sees it go on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import anyio
import orjson
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import serve_connection
from mcp.server.streamable_http import EventCallback, EventStore, StreamableHTTPServerTransport
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher, progress_token_from_params
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.shared.transport_context import TransportContext
from mcp_types import DEFAULT_NEGOTIATED_VERSION, ElicitResult, JSONRPCMessage, JSONRPCRequest
from pydantic import ValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from typing_extensions import override

from libs.errors import SumaError
from libs.identity import Principal
from libs.runtime.problem_details import answer as problem
from services.gateway.surfaces.context import Gateway
from services.gateway.surfaces.mcp import questions, tool_calls
from services.gateway.surfaces.mcp.catalogue import FOLLOW
from services.gateway.surfaces.mcp.state import (
    LAST_EVENT_ID,
    SESSION_ID,
    NoSuchMcpSession,
    Position,
    Session,
    open_session,
    session_of,
)
from services.gateway.surfaces.turns import Question, TurnClient

Json = Any

CALL = "tools/call"
RETRY_MS = 2000
"""After which a client resumes a broken stream: a restarted process answers again by then."""
NO_TURN = "none"


class Handshakes:
    """Requests of clients that began with a handshake."""

    def __init__(self, here: Gateway, server: Server[Any]) -> None:
        self._here, self._server = here, server

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            session = session_of(self._here.platform.keys, scope["state"]["caller"], headers)
            if scope["method"] == "POST":
                await self._post(scope, receive, send, session)
            elif scope["method"] == "GET" and session is not None and LAST_EVENT_ID in headers:
                await self._resume(scope, receive, send, session)
            else:
                # No stream without a request, and nothing here that a DELETE could end.
                await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
        except NoSuchMcpSession as error:
            await problem(error)(scope, receive, send)

    async def _post(self, scope: Scope, receive: Receive, send: Send, session: Session | None) -> None:
        body = await Request(scope, receive).body()
        message, stream = _parsed(body), None
        method = message.get("method")
        if method is None and isinstance(message.get("id"), str):
            await self._take_answer(self._turns(scope), message)
        elif method == "notifications/cancelled" and session is not None:
            await self._cancel(self._turns(scope), session, message)
        elif method == "initialize":
            send = self._with_session(scope["state"]["caller"], message, send)
        elif method == CALL:
            stream = CallStream.of(message, session)
        await self._dispatch(scope, _replayed(body, receive), send, stream)

    async def _resume(self, scope: Scope, receive: Receive, send: Send, session: Session) -> None:
        """Go on with the stream of a call after the last event that the client saw: follow the call's turn."""
        position = Position.parse(Headers(scope=scope)[LAST_EVENT_ID])
        # Its last event may be from before the turn began: then the request's key finds the turn, at any replica.
        turn_id = position.turn_id or await self._turns(scope).begun(session.key_of(position.request_id)) or NO_TURN
        message = {
            "jsonrpc": "2.0",
            "id": position.request_id,
            "method": CALL,
            "params": {"name": FOLLOW, "arguments": {"turn_id": turn_id}, **_progress_meta(position)},
        }
        headers = MutableHeaders(scope=scope)
        headers["Accept"], headers["Content-Type"] = "application/json, text/event-stream", "application/json"
        posted = {**scope, "method": "POST", "headers": headers.raw}
        stream = CallStream.of(message, session, seen=position.seq)
        await self._dispatch(posted, _replayed(orjson.dumps(message), receive), send, stream)

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send, stream: CallStream | None) -> None:
        """Serve one request on a transport of its own."""
        transport = StreamableHTTPServerTransport(
            mcp_session_id=None,
            is_json_response_enabled=stream is None,
            event_store=stream if stream is not None and stream.key is not None else None,
            retry_interval=RETRY_MS,
        )
        version = Headers(scope=scope).get("mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION)
        connection = Connection.from_envelope(version, None, None)
        async with transport.connect() as (read, write), anyio.create_task_group() as group:
            if stream is not None:
                stream.opened(write.send, transport.terminate, version)
                scope["state"]["mcp"] = stream
            dispatcher: JSONRPCDispatcher[TransportContext] = JSONRPCDispatcher(
                read,
                write,
                inline_methods=frozenset({"initialize"}),
                transport_builder=lambda _: TransportContext(kind="streamable-http", can_send_request=False),
            )

            async def serve() -> None:
                await serve_connection(self._server, dispatcher, connection=connection, lifespan_state={})

            group.start_soon(serve)
            await transport.handle_request(scope, receive, send)
            await transport.terminate()
            group.cancel_scope.cancel()

    async def _take_answer(self, turns: TurnClient, message: Mapping[str, Json]) -> None:
        """Pass a person's answer on. One that comes too late, or to nothing, is acknowledged like any other. Without a
        usable answer the form is dismissed, and its call ends with the question.
        """
        turn_id, asked = [*message["id"].split("/"), ""][:2]
        with suppress(SumaError):
            status = await turns.status(turn_id)
            if status.question is None or status.question.name != asked:
                return
            with suppress(SumaError, ValidationError):
                said = ElicitResult.model_validate(message.get("result"))
                if await tool_calls.answer(turns, turn_id, status.question, said):
                    return
            await turns.note(status.turn, tool_calls.dismissal(message["id"]))

    async def _cancel(self, turns: TurnClient, session: Session, message: Mapping[str, Json]) -> None:
        params = message.get("params")
        request_id = params.get("requestId") if isinstance(params, dict) else None
        with suppress(SumaError):
            turn_id = await turns.begun(session.key_of(request_id))
            if turn_id is not None:
                await tool_calls.cancel(turns, turn_id, "the MCP client cancelled the call")

    def _with_session(self, who: Principal, message: Mapping[str, Json], send: Send) -> Send:
        """Give the answer to `initialize` a session id."""
        params = message.get("params")
        capabilities = params.get("capabilities") if isinstance(params, dict) else None
        session_id = open_session(self._here.platform.keys, who, capabilities if isinstance(capabilities, dict) else {})

        async def send_with_session(sent: Message) -> None:
            if sent["type"] == "http.response.start" and sent["status"] == 200:
                MutableHeaders(scope=sent)[SESSION_ID] = session_id
            await send(sent)

        return send_with_session

    def _turns(self, scope: Scope) -> TurnClient:
        return TurnClient(self._here, scope["state"]["caller"], Request(scope))


class CallStream(EventStore):
    """The stream of one call. Each of its events has the place from which any replica can go on."""

    def __init__(self, position: Position, key: str | None, *, elicits: bool) -> None:
        self._position, self.key, self.elicits = position, key, elicits
        self.seen = position.seq
        """The last event that the client received on an earlier stream."""
        self._write: Callable[[SessionMessage], Awaitable[None]] | None = None
        self._end: Callable[[], Awaitable[None]] | None = None
        self._version = DEFAULT_NEGOTIATED_VERSION

    @classmethod
    def of(cls, message: Mapping[str, Json], session: Session | None, *, seen: int = 0) -> CallStream:
        """Return the stream of a call. Without a session it can neither be resumed nor ask."""
        params, request_id = message.get("params"), message.get("id")
        token = progress_token_from_params(params) if isinstance(params, dict) else None
        if session is None or not isinstance(request_id, str | int):
            return cls(Position("", seen, token), None, elicits=False)
        return cls(Position(request_id, seen, token), session.key_of(request_id), elicits=session.elicits)

    def opened(
        self, write: Callable[[SessionMessage], Awaitable[None]], end: Callable[[], Awaitable[None]], version: str
    ) -> None:
        self._write, self._end, self._version = write, end, version

    def follow(self, turn_id: str) -> None:
        """Note the turn that the call follows."""
        self._position = replace(self._position, turn_id=turn_id)

    def at(self, seq: int) -> None:
        """Note the number of the last event that was sent to the client."""
        self._position = replace(self._position, seq=seq)

    async def ask(self, turn_id: str, question: Question) -> str:
        """Ask on this stream. The answer reaches the turn by itself, through any replica. The form's name holds that of
        the call: another call asks anew.
        """
        assert self._write is not None
        name = f"{turn_id}/{question.name}/{self.key}"
        asked = JSONRPCRequest(
            jsonrpc="2.0",
            id=name,
            method="elicitation/create",
            params=questions.form(question.asked, self._version).model_dump(
                by_alias=True, mode="json", exclude_none=True, exclude={"mode"}
            ),
        )
        related = ServerMessageMetadata(related_request_id=self._position.request_id)
        await self._write(SessionMessage(asked, metadata=related))
        return name

    async def leave(self) -> None:
        """End the stream without an answer; the client resumes it at another replica, or here after a restart."""
        assert self._end is not None
        await self._end()
        await anyio.sleep_forever()

    @override
    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Return the event's id. Nothing is stored: the turn's own events are."""
        return str(self._position)

    @override
    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Replay nothing: `Handshakes` resumes a stream by following its turn."""
        return None


def _parsed(body: bytes) -> Mapping[str, Json]:
    """Return a message; empty for what the transport will refuse."""
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return message if isinstance(message, dict) else {}


def _progress_meta(position: Position) -> dict[str, Json]:
    return {"_meta": {"progressToken": position.progress_token}} if position.progress_token is not None else {}


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return the body once more, then all later messages."""
    given = False

    async def receive_body() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_body
