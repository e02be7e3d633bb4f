"""One call of a model with all its bounds: in time, in size, in tokens; counted, and closed when nobody listens.

Everything is streamed, also what is read as a whole: so a model that hangs is told from one that thinks, and a call
that is given up closes its connection at once.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import httpx2
from pydantic_ai import exceptions as theirs
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from libs.errors import SumaError
from libs.events.values import Usage
from libs.models.vendors import errors
from libs.models.vendors.opening import Bounds, Opened
from libs.models.vendors.prices import Till
from libs.models.vendors.prompts import VERSION
from libs.outbound import Door
from libs.telemetry import metrics
from libs.telemetry.traces import span

Voice = Literal["person", "model"]
BROKEN = (
    theirs.AgentRunError,
    theirs.UserError,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    OSError,
    # What the vendors' libraries meet in chunks that are not of the shape they expect.
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
)
_END: Any = object()


@dataclass(frozen=True, slots=True)
class Form:
    """The JSON that is asked for."""

    name: str
    about: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """What the model is told. With a `form` it shall answer in that; else in words."""

    verb: str
    system: str
    turns: tuple[tuple[Voice, str], ...]
    form: Form | None = None

    def followed(self, said: str, reply: str) -> Ask:
        """The same talk, one exchange later."""
        return replace(self, turns=(*self.turns, ("model", said or "(nothing)"), ("person", reply)))

    @property
    def letters(self) -> int:
        return len(self.system) + sum(len(text) for _, text in self.turns)


@dataclass(frozen=True, slots=True)
class Piece:
    """Words as they come; the last piece has what it all cost, and whether the model was cut off."""

    text: str
    usage: Usage = field(default_factory=Usage)
    last: bool = False
    cut: bool = False


class Line:
    """To one model, through the door of this process."""

    def __init__(self, opened: Opened, door: Door, till: Till) -> None:
        self._opened, self._bounds, self._output = opened, opened.bounds, opened.choice.output
        self.door, self.till, self.name = door, till, opened.choice.name

    async def whole(self, ask: Ask) -> Piece:
        """All that the model says, tried again where that is safe and may help. Each wait is bounded by `_Clock`."""
        return await self.door.repeat(lambda: self._gathered(ask), seconds=math.inf)

    async def stream(self, ask: Ask) -> AsyncGenerator[Piece]:
        """Words as they come. Never tried again here: what was said would be said twice."""
        async with self.door.passing(math.inf), aclosing(self._counted(ask)) as pieces:
            async for piece in pieces:
                yield piece

    async def status(self) -> int:
        """What a question is answered with that costs nothing. Raises `Unavailable`."""
        try:
            async with asyncio.timeout(self._bounds.connect):
                return await self._opened.listed()
        except BROKEN as error:
            raise errors.of(error, self.name) from None

    async def _gathered(self, ask: Ask) -> Piece:
        text: list[str] = []
        async with aclosing(self._counted(ask)) as pieces:
            async for piece in pieces:
                text.append(piece.text)
                if piece.last:
                    return replace(piece, text="".join(text))
        raise errors.ModelBroke(f"{self.name} broke off")

    async def _counted(self, ask: Ask) -> AsyncGenerator[Piece]:
        began, result = time.monotonic(), "closed"
        about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.name, "suma.model.prompts": VERSION}
        try:
            with span(f"model {ask.verb}", attributes=about) as here:
                async with aclosing(self._pieces(ask)) as pieces:
                    async for piece in pieces:
                        if piece.last:
                            result = "cut" if piece.cut else "ok"
                            here.set_attribute("gen_ai.usage.input_tokens", piece.usage.input_tokens)
                            here.set_attribute("gen_ai.usage.output_tokens", piece.usage.output_tokens)
                            _spent(piece.usage)
                        yield piece
        except SumaError as error:
            result = error.code.lower()
            raise
        finally:
            metrics.model_calls.labels(self.name, ask.verb, result).inc()
            metrics.model_seconds.labels(self.name, ask.verb).observe(time.monotonic() - began)

    async def _pieces(self, ask: Ask) -> AsyncGenerator[Piece]:
        heard, clock = 0, _Clock(self._bounds, self.name)
        asked = model_request_stream(
            self._opened.model,
            _messages(ask),
            model_settings=self._settings(),
            model_request_parameters=self._parameters(ask),
        )
        try:
            async with AsyncExitStack() as stack:
                async with clock.next():
                    stream = await stack.enter_async_context(asked)
                events = aiter(stream)
                while True:
                    async with clock.next():
                        event = await anext(events, _END)
                    if event is _END:
                        break
                    clock.spoke()
                    if (text := _text(event)) and ask.form is None:
                        heard += len(text)
                        yield Piece(text)
                response = stream.get()
        except BROKEN as error:
            raise errors.of(error, self.name) from None
        yield self._last(ask, response, heard)

    def _last(self, ask: Ask, response: ModelResponse, heard: int) -> Piece:
        if response.finish_reason == "content_filter":
            raise errors.ModelRefused(f"{self.name} declined to answer this")
        text = "" if ask.form is None else _formed(response)
        usage = self.till.usage(response, sent=ask.letters, heard=max(heard, len(text)))
        return Piece(text, usage, last=True, cut=response.finish_reason == "length")

    def _settings(self) -> ModelSettings:
        timeout = httpx2.Timeout(self._bounds.whole, connect=self._bounds.connect, pool=self._bounds.connect)
        # Declared for httpx; its successor, which the vendors' clients speak through, has a class of its own.
        return ModelSettings(max_tokens=self._bounds.output_tokens, max_retries=0, timeout=cast("Any", timeout))

    def _parameters(self, ask: Ask) -> ModelRequestParameters:
        form = ask.form
        if form is None or self._output == "text":
            return ModelRequestParameters()
        schema = dict(form.schema)
        if self._output == "schema":
            asked = OutputObjectDefinition(schema, name=form.name, description=form.about, strict=False)
            return ModelRequestParameters(output_mode="native", output_object=asked)
        tool = ToolDefinition(
            name=form.name, description=form.about, parameters_json_schema=schema, strict=False, kind="output"
        )
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


class _Clock:
    """How long the next word may take."""

    def __init__(self, bounds: Bounds, name: str) -> None:
        self._bounds, self._name = bounds, name
        self._began = time.monotonic()
        self._spoken = False

    def spoke(self) -> None:
        self._spoken = True

    @asynccontextmanager
    async def next(self) -> AsyncIterator[None]:
        """Never around a `yield` of the stream's own: who listens may take their time."""
        passed = time.monotonic() - self._began
        limit = self._bounds.pause if self._spoken else max(0.0, self._bounds.first - passed)
        try:
            async with asyncio.timeout(min(limit, self._bounds.whole - passed)):
                yield
        except TimeoutError:
            raise errors.ModelTimedOut(f"{self._name} {self._late()}") from None

    def _late(self) -> str:
        if time.monotonic() - self._began >= self._bounds.whole:
            return f"did not finish within {self._bounds.whole:g} s"
        if self._spoken:
            return f"fell silent for {self._bounds.pause:g} s"
        return f"said nothing within {self._bounds.first:g} s"


def _spent(usage: Usage) -> None:
    metrics.model_tokens.labels(usage.model, "input").inc(usage.input_tokens)
    metrics.model_tokens.labels(usage.model, "output").inc(usage.output_tokens)
    metrics.model_cost.labels(usage.model).inc(usage.cost_micros / 1_000_000)


def _messages(ask: Ask) -> list[ModelMessage]:
    first, *rest = ask.turns
    found: list[ModelMessage] = [ModelRequest([SystemPromptPart(ask.system), UserPromptPart(first[1])])]
    for voice, text in rest:
        found.append(ModelResponse([TextPart(text)]) if voice == "model" else ModelRequest([UserPromptPart(text)]))
    return found


def _text(event: object) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _formed(response: ModelResponse) -> str:
    """The JSON that came: as the call of a tool, or as text for those that take no tools."""
    calls = [part.args for part in response.parts if isinstance(part, ToolCallPart)]
    if calls:
        # As it was said: what is broken is to be seen by whoever reads it.
        return calls[0] if isinstance(calls[0], str) else json.dumps(calls[0], ensure_ascii=False)
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))
