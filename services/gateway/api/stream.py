"""A session's events: one page as JSON, or a stream of server-sent events (DESIGN §13).

`id:` is the event's number in the session, so a client that reconnects with `Last-Event-ID`, to any replica, receives
every event exactly once. Partial text (`delta`) has no number: it is for display only, and `message.completed` replaces
it.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from typing import Annotated

import orjson
from fastapi import APIRouter, Header, Path, Query, Response
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from libs.identity import Principal
from libs.telemetry import metrics
from libs.telemetry.logs import logger
from services.gateway.api.context import Gateway, Here
from services.gateway.api.errors import PROBLEMS
from services.gateway.api.models import EventList, Id, StreamEvent
from services.gateway.api.security import CanRead
from services.gateway.api.sessions import turn_of
from services.gateway.domain import outcomes
from services.gateway.sse.viewer import Item, Viewer
from services.gateway.store import Numbered, Session

log = logger("gateway")
router = APIRouter(tags=["events"], responses=PROBLEMS)

RECONNECT_MS = (500, 3000)
SEQ_MOST = 2**63 - 1
Position = Annotated[int, Query(ge=0, le=SEQ_MOST, description="Return events after this number")]
LastEventId = Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=SEQ_MOST)]


@router.get(
    "/v1/sessions/{session_id}/events",
    response_model=EventList,
    responses={200: {"content": {"text/event-stream": {}}, "description": "A page (stream=false) or a stream"}},
)
async def events(
    here: Here,
    who: CanRead,
    session_id: Annotated[Id, Path()],
    after: Position = 0,
    stream: Annotated[bool, Query(description="false returns one page as JSON")] = True,
    limit: Annotated[int, Query(ge=1, le=1000, description="Events per page")] = 200,
    until: Annotated[Id | None, Query(description="Close the stream after this turn ends")] = None,
    last_event_id: LastEventId = None,
) -> Response:
    """Return the session's events after `after` or `Last-Event-ID`."""
    session = await here.readable(who, session_id)
    position = after if last_event_id is None else last_event_id
    if not stream:
        return await _page(here, who, session, position, limit)
    here.streams.check_capacity(who.tenant)
    if until is not None:
        await turn_of(here, who, until)
    return _BoundedStream(
        _stream(here, who, session, position, until),
        ping=here.settings.heartbeat_seconds,
        send_timeout=here.settings.send_seconds,
        sep="\n",
    )


class _BoundedStream(EventSourceResponse):
    """A stream that closes when its client receives nothing in time."""

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            log.warning("dropped slow event-stream client", path=scope["path"])


async def _page(here: Gateway, who: Principal, session: Session, after: int, limit: int) -> Response:
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


async def _stream(
    here: Gateway, who: Principal, session: Session, after: int, until: str | None
) -> AsyncIterator[ServerSentEvent]:
    settings = here.settings
    with here.streams.watch(who.tenant, session.session_id) as channel, metrics.sse_connections.track_inprogress():
        # Read the turn after subscribing: a later end arrives as an event.
        turn = await here.store.turn(who.tenant, until) if until else None
        viewer = Viewer(channel, here.streams, after=after, page=settings.page, reread=settings.reread_seconds)
        if turn is not None and turn.ended_at is not None:
            async for event in viewer.caught_up():
                yield _server_sent_event(event)
            return
        async for item in viewer.items(session):
            yield _server_sent_event(item)
            if until is not None and isinstance(item, Numbered) and outcomes.ends(until, item):
                return
    # The process is stopping. Random delays keep clients from reconnecting to one replica all at once.
    yield ServerSentEvent(comment="reconnect", retry=random.randint(*RECONNECT_MS), sep="\n")  # noqa: S311


def _server_sent_event(item: Item) -> ServerSentEvent:
    if isinstance(item, Numbered):
        return ServerSentEvent(item.json, id=str(item.seq), event=item.type, sep="\n")
    delta = {"turn_id": item.turn_id, "call": item.call, "attempt": item.attempt, "text": item.text}
    return ServerSentEvent(orjson.dumps(delta).decode(), event="delta", sep="\n")
