"""Chat completions: the last user message is the turn; a question is the assistant's text, or a call of a tool that the
client declared for it (decision 0075).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson
from fastapi.responses import JSONResponse
from starlette.requests import Request
from starlette.responses import Response

from libs.errors import SumaError
from libs.events import ApprovalRequested, ClarificationRequested, MessageCompleted, TurnEnded, Usage
from libs.identity import Principal
from services.gateway.multimodal.jobs import linked
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.stream import ServerSent
from services.gateway.sessions.viewer import Heartbeat, TextDelta
from services.gateway.surfaces import questions, segments
from services.gateway.surfaces.calls import Call, NothingDecided, Wish, parsed
from services.gateway.surfaces.context import Gateway
from services.gateway.surfaces.openai import problems
from services.gateway.surfaces.openai.inputs import files_of, text_of
from services.gateway.surfaces.openai.requests import (
    APPROVAL_TOOL,
    CLARIFICATION_TOOL,
    MODEL,
    ChatMessage,
    ChatRequest,
    NothingSaid,
)
from services.gateway.surfaces.openai.retries import attempt
from services.gateway.surfaces.questions import Asked
from services.gateway.surfaces.segments import Json, Segment, Text
from services.gateway.surfaces.turn_view import TurnView, fold
from services.gateway.surfaces.turns import TurnClient

PREFIX, CALL = "chatcmpl-", "call_"


async def create(here: Gateway, who: Principal, request: Request, body: Any) -> Response:
    """Answer a chat completion, at once or as a stream.

    Raises:
        RequestValidationError, SumaError: the request is refused, before its turn begins.
    """
    asked = parsed(ChatRequest, body)
    asked.checked()
    here.streams.check_capacity(who.tenant)
    call = Call(TurnClient(here, who, request), await attempt(here, who, request, body))
    wish, asked = wish_of(asked), asked.model_copy(update={"messages": []})
    # Files of the request are not kept while its turn runs.
    del body
    try:
        begun, note = await call.begin(wish), ""
    except NothingDecided as why:
        begun, note = why.place, f"{why}{segments.AGAIN}"
    completion = Completion(begun, int(here.platform.clock.now().timestamp()), call.turns.base, asked.asks_by, note)
    completion.recall(await segments.earlier(call.turns, begun))
    del wish
    items, left = segments.follow(call.turns, begun), partial(call.leave, begun, asked.options)
    if asked.stream:
        usage = bool(asked.stream_options and asked.stream_options.include_usage)
        return ServerSent(_encoded(completion, items, usage=usage), left=left)
    # The turn may take long: a waiting call counts as a stream, not as a running request.
    request.state.release()
    async with aclosing(items):
        async for item in items:
            if await segments.left(request, item):
                await left()
                break
            for _ in completion.take(item):
                pass
    return JSONResponse(completion.whole())


def wish_of(asked: ChatRequest) -> Wish:
    """Return what the messages after the assistant's last one say. Raises NothingSaid."""
    new = max((n for n, message in enumerate(asked.messages, 1) if message.role == "assistant"), default=0)
    before, said = asked.messages[:new], asked.messages[new:]
    results = [message for message in said if message.role == "tool"]
    if results:
        return _result(results[-1], asked)
    users = [message for message in said if message.role == "user"]
    if not users:
        raise NothingSaid
    earlier = list(_earlier(before))
    text = "\n\n".join(filter(None, (text_of(user.content) for user in users)))
    files = [file for user in users for file in files_of(user.content)]
    named = questions.reference("".join(earlier[-1:])) or ""
    return Wish(text, files, asked.options, question=named if "_" in named else None, earlier=earlier)


def _earlier(messages: Sequence[ChatMessage]) -> Iterator[str]:
    """Yield the texts of a conversation. A tool's result yields the name of the question that it answers."""
    for message in messages:
        if message.role in ("user", "assistant"):
            yield text_of(message.content)
        elif (call := str(message.tool_call_id)).startswith(CALL):
            yield questions.mark(call.removeprefix(CALL))


def _result(message: ChatMessage, asked: ChatRequest) -> Wish:
    called = str(message.tool_call_id)
    if not called.startswith(CALL):
        raise segments.NoSuchQuestion
    text = text_of(message.content)
    return Wish(text, options=asked.options, question=called.removeprefix(CALL), answers=True)


@dataclass
class Completion:
    """A completion in the making."""

    segment: Segment
    created: int
    base: str
    """Our address."""
    asks_by: frozenset[str] = frozenset()
    note: str = ""
    """Text that comes first."""
    text: Text = field(default_factory=Text)
    call: Json | None = None
    view: TurnView = field(default_factory=TurnView)

    def recall(self, earlier: Sequence[Numbered]) -> None:
        """Take what the turn made before: the answer links to it."""
        self.view = replace(self.view, made=TurnView.of(earlier).made)

    def take(self, item: Numbered | TextDelta | Heartbeat) -> Iterator[Json]:
        """Take what happened; yield the deltas to send."""
        if isinstance(item, Numbered):
            self.view = fold(self.view, item)
        match item:
            case TextDelta():
                yield from self._say(self.text.piece(item))
            case Numbered(event=MessageCompleted(text=text)):
                # With links the text is not that of the kept answer any more, so its turn is named.
                mark = questions.mark(self.segment.turn_id)
                yield from self._say(self.text.rest(linked(text, self.view.made.values(), self.base, mark=mark)))
            case Numbered(event=TurnEnded() as ended) if ended.state != "completed":
                # No answer is kept by which the chat would be found again.
                yield from self._add(segments.end_text(ended), self.segment.turn_id)
            case Numbered(event=ApprovalRequested() | ClarificationRequested() as asked):
                yield from self._ask(item, asked)

    def _ask(self, item: Numbered, asked: Asked) -> Iterator[Json]:
        """Ask a question, by the tool that the client declared for it or in words."""
        tool = APPROVAL_TOOL if isinstance(asked, ApprovalRequested) else CLARIFICATION_TOOL
        if tool not in self.asks_by:
            yield from self._add(questions.text_of(asked), questions.name_of(item))
            return
        function = {"name": tool, "arguments": orjson.dumps(item.data).decode()}
        self.call = {"id": CALL + questions.name_of(item), "type": "function", "function": function}
        yield {"tool_calls": [{"index": 0, **self.call}]}

    def whole(self) -> Json:
        """Return the completion as one object."""
        said = self.note + self.text.sent if self.call is None else None
        message: Json = {"role": "assistant", "content": said, "refusal": None}
        if self.call is not None:
            message["tool_calls"] = [self.call]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self.finish}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self.tokens, "suma": self.about}

    def chunk(self, delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def last(self, *, usage: bool) -> Iterator[Json]:
        """Yield the chunks after the last delta."""
        yield {**self.chunk({}, self.finish), "suma": self.about}
        if usage:
            yield {**self._head("chat.completion.chunk"), "choices": [], "usage": self.tokens}

    @property
    def finish(self) -> str:
        return "tool_calls" if self.call is not None else "stop"

    @property
    def about(self) -> Json:
        """Fields that OpenAI's API has no member for."""
        return {"session_id": self.segment.session_id, "turn_id": self.segment.turn_id, "state": self.view.state}

    @property
    def tokens(self) -> Json:
        used = self.view.usage or Usage()
        sent, made = used.input_tokens, used.output_tokens
        return {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made}

    def _head(self, object: str) -> Json:
        return {"id": PREFIX + self.segment.name, "object": object, "created": self.created, "model": MODEL}

    def _add(self, text: str, name: str) -> Iterator[Json]:
        """Add a text that names a question or a turn at its end, which the client sends back with its history."""
        apart = segments.AGAIN if self.text.sent else ""
        return self._say(self.text.rest(f"{self.text.sent}{apart}{text}\n\n{questions.mark(name)}"))

    def _say(self, text: str) -> Iterator[Json]:
        if text:
            yield {"content": text}


async def _encoded(
    completion: Completion, items: AsyncGenerator[Numbered | TextDelta | Heartbeat], *, usage: bool
) -> AsyncGenerator[bytes]:
    yield _event({**completion.chunk({"role": "assistant", "content": completion.note}), "suma": completion.about})
    try:
        async with aclosing(items):
            async for item in items:
                if isinstance(item, Heartbeat):
                    yield b": heartbeat\n\n"
                for delta in completion.take(item):
                    yield _event(completion.chunk(delta))
                if isinstance(item, Numbered) and item.type == "step.changed":
                    yield _event({**completion.chunk({}), "suma": {"event": item.type, "data": item.data}})
    except SumaError as error:
        yield _event({"error": problems.of(error)})
        return
    for chunk in completion.last(usage=usage):
        yield _event(chunk)
    yield b"data: [DONE]\n\n"


def _event(data: Mapping[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(data) + b"\n\n"
