"""Runs: what a run's input begins, continues or answers, and its stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, cast

from ag_ui.core import ResumeEntry, RunAgentInput, RunErrorEvent, UserMessage
from ag_ui.encoder import EventEncoder
from pydantic import GetCoreSchemaHandler, field_validator
from pydantic_core import CoreSchema
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import override

from libs import ids
from libs.errors import Rejected, SumaError
from libs.identity import Principal
from services.gateway.http.commands import IDEMPOTENCY_SECONDS
from services.gateway.http.values import digest, failing_fast
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.stream import ServerSent
from services.gateway.sessions.viewer import Heartbeat, TextDelta
from services.gateway.surfaces import segments
from services.gateway.surfaces.agui.events import Run
from services.gateway.surfaces.calls import Attempt, Call, NothingDecided, Options, Wish, parsed
from services.gateway.surfaces.context import Gateway
from services.gateway.surfaces.files import Given
from services.gateway.surfaces.segments import Segment
from services.gateway.surfaces.turns import TurnClient

Items = AsyncGenerator[Numbered | TextDelta | Heartbeat]
BINARY = {"data": "data", "id": "file", "url": "url"}


class NothingSaid(Rejected):
    """The last message must be from the user, unless the run resumes another; add one."""

    code = "NOTHING_SAID"


class OneAtATime(Rejected):
    """A run of Suma has one interrupt; resume with one entry."""

    code = "ONE_INTERRUPT"


async def run(here: Gateway, who: Principal, request: Request, body: Any) -> Response:
    """Begin a run, and stream its events. A run with a known id is the earlier one, from its start.

    Raises:
        RequestValidationError, SumaError: the input is refused, before its turn begins.
    """
    given = parsed(RunInput, body)
    here.streams.check_capacity(who.tenant)
    turns = TurnClient(here, who, request)
    call = Call(turns, await _attempt(here, who, given))
    made = Run(given.thread_id, given.run_id, turns.base, versioned=given.protocol_version is not None)
    try:
        begun = await _begin(call, who, given)
    except NothingDecided as why:
        begun = why.place
    items = segments.follow(turns, begun)
    made.begin(begun, await segments.earlier(turns, begun), given.messages)
    # Files of the input are not kept while its turn runs.
    del body, given
    return ServerSent(_encoded(made, items))


class RunInput(RunAgentInput):
    """The input of a run, whose first wrong item refuses it."""

    @classmethod
    @override
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return cast("CoreSchema", failing_fast(handler(source)))

    @field_validator("messages", mode="before")
    @classmethod
    def _of_0(cls, messages: Any) -> Any:
        """Read parts as clients before 1.0 send them: a binary one names its bytes, a file's id or an address."""
        for message in messages if isinstance(messages, list) else ():
            content = message.get("content") if isinstance(message, dict) else None
            if isinstance(content, list):
                message["content"] = [_part(part) for part in content]
        return messages


def _part(part: Any) -> Any:
    if not isinstance(part, dict) or part.get("type") != "binary":
        return part
    name = next((name for name in BINARY if part.get(name)), "data")
    source = {"type": BINARY[name], "value": part.get(name), "mimeType": part.get("mimeType")}
    return {"type": "document", "source": source, "metadata": {"filename": part.get("filename")}}


async def _attempt(here: Gateway, who: Principal, given: RunAgentInput) -> Attempt:
    key = f"agui:{digest(given.thread_id, given.run_id)}"
    keep = IDEMPOTENCY_SECONDS
    found = await here.receipts.find(who.tenant, who.id, key, keep=keep)
    return Attempt.after(found) if found is not None else Attempt(key)


async def _begin(call: Call, who: Principal, given: RunAgentInput) -> Segment:
    if given.resume:
        if len(given.resume) > 1:
            raise OneAtATime
        return await _resume(call, given.resume[0])
    if call.attempt.begun is not None:
        return call.attempt.begun
    last = given.messages[-1] if given.messages else None
    if not isinstance(last, UserMessage):
        raise NothingSaid
    options = parsed(Options, given.forwarded_props if isinstance(given.forwarded_props, dict) else {})
    session, opens = await _session(call.turns, who, given.thread_id)
    return await call.begin(Wish(_text(last), list(_files(last)), options.within(session), opens=opens))


async def _session(turns: TurnClient, who: Principal, thread: str) -> tuple[str | None, str | None]:
    """Return the session of a thread: one that the caller sees by this id, else one of its own, to open if need be."""
    own = ids.derived("agui", who.tenant, who.id, thread)
    for name in (thread, own):
        if await turns.sees(name):
            return name, None
    return None, own


async def _resume(call: Call, entry: ResumeEntry) -> Segment:
    """Answer an interrupt, or cancel its turn if the client abandons it."""
    if entry.status == "cancelled" and call.attempt.begun is None:
        asked = str((await segments.question(call.turns, entry.interrupt_id)).turn_id)
        # A turn that has ended meanwhile needs no cancel, which would be refused.
        if (await call.turns.turn(asked)).ended_at is None:
            await call.turns.cancel(asked, reason="abandoned", key=call.attempt.key)
        return await segments.outcome(call.turns, asked)
    text, answer = _payload(entry.payload)
    return await call.begin(Wish(text, question=entry.interrupt_id, answers=True, answer=answer))


def _payload(given: Any) -> tuple[str, dict[str, object] | None]:
    """Return an interrupt's answer as words, or as an object."""
    match given:
        case bool():
            return "", {"approve": given}
        case {"text": str(text)} | str(text):
            return text, None
        case Mapping():
            return "", dict(given)
        case _:
            return "", None


def _text(message: UserMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part.text for part in message.content if part.type == "text")


def _files(message: UserMessage) -> Iterator[Given]:
    parts: Sequence[Any] = message.content if isinstance(message.content, list) else ()
    for part in parts:
        if part.type == "text":
            continue
        match part.source.type:
            case "data":
                yield Given(None, f"data:{part.source.mime_type};base64,{part.source.value}", _filename(part.metadata))
            case "file":
                yield Given(part.source.value, None, None)
            case _:
                yield Given(None, part.source.value, None)


def _filename(metadata: Any) -> str | None:
    name = metadata.get("filename") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else None


async def _encoded(run: Run, items: Items) -> AsyncGenerator[bytes]:
    encoder = EventEncoder()
    for event in run.started():
        yield encoder.encode(event).encode()
    try:
        async with aclosing(items):
            async for item in items:
                if isinstance(item, Heartbeat):
                    yield b": heartbeat\n\n"
                for event in run.take(item):
                    yield encoder.encode(event).encode()
    except SumaError as error:
        yield encoder.encode(RunErrorEvent(message=str(error), code=error.code)).encode()
