"""A session's events: one page as JSON, a stream of server-sent events, or the same over a WebSocket.

Each event has its number in the session, so a client that reconnects with the last one, to any replica, receives every
event exactly once. Partial text (`delta`) has no number: it is for display only, and `message.completed` replaces it.
docs/streams.md describes both for clients.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Annotated, Any, cast

import anyio
import orjson
from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.requests import HTTPConnection
from starlette.types import Send
from typing_extensions import override

from libs.identity import Principal
from libs.telemetry import metrics
from services.gateway.http.errors import Refusal, raises
from services.gateway.http.models import Id
from services.gateway.identity.lasting_access import Access
from services.gateway.identity.security import CanRead
from services.gateway.identity.verification import Holder
from services.gateway.sessions import outcomes
from services.gateway.sessions.context import Here, NoSuchSession, Sessions
from services.gateway.sessions.models import EventList, Session, StreamEvent
from services.gateway.sessions.routes import NoSuchTurn, turn_of
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.streams import Channel
from services.gateway.sessions.viewer import Heartbeat, Item, Pace, TextDelta, Viewer

STREAMS_FULL = Refusal(429, "TOO_MANY_STREAMS", "this server is at its limit of event streams; retry later")
router = APIRouter(tags=["events"])

RECONNECT_MS = (500, 3000)
SEQ_MOST = 2**63 - 1
Position = Annotated[int, Query(ge=0, le=SEQ_MOST, description="Return events after this number")]
Until = Annotated[Id | None, Query(description="Close the stream after this turn ends")]
Left = Callable[[], Awaitable[None]]
LastEventId = Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=SEQ_MOST)]


class End(Enum):
    """Why a stream ended, in words for people."""

    DONE = "the turn has ended"
    LEAVING = "this server is stopping; reconnect"
    FORBIDDEN = "the credentials or the access to this session changed; authenticate again"


@router.get(
    "/v1/sessions/{session_id}/events",
    response_model=EventList,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "A page (stream=false) or a stream"},
        **raises(NoSuchSession, NoSuchTurn, STREAMS_FULL),
    },
)
async def events(
    request: Request,
    here: Here,
    who: CanRead,
    session_id: Annotated[Id, Path()],
    after: Position = 0,
    stream: Annotated[bool, Query(description="false returns one page as JSON")] = True,
    limit: Annotated[int, Query(ge=1, le=1000, description="Events per page")] = 200,
    until: Until = None,
    last_event_id: LastEventId = None,
) -> Response:
    """Return the session's events after `after` or `Last-Event-ID`."""
    position = after if last_event_id is None else last_event_id
    if not stream:
        return await _page(here, who, session_id, position, limit)
    view = await View.of(here, who, request, session_id, position, until)
    return ServerSent(_encoded(view))


async def _page(here: Sessions, who: Principal, session_id: str, after: int, limit: int) -> Response:
    session = await here.readable(who, session_id)
    found = await here.store.events(who.tenant, session.session_id, after=after, most=limit)
    last = found.events[-1].seq if found.events else after
    page = EventList(
        session_id=session.session_id,
        events=[StreamEvent.model_validate(event) for event in found.events],
        next=last,
        more=found.more,
        as_of=session.last_seq,
    )
    return Response(page.model_dump_json(), media_type="application/json")


class ServerSent(StreamingResponse):
    """Server-sent events. `left` is called if the client goes before their end."""

    def __init__(self, encoded: AsyncGenerator[bytes], *, left: Left | None = None) -> None:
        # nginx buffers answers unless it is told not to.
        super().__init__(encoded, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        self._left = left

    @override
    async def stream_response(self, send: Send) -> None:
        # Closed at once, not when garbage is collected: until then the stream counts towards the limit.
        async with aclosing(cast("AsyncGenerator[bytes]", self.body_iterator)):
            try:
                await super().stream_response(send)
            except anyio.get_cancelled_exc_class():
                if self._left is not None:
                    await self._left()
                raise


@dataclass(frozen=True, slots=True)
class View:
    """One caller's stream of a session's events, over either transport."""

    here: Sessions
    who: Principal
    connection: HTTPConnection
    session: Session
    after: int
    until: str | None

    @classmethod
    async def of(
        cls, here: Sessions, who: Principal, connection: HTTPConnection, session_id: str, after: int, until: str | None
    ) -> View:
        """Return the caller's view.

        Raises:
            NotFound: there is no such session, or no such turn.
            TooManyStreams: too many streams are open.
        """
        session = await here.readable(who, session_id)
        # While a refusal can still be a problem document; `watch` checks again.
        here.streams.check_capacity(who.tenant)
        if until is not None:
            await turn_of(here, who, until)
        return cls(here, who, connection, session, after, until)

    async def items(self) -> AsyncGenerator[Item | End]:
        """Yield events, partial text and heartbeats, and at last why the stream ends."""
        here, name = self.here, self.session.session_id
        with (
            here.streams.watch(self.who.tenant, name) as channel,
            self._access.held(channel.notify) as holder,
            metrics.sse_connections.track_inprogress(),
        ):
            # Read the turn after subscribing: a later end arrives as an event.
            over = await self._over()
            viewer = self._viewer(channel, holder)
            source: AsyncGenerator[Item] = viewer.caught_up(shared=False) if over else viewer.items(self.session)
            async with aclosing(source) as items:
                async for item in items:
                    yield item
                    if not over and self._ends(item):
                        over = True
                        break
            yield End.FORBIDDEN if not holder.valid else End.DONE if over else End.LEAVING

    @property
    def _access(self) -> Access:
        others = self.session.principal != self.who.id
        return self.here.access(self.who, self.connection, self.session.session_id if others else None)

    def _viewer(self, channel: Channel, holder: Holder) -> Viewer:
        settings = self.here.settings
        pace = Pace(settings.page, settings.reread_seconds, settings.heartbeat_seconds)
        return Viewer(channel, self.here.streams, after=self.after, pace=pace, open=lambda: holder.valid)

    async def _over(self) -> bool:
        turn = await self.here.store.turn(self.who.tenant, self.until) if self.until else None
        return turn is not None and turn.ended_at is not None

    def _ends(self, item: Item) -> bool:
        return self.until is not None and isinstance(item, Numbered) and outcomes.ends(self.until, item)


async def _encoded(view: View) -> AsyncGenerator[bytes]:
    async with aclosing(view.items()) as items:
        async for item in items:
            match item:
                case Numbered():
                    yield item.server_sent
                case TextDelta():
                    yield b"event: delta\ndata: " + orjson.dumps(delta_of(item)) + b"\n\n"
                case Heartbeat():
                    yield b": heartbeat\n\n"
                case End.LEAVING:
                    # Random delays keep clients from reconnecting to one replica all at once.
                    yield b": reconnect\nretry: %d\n\n" % random.randint(*RECONNECT_MS)  # noqa: S311
                case End():
                    return


def delta_of(item: TextDelta) -> dict[str, Any]:
    """Return the body of a `Delta`."""
    return asdict(item)
