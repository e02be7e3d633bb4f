"""Responses: each is a segment of a turn. Steps are calls of Suma's tools, and approvals are requests for approval, as
OpenAI's API shows those of a remote server (`mcp_call`, `mcp_approval_request`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

import orjson
from fastapi.responses import JSONResponse
from starlette.requests import Request
from starlette.responses import Response

from libs import ids
from libs.errors import Rejected, SumaError
from libs.identity import Principal
from services.gateway.sessions.models import TurnShown
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.stream import ServerSent
from services.gateway.sessions.viewer import Heartbeat, TextDelta
from services.gateway.surfaces import segments
from services.gateway.surfaces.calls import Call, NoSuchResponse, NothingDecided, Wish, parsed
from services.gateway.surfaces.context import Gateway
from services.gateway.surfaces.openai import problems
from services.gateway.surfaces.openai.inputs import files_of, text_of
from services.gateway.surfaces.openai.output import ANSWER, ASKS, Output
from services.gateway.surfaces.openai.requests import (
    MODEL,
    ApprovalResponse,
    InputMessage,
    NothingSaid,
    OtherItem,
    ResponseRequest,
)
from services.gateway.surfaces.openai.retries import attempt
from services.gateway.surfaces.segments import Json, Segment
from services.gateway.surfaces.turns import ASKED, TurnClient

PREFIX = "resp_"
Items = AsyncGenerator[Numbered | TextDelta | Heartbeat]


class Kept(Rejected):
    """Suma keeps every turn for its audit log, so a response cannot be deleted."""

    code = "RESPONSE_KEPT"


class NoPosition(Rejected):
    """A stream of a response begins at its start; leave `starting_after` out."""

    code = "UNSUPPORTED_STARTING_AFTER"


async def create(here: Gateway, who: Principal, request: Request, body: Any) -> Response:
    """Begin a response; return it at its end, at once (`background`), or as a stream.

    Raises:
        RequestValidationError, SumaError: the request is refused, before its turn begins.
    """
    asked = parsed(ResponseRequest, body)
    asked.checked()
    here.streams.check_capacity(who.tenant)
    call = Call(TurnClient(here, who, request), await attempt(here, who, request, body))
    wish, asked = wish_of(asked), asked.model_copy(update={"input": ""})
    try:
        begun = await call.begin(wish)
    except NothingDecided as why:
        begun = why.place
    # Files of the request are not kept while its turn runs.
    del body, wish
    shown = Shown(begun, call.turns.base, asked)
    shown.output.recall(await segments.earlier(call.turns, begun))
    if asked.stream:
        left = partial(call.leave, begun, asked.options)
        return ServerSent(_encoded(shown, segments.follow(call.turns, begun)), left=left)
    if asked.background:
        return JSONResponse(shown.whole("in_progress"))
    # The turn may take long: a waiting call counts as a stream, not as a running request.
    request.state.release()
    async with aclosing(segments.follow(call.turns, begun)) as items:
        async for item in items:
            if await segments.left(request, item):
                await call.leave(begun, asked.options)
                break
            shown.output.absorb(item)
    return JSONResponse(shown.whole())


async def retrieve(here: Gateway, who: Principal, request: Request, name: str) -> Response:
    """Return a response's present state; with `?stream=true`, its events from the start to its end.

    Raises:
        NoSuchResponse: there is none, or it is of others.
    """
    turns = TurnClient(here, who, request)
    turn, segment = await _found(turns, name)
    if request.query_params.get("stream") != "true":
        return JSONResponse(await _standing(turns, turn, segment))
    if "starting_after" in request.query_params:
        raise NoPosition
    here.streams.check_capacity(who.tenant)
    shown = Shown(segment, turns.base)
    shown.output.recall(await segments.earlier(turns, segment))
    return ServerSent(_encoded(shown, segments.follow(turns, segment)))


async def cancel(here: Gateway, who: Principal, request: Request, name: str) -> Response:
    """Cancel a response's turn, and return the response's state after that.

    Raises:
        NoSuchResponse: there is none, or it is of others.
        TurnOver: its turn has ended.
    """
    turns = TurnClient(here, who, request)
    turn, segment = await _found(turns, name)
    await turns.cancel(turn.turn_id)
    return JSONResponse(await _standing(turns, await turns.turn(turn.turn_id), segment))


async def delete(here: Gateway, who: Principal, request: Request, name: str) -> Response:
    """Refuse. Raises Kept; NoSuchResponse if there is none, or it is of others."""
    await _found(TurnClient(here, who, request), name)
    raise Kept


def wish_of(asked: ResponseRequest) -> Wish:
    """Return what the input says after the last output that it repeats. Raises NothingSaid, NoSuchResponse."""
    place = asked.previous_response_id
    if place is not None and not place.startswith(PREFIX):
        raise NoSuchResponse
    options, segment = asked.session, place.removeprefix(PREFIX) if place is not None else None
    if isinstance(asked.input, str):
        return Wish(asked.input, options=options, segment=segment)
    new = max((n for n, item in enumerate(asked.input, 1) if _is_output(item)), default=0)
    before, said = asked.input[:new], asked.input[new:]
    answers = [item for item in said if isinstance(item, ApprovalResponse)]
    if answers:
        request = answers[-1].approval_request_id.removeprefix(ASKS)
        return Wish("", options=options, question=request, answers=True, answer=answers[-1].answer)
    users = [item for item in said if isinstance(item, InputMessage) and item.role == "user"]
    if not users:
        raise NothingSaid
    text = "\n\n".join(filter(None, (text_of(user.content) for user in users)))
    files = [file for user in users for file in files_of(user.content)]
    earlier = [text_of(item.content) for item in before if isinstance(item, InputMessage)]
    question, segment = (None, segment) if segment is not None else _repeated(before)
    return Wish(text, files, options, question=question, segment=segment, earlier=earlier)


def _is_output(item: InputMessage | ApprovalResponse | OtherItem) -> bool:
    return isinstance(item, OtherItem) or (isinstance(item, InputMessage) and item.role == "assistant")


def _repeated(items: list[InputMessage | ApprovalResponse | OtherItem]) -> tuple[str | None, str | None]:
    """Return the last request for approval, or else the segment of the last answer, that a client without
    `previous_response_id` sends back.
    """
    known = (str(item.id) for item in reversed(items) if not isinstance(item, ApprovalResponse))
    last = next((id for id in known if id.startswith((ANSWER, ASKS))), "")
    return (last.removeprefix(ASKS), None) if last.startswith(ASKS) else (None, last.removeprefix(ANSWER) or None)


async def _found(turns: TurnClient, name: str) -> tuple[TurnShown, Segment]:
    if not name.startswith(PREFIX):
        raise NoSuchResponse
    return await segments.named(turns, name.removeprefix(PREFIX), missing=NoSuchResponse)


async def _standing(turns: TurnClient, turn: TurnShown, segment: Segment) -> Json:
    """Return a response's present state."""
    shown = Shown(segment, turns.base)
    shown.output.recall(await segments.earlier(turns, segment))
    for event in await segments.so_far(turns, turn, segment):
        shown.output.absorb(event)
    later = await turns.events(turn, after=shown.output.view.seq)
    cancelled = turn.state == "cancelled" and not any(event.type in ASKED for event in later)
    return shown.whole("cancelled" if cancelled else None, state=turn.state)


class Shown:
    """A response in the making, as clients see it."""

    def __init__(self, segment: Segment, base: str, asked: ResponseRequest | None = None) -> None:
        self._segment, self._asked = segment, asked
        self.output = Output(segment, base)

    @property
    def session(self) -> str:
        return self._segment.session_id

    def whole(self, status: str | None = None, *, state: str | None = None) -> Json:
        """Return the response object, with the turn's state if it is known to be another than that of its events."""
        asked, state = self._asked, state or self.output.view.state
        return {
            "id": PREFIX + self._segment.name,
            "object": "response",
            "created_at": int(ids.made_at(self._segment.turn_id) or 0),
            "status": status or self.output.status,
            "error": self.output.error,
            "incomplete_details": None,
            "instructions": None,
            "metadata": asked.options.model_dump(mode="json", exclude_unset=True, exclude_none=True)
            if asked is not None
            else {},
            "model": MODEL,
            "output": self.output.items,
            "parallel_tool_calls": False,
            "previous_response_id": asked.previous_response_id if asked is not None else None,
            "temperature": None,
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "background": bool(asked and asked.background),
            "conversation": {"id": self.session},
            "max_output_tokens": None,
            "store": True,
            "text": {"format": {"type": "text"}},
            "truncation": "disabled",
            "usage": self.output.usage,
            "suma": {
                "session_id": self.session,
                "turn_id": self._segment.turn_id,
                "state": state or self.output.view.state,
            },
        }


async def _encoded(shown: Shown, items: Items) -> AsyncGenerator[bytes]:
    sent = 0

    def event(data: Mapping[str, Any]) -> bytes:
        nonlocal sent
        sent += 1
        body = orjson.dumps({**data, "sequence_number": sent - 1}).decode()
        return f"event: {data['type']}\ndata: {body}\n\n".encode()

    for kind in ("response.created", "response.in_progress"):
        yield event({"type": kind, "response": shown.whole("in_progress")})
    try:
        async with aclosing(items):
            async for item in items:
                if isinstance(item, Heartbeat):
                    yield b": heartbeat\n\n"
                for data in shown.output.take(item):
                    yield event(data)
    except SumaError as error:
        about = problems.of(error)
        yield event({"type": "error", "code": about["code"], "message": about["message"], "param": None})
        return
    # OpenAI's API has no event for a cancelled response.
    ended = shown.output.status if shown.output.status in ("completed", "failed") else "incomplete"
    yield event({"type": f"response.{ended}", "response": shown.whole()})
