"""Sessions, messages and turns."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from libs import ids
from libs.changes import Changeset
from libs.errors import Denied, NotFound, Rejected, Unavailable
from libs.events import Asset, Hitl, ToolCall, TurnCancelRequested
from libs.identity import Principal
from libs.policy import Decision, PolicyUnanswered
from libs.runtime import UnknownAgent, permission
from services.gateway.files.uploads import NoSuchAttachment
from services.gateway.http import commands
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.commands import CommandResult, IdempotencyKey, IdempotentRequest
from services.gateway.http.errors import Refusal, raises
from services.gateway.http.models import Id
from services.gateway.identity import access
from services.gateway.identity.lasting_access import Access, AccessChanged
from services.gateway.identity.security import Authenticated, CanChat, CanRead
from services.gateway.sessions import commanded, messages, outcomes
from services.gateway.sessions.commanded import COMMANDED
from services.gateway.sessions.context import Here, NoSuchSession, ReadOnly, Sessions, seen_as
from services.gateway.sessions.messages import Message
from services.gateway.sessions.models import (
    Accepted,
    Cancel,
    Commanded,
    FirstMessage,
    History,
    NewMessage,
    NewSession,
    Session,
    SessionList,
    SessionRead,
    Share,
    Title,
    TurnShown,
)
from services.gateway.sessions.rows import SessionShared

router = APIRouter(route_class=StrictRoute)

SessionId = Annotated[Id, Path()]
Limit = Annotated[int, Query(ge=1, le=500)]
LOOK_SECONDS = 0.5
"""Seconds between two looks at a turn whose end another process may project."""
FULL = (
    Refusal(429, "SESSION_FULL", "this session has 100 open turns; wait for some to end, or cancel them"),
    Refusal(429, "TENANT_FULL", "your tenant has 10000 open turns; wait for some to end, or cancel them"),
    Refusal(429, "BACKLOG_FULL", "the platform has 50001 waiting tasks; retry later"),
)
"""Errors of a message that would open a turn."""
SENDING = (NoSuchSession, ReadOnly, NoSuchAttachment, UnknownAgent, *FULL)
"""Errors of each route that sends a message."""
ACCEPTED: dict[int | str, dict[str, Any]] = {202: {"model": Accepted}}


class NoSuchTurn(NotFound):
    """There is no such turn; list the session's history."""


class NotYours(Denied):
    """Only its own principal or an operator can share this session; ask one of them."""

    code = "NOT_YOUR_SESSION"


class TurnOver(Rejected):
    """This turn has already ended; read its result."""

    code = "TURN_ENDED"


@router.post("/v1/sessions", status_code=201, response_model=SessionRead, tags=["sessions"])
async def open_session(
    request: Request, here: Here, who: Authenticated, body: NewSession, key: IdempotencyKey = None
) -> Any:
    """Open a session."""

    async def decide() -> CommandResult:
        session = ids.new()
        cause = commands.cause_of(who, session)
        record = await commands.permitted(here, cause, who, "session.create", root=body.root)
        at = here.platform.clock.now().isoformat()
        opened = messages.opened(cause, who, title=body.title, root=body.root, hitl=body.hitl, at=at)
        return CommandResult(opened.emit(record), {"session_id": session})

    receipt = await commands.write(here, who, IdempotentRequest.of(request, key, body), decide)
    return _read(await here.readable(who, receipt["session_id"]))


@router.get("/v1/sessions", tags=["sessions"])
async def list_sessions(
    here: Here,
    who: CanRead,
    limit: Limit = 50,
    before: Id | None = None,
    words: Annotated[Title | None, Query(description="Part of a title, folder, id or principal")] = None,
    open: Annotated[bool, Query(description="Only sessions with an open turn")] = False,
) -> SessionList:
    """List the caller's sessions and shared ones, newest first; with the scope `sessions:read`, all of the tenant's."""
    found = await here.store.sessions(
        who.tenant, reader=access.reader(who), before=before, words=words, open=open, most=limit
    )
    return SessionList(
        sessions=found,
        next=found[-1].session_id if len(found) == limit else None,
        as_of=here.platform.clock.now(),
    )


@router.post(
    "/v1/sessions/message",
    status_code=202,
    response_model=Accepted,
    responses=raises(*SENDING),
    tags=["messages"],
)
async def first_message(
    request: Request, here: Here, who: Authenticated, body: FirstMessage, key: IdempotencyKey = None
) -> Accepted:
    """Send a message, in a new session unless one is named."""
    return await send_message(here, who, IdempotentRequest.of(request, key, body), body)


@router.post(
    "/v1/llm/invoke",
    responses={200: {"model": TurnShown}, **ACCEPTED, **raises(*SENDING, AccessChanged)},
    tags=["messages"],
)
async def invoke(
    request: Request,
    here: Here,
    who: Authenticated,
    body: FirstMessage,
    key: IdempotencyKey = None,
    wait: Annotated[float, Query(ge=0, description="Seconds to wait for the turn to end")] = 0,
) -> Response:
    """Send a message; with `?wait=`, return the finished turn (200) if it ends in time."""
    accepted = await send_message(here, who, IdempotentRequest.of(request, key, body), body)
    wait = min(wait, here.settings.wait_most)
    held = here.access(who, request, accepted.session_id)
    turn = await ended(here, held, accepted.turn_id, wait=wait, repeated=key is not None) if wait else None
    if turn is None:
        return JSONResponse(accepted.model_dump(mode="json"), 202)
    return JSONResponse(turn.model_dump(mode="json"))


@router.get("/v1/sessions/{session_id}", responses=raises(NoSuchSession), tags=["sessions"])
async def read_session(here: Here, who: CanRead, session_id: SessionId) -> SessionRead:
    return _read(await here.readable(who, session_id))


@router.get("/v1/sessions/{session_id}/history", responses=raises(NoSuchSession), tags=["sessions"])
async def history(
    here: Here, who: CanRead, session_id: SessionId, limit: Limit = 100, after: Id | None = None
) -> History:
    """Return the session's turns in order, with messages and answers."""
    session = await here.readable(who, session_id)
    found = await here.store.turns(who.tenant, session_id, after=after, most=limit)
    return History(
        session_id=session_id,
        turns=found,
        next=found[-1].turn_id if len(found) == limit else None,
        as_of=session.last_seq,
    )


@router.put("/v1/sessions/{session_id}/share", responses=raises(NoSuchSession, NotYours), tags=["sessions"])
async def share(here: Here, who: Authenticated, session_id: SessionId, body: Share) -> SessionRead:
    """Share a session with the other principals of the tenant. Safe to repeat."""
    return await _shared(here, who, session_id, body.access)


@router.delete("/v1/sessions/{session_id}/share", responses=raises(NoSuchSession, NotYours), tags=["sessions"])
async def unshare(here: Here, who: Authenticated, session_id: SessionId) -> SessionRead:
    """Make a session private again. Safe to repeat."""
    return await _shared(here, who, session_id, None)


@router.post(
    "/v1/sessions/{session_id}/messages",
    status_code=202,
    response_model=Accepted,
    responses=raises(*SENDING),
    tags=["messages"],
)
async def say_in(
    request: Request,
    here: Here,
    who: Authenticated,
    session_id: SessionId,
    body: NewMessage,
    key: IdempotencyKey = None,
) -> Accepted:
    """Send a message in a session. It is durable once this answers, and becomes one turn, or the answer to the
    clarification that the session's turn waits for.
    """
    known = FirstMessage(**body.model_dump(), session_id=session_id)
    return await send_message(here, who, IdempotentRequest.of(request, key, body), known)


@router.get("/v1/turns/{turn_id}", responses=raises(NoSuchTurn), tags=["messages"])
async def read_turn(here: Here, who: CanRead, turn_id: Annotated[Id, Path()]) -> TurnShown:
    return await turn_of(here, who, turn_id)


@router.post(
    "/v1/turns/{turn_id}/cancel",
    response_model=Commanded,
    responses=COMMANDED | raises(NoSuchTurn, ReadOnly, TurnOver),
    tags=["messages"],
)
async def cancel(
    request: Request,
    response: Response,
    here: Here,
    who: CanChat,
    turn_id: Annotated[Id, Path()],
    body: Cancel | None = None,
    key: IdempotencyKey = None,
) -> Commanded:
    """Cancel a turn: remove a queued one, stop a running one and its calls."""
    done = await cancel_turn(here, who, IdempotentRequest.of(request, key, body), turn_id, body or Cancel())
    response.status_code = 200 if done.outcome else 202
    return done


async def cancel_turn(here: Sessions, who: Principal, once: IdempotentRequest, turn_id: str, body: Cancel) -> Commanded:
    """Request a turn's cancellation, and wait briefly for its end. Raises NotFound, ReadOnly or TurnOver."""
    turn = await turn_of(here, who, turn_id)
    session = await here.writable(who, turn.session_id)

    async def decide() -> CommandResult:
        if turn.ended_at is not None:
            raise TurnOver(f"this turn is already {turn.state}")
        cause = commands.cause_of(who, turn.session_id, turn_id)
        request = TurnCancelRequested(
            turn_id=turn_id, principal=who.id, scopes=tuple(sorted(who.scopes)), reason=body.reason
        )
        receipt = commanded.receipt(cause, turn_id, session)
        try:
            record = await commands.permitted(here, cause, who, "turn.cancel")
        except PolicyUnanswered:
            # A cancel only ends effects, so silence must not keep them going. A denial and a lacking scope still count.
            unasked = Decision("turn.cancel", True, PolicyUnanswered.code, "", (), here.platform.policy.revision)
            record = permission.recorded(unasked, cause, who.id)
        return CommandResult(Changeset(cause).emit(record, request), receipt)

    receipt = await commands.write(here, who, once, decide)
    return await commanded.outcome(here, who, receipt, lambda event: outcomes.ends(turn_id, event))


async def send_message(
    here: Sessions,
    who: Principal,
    once: IdempotentRequest,
    body: FirstMessage,
    *,
    opens: str | None = None,
    context: str | None = None,
    call: ToolCall | None = None,
    answers: str | None = None,
    job: bool = False,
) -> Accepted:
    """Accept a message, and open a session for it if needed, in one transaction. `opens` is the id of a new one,
    `context` its name in another protocol, `call` all that its turn does, `answers` the turn whose clarification it
    answers. One that names none answers what its session asks. A call or a multimodal `job` answers no question.
    """
    if body.agent is not None and body.agent not in here.platform.agents:
        raise UnknownAgent
    found = await here.writable(who, body.session_id) if body.session_id else None
    await commands.refuse_without(here, who, "chat", "conversation.send", found.session_id if found else None)

    async def decide() -> CommandResult:
        at = here.platform.clock.now().isoformat()
        # At each try: after a conflict, the request that won may have opened it.
        session = found or await _opened(here, who, opens)
        name, turn = session.session_id if session else opens or ids.new(), ids.new()
        if session is None:
            here.open_turns.opened(who.tenant, name)
        # Before files are looked up and policy is asked: at the limit, a refusal must cost little.
        await here.open_turns.admit(who.tenant, name)
        cause = commands.cause_of(who, name, turn)
        files = await here.files.uploads.attached(who, body.attachments)
        asking = session.asking if session is not None and call is None and not job else None
        message = replace(_message(body, session, turn, at, files, call), answers=answers or asking, job=job)
        if session is not None:
            changeset = messages.accepted(cause, who, message)
        else:
            record = await commands.permitted(here, cause, who, "session.create", root=body.root)
            title = body.title or messages.title_of(body.text)
            opened = messages.opened(cause, who, title=title, root=body.root, hitl=message.hitl, at=at, context=context)
            changeset = opened.emit(record) + messages.accepted(cause, who, message)
        # From before the message, so that a client that streams from here sees its acceptance too.
        after = session.last_seq if session else 0
        receipt = Accepted(
            session_id=name,
            message_id=message.message_id,
            turn_id=message.answers or turn,
            after=after,
            answers=message.answers is not None,
        )
        return CommandResult(changeset.on_commit(lambda: here.streams.wake(who.tenant, name)), receipt.model_dump())

    return Accepted.model_validate(await commands.write(here, who, once, decide))


async def _opened(here: Sessions, who: Principal, name: str | None) -> Session | None:
    """Return the session that a concurrent request has opened by this id."""
    with suppress(NoSuchSession):
        return await here.writable(who, name) if name else None
    return None


async def ended(here: Sessions, held: Access, turn_id: str, *, wait: float, repeated: bool) -> TurnShown | None:
    """Return a turn once it has ended; None if it does not within `wait` seconds, or this process stops.

    The turn of a repeated request may have ended already. Raises AccessChanged.
    """
    now = asyncio.get_running_loop().time
    until = now() + wait
    with here.streams.awaiting_end(turn_id) as ended, held.held(ended.set) as holder:
        if repeated:
            ended.set()
        while True:
            # Another process may project the end, without a wake-up here.
            with suppress(TimeoutError):
                async with asyncio.timeout(min(LOOK_SECONDS, max(0.0, until - now()))):
                    await ended.wait()
            ended.clear()
            if not holder.valid:
                raise AccessChanged
            with suppress(Unavailable):
                turn = await here.store.turn(held.who.tenant, turn_id)
                if turn is not None and turn.ended_at is not None:
                    return turn
            if now() >= until or here.streams.closed:
                return None


async def _shared(here: Sessions, who: Principal, session_id: str, granted: access.Shared | None) -> SessionRead:
    session = await here.readable(who, session_id)
    if not access.shares(who, session.principal):
        raise NotYours
    cause = commands.cause_of(who, session_id)
    record = await commands.permitted(here, cause, who, "session.share", access=granted)
    shared = Changeset(cause).put(SessionShared(session_id=session_id, shared=granted))
    await here.platform.writer.apply(shared.emit(record))
    return _read(await here.readable(who, session_id))


def _message(
    body: FirstMessage,
    session: Session | None,
    turn: str,
    at: str,
    attachments: tuple[Asset, ...],
    call: ToolCall | None,
) -> Message:
    hitl = body.hitl or (session.hitl if session else "key")
    root = session.root if session else body.root
    message = Message(ids.new(), turn, body.text, Hitl(hitl), body.on_busy, body.skill, root, at, attachments, call)
    return replace(message, agent=body.agent)


def _read(session: Session) -> SessionRead:
    return SessionRead(**session.model_dump(), as_of=session.last_seq)


async def turn_of(here: Sessions, who: Principal, turn_id: str) -> TurnShown:
    """Return a turn of a session that the caller reads. Raises NotFound, also for one of others."""
    found = await here.store.turn(who.tenant, turn_id)
    if found is None:
        raise NoSuchTurn
    with seen_as(NoSuchTurn):
        await here.readable(who, found.session_id)
    return found
