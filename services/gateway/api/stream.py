"""A session's events: a page of them as JSON, or all that come, as server-sent events (DESIGN §13).

`id:` is the event's number in the session, so a client that comes back with `Last-Event-ID` misses nothing and sees
nothing twice, whatever was cut off and wherever it comes back to. Words on their way (`delta`) have no number: they are
for eyes only, and `message.completed` replaces them.
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
from services.gateway.api.errors import PROBLEMS
from services.gateway.api.gateway import Gateway, Here
from services.gateway.api.models import EventList, Id, StreamEvent
from services.gateway.api.security import Talker
from services.gateway.api.sessions import turn_of
from services.gateway.domain import outcomes
from services.gateway.store import Numbered, Session
from services.gateway.viewer import Item, Viewer

log = logger("gateway")
router = APIRouter(tags=["events"], responses=PROBLEMS)

RECONNECT_MS = (500, 3000)
SEQ_MOST = 2**63 - 1
Place = Annotated[int, Query(ge=0, le=SEQ_MOST, description="Read from behind this number")]
LastEventId = Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=SEQ_MOST)]


@router.get(
    "/v1/sessions/{session_id}/events",
    response_model=EventList,
    responses={200: {"content": {"text/event-stream": {}}, "description": "A page (stream=false), or a stream"}},
)
async def events(
    here: Here,
    who: Talker,
    session_id: Annotated[Id, Path()],
    after: Place = 0,
    stream: Annotated[bool, Query(description="false: one page as JSON")] = True,
    limit: Annotated[int, Query(ge=1, le=1000, description="Of a page")] = 200,
    until: Annotated[Id | None, Query(description="Close the stream after the end of this turn")] = None,
    last_event_id: LastEventId = None,
) -> Response:
    """The session's events, from `after` or `Last-Event-ID` on."""
    session = await here.session(who, session_id)
    place = after if last_event_id is None else last_event_id
    if not stream:
        return await _page(here, who, session, place, limit)
    here.streams.room(who.tenant)
    if until is not None:
        await turn_of(here, who, until)
    return _Sent(
        _stream(here, who, session, place, until),
        ping=here.settings.heartbeat_seconds,
        send_timeout=here.settings.send_seconds,
        sep="\n",
    )


class _Sent(EventSourceResponse):
    """A stream that lets go of a viewer who takes nothing."""

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            log.warning("a viewer took nothing and is dropped", path=scope["path"])


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
        # Asked after subscribing: a turn that ends from here on is seen as an event.
        turn = await here.store.turn(who.tenant, until) if until else None
        viewer = Viewer(channel, here.streams, after=after, page=settings.page, reread=settings.reread_seconds)
        if turn is not None and turn.ended_at is not None:
            async for event in viewer.caught_up():
                yield _sent(event)
            return
        async for item in viewer.items(session):
            yield _sent(item)
            if until is not None and isinstance(item, Numbered) and outcomes.ends(until, item):
                return
    # We are leaving. Viewers come back at different times, so that who takes over is not met by all of them at once.
    yield ServerSentEvent(comment="come back", retry=random.randint(*RECONNECT_MS), sep="\n")  # noqa: S311


def _sent(item: Item) -> ServerSentEvent:
    if isinstance(item, Numbered):
        return ServerSentEvent(item.json, id=str(item.seq), event=item.type, sep="\n")
    words = {"turn_id": item.turn_id, "call": item.call, "attempt": item.attempt, "text": item.text}
    return ServerSentEvent(orjson.dumps(words).decode(), event="delta", sep="\n")
