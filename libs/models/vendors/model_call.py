"""One model call within its limits of time, size and tokens: paid for, counted, and closed when its reader stops.

Every call is streamed, even where the caller needs the whole. So a model that hangs differs from one that thinks, and
an abandoned call closes its connection at once.

The most that a call may use is reserved before anything is sent, and settled once the actual usage is known. A call
that was abandoned, interrupted or not answered may have been billed, so its reservation stays; of one that failed, the
turn's share is freed for the retries.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import httpx2
from pydantic_ai import exceptions as theirs
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    BinaryContent,
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

from libs.budgets import Amount, Budgets
from libs.budgets.paying import Charge, billed
from libs.errors import SumaError
from libs.events.values import Usage
from libs.models.vendors import errors
from libs.models.vendors.client import Bounds, Opened
from libs.models.vendors.pictures import Pictures
from libs.models.vendors.pricing import Pricing
from libs.models.vendors.prompts import VERSION
from libs.models.vendors.reasoning import Spoken
from libs.resilience import CircuitOpen, GuardedCall
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
    # Raised by the vendors' libraries on chunks of an unexpected form.
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
)
_END: Any = object()
BLIND = (
    "You see no pictures: of those that are attached you know the names alone. If the request is about what they show, "
    "say so; a model that sees is set by SUMA_MODEL."
)
SEPARATE = ("openai", "anthropic")
"""Vendors that never send reasoning as text."""
FRAME_TOKENS, TOOLS_TOKENS = 16, 1024
"""Tokens that a vendor adds: around each message, and to explain tool calls to its model."""


@dataclass(frozen=True, slots=True)
class Form:
    """The JSON form that an answer must have."""

    name: str
    about: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """The input of one call. With a `form` the model answers in that form; otherwise in plain text."""

    verb: str
    system: str
    turns: tuple[tuple[Voice, str], ...]
    form: Form | None = None
    pictures: Pictures = field(default_factory=Pictures)

    def followed(self, said: str, reply: str) -> Ask:
        """Return the same conversation with one more exchange."""
        return replace(self, turns=(*self.turns, ("model", said or "(nothing)"), ("person", reply)))

    @property
    def letters(self) -> int:
        return len(self.system) + sum(len(text) for _, text in self.turns)

    @property
    def tokens_most(self) -> int:
        """An upper limit on the tokens of the input: a token covers at least one byte. Mostly it covers four, but a
        call that exceeded its reservation could no longer be refused. The form counts twice, because a vendor may
        repeat it in its own notation.
        """
        said = [self.system, *(text for _, text in self.turns)]
        if self.form is not None:
            said += [self.form.name, self.form.about, json.dumps(self.form.schema)] * 2
        words = sum(len(text.encode(errors="surrogatepass")) + FRAME_TOKENS for text in said)
        return words + TOOLS_TOKENS + self.pictures.tokens_most


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of streamed text. The last piece carries the usage, and whether the answer was cut off."""

    text: str
    usage: Usage = field(default_factory=Usage)
    last: bool = False
    cut: bool = False
    declined: bool = False


class ModelCall:
    """Calls one model through the process's guard for it. Without `budgets` no account is charged."""

    def __init__(self, opened: Opened, guard: GuardedCall, pricing: Pricing, *, budgets: Budgets | None) -> None:
        self._opened, self._bounds, self._output = opened, opened.bounds, opened.choice.output
        self.guard, self.pricing, self.name, self._budgets = guard, pricing, opened.choice.name, budgets
        self.url = opened.choice.url
        self._bare: bool | None = False if opened.choice.provider.name in SEPARATE else None
        """Whether replies begin with reasoning that has no opening tag; None while unknown."""

    async def whole(self, ask: Ask) -> Piece:
        """Return the whole answer; retry where that is safe and may help. `_Clock` limits each wait."""
        async for attempt in self.guard.tries():
            with attempt:
                return await self._gathered(ask)
        raise AssertionError("the last attempt returns or raises")

    async def stream(self, ask: Ask) -> AsyncGenerator[Piece]:
        """Yield the answer in pieces. It is never retried here: pieces that were passed on would be repeated.

        Raises:
            OverBudget, NoPayer: no account can pay for the call, and nothing was sent.
        """
        bill = await self._bill(ask)
        try:
            async with self.guard.call_scope(math.inf), aclosing(self._counted(ask, bill)) as pieces:
                async for piece in pieces:
                    yield piece
        except CircuitOpen as shut:
            await bill.cancel()
            raise CircuitOpen(f"the model server of {self.name} ({self.url})", shut.retry_after, shut.last) from None

    def worst(self, ask: Ask) -> Amount:
        """Return the most that a call may use."""
        return self.pricing.worst(ask.tokens_most, self._bounds.output_tokens)

    async def _bill(self, ask: Ask) -> Charge:
        return await billed(self._budgets, self.worst(ask), about=self.name)

    async def status(self) -> int:
        """Return the HTTP status of a request that is free. Raises `Unavailable`."""
        try:
            async with asyncio.timeout(self._bounds.connect):
                return await self._opened.listed()
        except BROKEN as error:
            raise errors.of(error, self.name) from None

    async def _gathered(self, ask: Ask) -> Piece:
        text: list[str] = []
        async with aclosing(self.stream(ask)) as pieces:
            # Exhaust the stream even after the last piece; otherwise the guard would count the call as abandoned.
            async for piece in pieces:
                text.append(piece.text)
        return replace(piece, text="".join(text))

    async def _counted(self, ask: Ask, bill: Charge) -> AsyncGenerator[Piece]:
        began, result = time.monotonic(), "closed"
        about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.name, "suma.model.prompts": VERSION}
        try:
            with span(f"model {ask.verb}", attributes=about) as here:
                async with aclosing(self._pieces(ask, bill)) as pieces:
                    async for piece in pieces:
                        if piece.last:
                            result = "cut" if piece.cut else "ok"
                            here.set_attribute("gen_ai.usage.input_tokens", piece.usage.input_tokens)
                            here.set_attribute("gen_ai.usage.output_tokens", piece.usage.output_tokens)
                            _spent(piece.usage)
                            # Before the piece is passed on: its reader may stop at it, and a refusal is billed too.
                            await bill.settle(_amount(piece.usage))
                        if piece.declined:
                            raise errors.ModelRefused(f"{self.name} declined to answer this")
                        yield piece
        except SumaError as error:
            result = error.code.lower()
            raise
        finally:
            metrics.model_calls.labels(self.name, ask.verb, result).inc()
            metrics.model_seconds.labels(self.name, ask.verb).observe(time.monotonic() - began)

    async def _pieces(self, ask: Ask, bill: Charge) -> AsyncGenerator[Piece]:
        received, clock = 0, _Clock(self._bounds, self.name)
        spoken = Spoken(bare=self._bare is not False, form=ask.form is not None)
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
                    clock.has_output = True
                    if (text := _text(event)) and ask.form is None:
                        received += len(text)
                        # Also an empty one: it shows that the server streams.
                        yield Piece(spoken.piece(text))
                response = stream.get()
        except (*BROKEN, SumaError) as error:
            # Once output has arrived its tokens count, whatever the vendor's status says.
            if not clock.has_output and errors.unpaid(error):
                await bill.cancel()
            else:
                await bill.free_turn()
            raise errors.of(error, self.name) from None
        yield self._last(ask, response, received, spoken)

    def _last(self, ask: Ask, response: ModelResponse, received: int, spoken: Spoken) -> Piece:
        text = spoken.rest() if ask.form is None else _formed(response, spoken)
        if spoken.was_bare:
            self._bare = True
        elif self._bare is None and (ask.form is None or self._output == "text"):
            # Where JSON is enforced, a model that reasons elsewhere may not.
            self._bare = False
        usage = self.pricing.usage(response, sent=ask.letters, received=max(received, len(text)))
        why = response.finish_reason
        return Piece(text, usage, last=True, cut=why == "length", declined=why == "content_filter")

    def _settings(self) -> ModelSettings:
        timeout = httpx2.Timeout(self._bounds.whole, connect=self._bounds.connect, pool=self._bounds.connect)
        # Declared for httpx; its successor, which the vendors' clients use, has a class of its own.
        # No retries of the library: each try must be reserved and counted, which the guard's are.
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
    """Limits the wait for the next piece of output."""

    def __init__(self, bounds: Bounds, name: str) -> None:
        self._bounds, self._name = bounds, name
        self._began = time.monotonic()
        self.has_output = False

    @asynccontextmanager
    async def next(self) -> AsyncIterator[None]:
        """Limit one wait. Never wrap a `yield` of the stream in it: the reader may take its time."""
        passed = time.monotonic() - self._began
        limit = self._bounds.pause if self.has_output else max(0.0, self._bounds.first - passed)
        try:
            async with asyncio.timeout(min(limit, self._bounds.whole - passed)):
                yield
        except TimeoutError:
            raise errors.ModelTimedOut(f"{self._name} {self._late()}") from None

    def _late(self) -> str:
        if time.monotonic() - self._began >= self._bounds.whole:
            return f"did not finish within {self._bounds.whole:g} s"
        if self.has_output:
            return f"sent nothing for {self._bounds.pause:g} s"
        return f"sent nothing within {self._bounds.first:g} s"


def _amount(usage: Usage) -> Amount:
    return Amount(usage.input_tokens + usage.output_tokens, usage.cost_micros)


def _spent(usage: Usage) -> None:
    metrics.model_tokens.labels(usage.model, "input").inc(usage.input_tokens)
    metrics.model_tokens.labels(usage.model, "output").inc(usage.output_tokens)
    metrics.model_cost.labels(usage.model).inc(usage.cost_micros / 1_000_000)


def _messages(ask: Ask) -> list[ModelMessage]:
    first, *rest = ask.turns
    shown = [first[1], *_shown(ask.pictures)]
    found: list[ModelMessage] = [
        ModelRequest([SystemPromptPart(ask.system), UserPromptPart(shown if len(shown) > 1 else first[1])])
    ]
    for voice, text in rest:
        found.append(ModelResponse([TextPart(text)]) if voice == "model" else ModelRequest([UserPromptPart(text)]))
    return found


def _shown(pictures: Pictures) -> Iterator[str | BinaryContent]:
    """Yield each picture after its place in the data: its name is a text of others, and stays there."""
    for place, content in pictures.loaded:
        yield f"The picture of {place}:"
        yield BinaryContent(content, media_type="image/jpeg")
    if pictures.left_out:
        yield f"The pictures of these are left out, or they are none: {', '.join(pictures.left_out)}."
    if pictures.blind:
        yield BLIND


def _text(event: object) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _formed(response: ModelResponse, spoken: Spoken) -> str:
    """Return the answer's JSON: from a tool call, or from text where the model calls no tools."""
    calls = [part.args for part in response.parts if isinstance(part, ToolCallPart)]
    if calls:
        # Unchanged: the parser reports invalid JSON.
        return calls[0] if isinstance(calls[0], str) else json.dumps(calls[0], ensure_ascii=False)
    return spoken.piece("".join(part.content for part in response.parts if isinstance(part, TextPart))) + spoken.rest()
