"""A vendor of models, over real HTTP: it speaks OpenAI's chat completions and Anthropic's messages, streams as they do,
and fails by script in every way that a vendor, a proxy or a network fails.

Each request takes the next turn of the script; `asked` keeps what came, and `left` counts connections that were closed
by the other side before the answer was over.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from typing_extensions import override

KEY = "sk-test-4f9d2c7b81aa"


@dataclass(frozen=True)
class Turn:
    """One answer. `chunks` are its words; the faults come after so many of them."""

    chunks: Sequence[str] = ()
    call: Any = None
    """As the call of a tool with these args; a string goes out as it is."""
    finish: str = "stop"
    usage: tuple[int, int] | None = (100, 20)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: str = "it went wrong"
    kind: str = "text/event-stream"
    raw: bytes | None = None
    """Instead of all that: these bytes."""
    bytewise: bool = False
    """The body goes out byte by byte, letters torn apart."""
    pause: float = 0.0
    """Seconds before each chunk."""
    hangs: bool = False
    """Says nothing more once its chunks are out."""
    breaks: bool = False
    """Is cut off there instead."""
    held: asyncio.Event | None = None
    """Waits for this with half of what it sends."""


def said(*chunks: str, **fields: Any) -> Turn:
    return Turn(chunks, **fields)


def called(args: Any, **fields: Any) -> Turn:
    return Turn(call=args, finish="tool_calls", **fields)


def planned(*steps: tuple[str, dict[str, Any]], **fields: Any) -> Turn:
    """A plan, as the call of a tool."""
    wanted = [{"tool": tool, "args": args, "description": f"{tool} it"} for tool, args in steps]
    return called({"kind": "plan", "reasoning": "because", "steps": wanted, **fields})


def refused(status: int, error: str = "it went wrong", **headers: str) -> Turn:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Turn(status=status, error=error, headers=named)


APPROVED = called({"approved": True, "reason": "it fits", "step": None})


@dataclass
class Asked:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def form(self) -> str:
        """Which form it wants: the name of the tool or of the schema; empty for words."""
        tools = self.body.get("tools") or [{}]
        schema = (self.body.get("response_format") or {}).get("json_schema") or {}
        return str(tools[0].get("name") or tools[0].get("function", {}).get("name") or schema.get("name") or "")


Script = Callable[[Asked], Turn]


@dataclass
class Vendor:
    """A running one. `turns` are played in order; a request that finds none gets a 500."""

    turns: list[Turn] = field(default_factory=list)
    script: Script | None = None
    """Decides instead of `turns`, by what is asked."""
    asked: list[Asked] = field(default_factory=list)
    listed: int = 200
    """The status with which it answers for its list of models."""
    list_kind: str | None = "application/json"
    """Without one that list names no content type."""
    left: int = 0
    went: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when someone left."""
    came: asyncio.Event = field(default_factory=asyncio.Event)
    """Set with each request."""
    url: str = ""
    stop: Callable[[], Awaitable[None]] = field(init=False, repr=False)
    """Leaves the port to nobody."""

    def play(self, *turns: Turn) -> Vendor:
        self.turns.extend(turns)
        return self

    async def gone(self, seconds: float = 60) -> None:
        """Until someone has left."""
        async with asyncio.timeout(seconds):
            await self.went.wait()

    async def heard(self, requests: int, seconds: float = 60) -> None:
        """Until so many requests have come."""
        async with asyncio.timeout(seconds):
            while len(self.asked) < requests:
                self.came.clear()
                await self.came.wait()

    async def _answer(self, request: Request, frames: Callable[[Turn], list[str]]) -> Response:
        about = Asked(request.url.path, dict(request.headers), await request.json())
        self.asked.append(about)
        self.came.set()
        turn = self.script(about) if self.script else self._next()
        if turn.status >= 400:
            body = {"error": {"message": turn.error, "type": "error", "code": None}}
            return JSONResponse(body, turn.status, dict(turn.headers))
        if turn.raw is not None:
            return Response(turn.raw, turn.status, dict(turn.headers), turn.kind)
        return StreamingResponse(self._stream(turn, frames(turn)), turn.status, dict(turn.headers), turn.kind)

    def _next(self) -> Turn:
        return self.turns.pop(0) if self.turns else refused(500, "the script is over")

    async def _stream(self, turn: Turn, frames: list[str]) -> AsyncIterator[bytes]:
        whole = False
        try:
            for number, frame in enumerate(frames):
                if turn.held is not None and number == len(frames) // 2:
                    await turn.held.wait()
                if turn.pause:
                    await asyncio.sleep(turn.pause)
                body = frame.encode()
                for piece in [body[n : n + 1] for n in range(len(body))] if turn.bytewise else [body]:
                    yield piece
            if turn.hangs:
                await asyncio.Event().wait()
            if turn.breaks:
                raise ConnectionResetError
            whole = True
        finally:
            if not whole:
                self.left += 1
                self.went.set()

    async def openai(self, request: Request) -> Response:
        return await self._answer(request, _openai)

    async def anthropic(self, request: Request) -> Response:
        return await self._answer(request, _anthropic)

    async def models(self, request: Request) -> Response:
        answer = JSONResponse({"object": "list", "data": [{"id": "toy", "object": "model"}]}, self.listed)
        if self.list_kind is None:
            del answer.headers["content-type"]
        return answer

    async def astray(self, request: Request) -> Response:
        """Answer beside the API as LM Studio does."""
        return JSONResponse({"error": f"Unexpected endpoint or method. (GET {request.url.path})"})

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.openai, methods=["POST"]),
                Route("/v1/messages", self.anthropic, methods=["POST"]),
                Route("/v1/models", self.models),
                Route("/models", self.astray),
            ]
        )


def _event(data: object, name: str | None = None) -> str:
    named = f"event: {name}\n" if name else ""
    return f"{named}data: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}\n\n"


def _openai(turn: Turn) -> list[str]:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "toy"}

    def delta(found: dict[str, Any], finish: str | None = None) -> str:
        return _event({**head, "choices": [{"index": 0, "delta": found, "finish_reason": finish}]})

    frames = [delta({"role": "assistant", "content": ""})]
    frames += [delta({"content": chunk}) for chunk in turn.chunks]
    if turn.call is not None:
        args = turn.call if isinstance(turn.call, str) else json.dumps(turn.call, ensure_ascii=False)
        half = len(args) // 2
        call = {"index": 0, "id": "t1", "type": "function", "function": {"name": "form", "arguments": args[:half]}}
        frames += [delta({"tool_calls": [call]})]
        frames += [delta({"tool_calls": [{"index": 0, "function": {"arguments": args[half:]}}]})]
    if turn.hangs or turn.breaks:
        return frames
    frames.append(delta({}, turn.finish))
    if turn.usage is not None:
        prompt, completion = turn.usage
        used = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        frames.append(_event({**head, "choices": [], "usage": used}))
    return [*frames, _event("[DONE]")]


def _anthropic(turn: Turn) -> list[str]:
    prompt, completion = turn.usage or (0, 0)
    message: dict[str, Any] = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "toy",
        "content": [],
        "stop_reason": None,
    }
    begun = {**message, "stop_sequence": None, "usage": {"input_tokens": prompt, "output_tokens": 1}}
    frames = [_event({"type": "message_start", "message": begun}, "message_start")]
    block: dict[str, Any] = {"type": "text", "text": ""}
    deltas: list[dict[str, Any]] = [{"type": "text_delta", "text": chunk} for chunk in turn.chunks]
    if turn.call is not None:
        args = turn.call if isinstance(turn.call, str) else json.dumps(turn.call)
        block = {"type": "tool_use", "id": "t1", "name": "form", "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": args}]
    opened = {"type": "content_block_start", "index": 0, "content_block": block}
    frames.append(_event(opened, "content_block_start"))
    told = [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    frames += [_event(each, "content_block_delta") for each in told]
    if turn.hangs or turn.breaks:
        return frames
    stop = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}[turn.finish]
    ended = {"stop_reason": stop, "stop_sequence": None}
    return [
        *frames,
        _event({"type": "content_block_stop", "index": 0}, "content_block_stop"),
        _event({"type": "message_delta", "delta": ended, "usage": {"output_tokens": completion}}, "message_delta"),
        _event({"type": "message_stop"}, "message_stop"),
    ]


class _Server(uvicorn.Server):
    @override
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(app: Starlette) -> AsyncIterator[tuple[str, Callable[[], Awaitable[None]]]]:
    """Serve an application on a port of its own until the block ends; yields its address, and what stops it."""
    config = uvicorn.Config(app, port=0, log_config=None, lifespan="off", timeout_graceful_shutdown=0, access_log=False)
    server = _Server(config)
    running = asyncio.ensure_future(server.serve())

    async def stop() -> None:
        server.should_exit = server.force_exit = True
        await running

    try:
        async with asyncio.timeout(60):
            while not server.started:
                await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", stop
    finally:
        await stop()


@asynccontextmanager
async def vendor(*turns: Turn, script: Script | None = None) -> AsyncIterator[Vendor]:
    """A vendor on a port of its own, until the block ends."""
    played = Vendor(list(turns), script)
    async with serving(played.app()) as (url, stop):
        played.url, played.stop = f"{url}/v1", stop
        yield played
