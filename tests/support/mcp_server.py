"""A real MCP server over HTTP whose tools a test can change, slow down and make lie."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from services import http_server

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
Answer = Callable[[dict[str, Any]], Awaitable[CallToolResult]]
Instead = Callable[[Request], Response | None]
TOKEN = "mcp-secret-token-123"


def tool(name: str, description: str = "Sends a text.", **fields: Any) -> Tool:
    return Tool(**{"name": name, "description": description, "input_schema": TEXT, **fields})


def reads(name: str) -> Tool:
    return tool(name, "Reads a text.", annotations=ToolAnnotations(read_only_hint=True))


def text(said: str, **fields: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=said)], **fields)


async def echo(args: dict[str, Any]) -> CallToolResult:
    return text(f"got {args['text']}", structured_content={"number": 7})


def nothing(request: Request) -> Response | None:
    """Let the server answer."""
    return None


def status(code: int) -> Instead:
    return lambda request: PlainTextResponse("no", status_code=code)


def redirect(to: str) -> Instead:
    return lambda request: RedirectResponse(to, status_code=307)


def older(request: Request) -> Response | None:
    """Know only the revision 2025-11-25, which has no discovery."""
    return PlainTextResponse("no", status_code=404) if request.headers.get("mcp-method") == "server/discover" else None


def garbage(request: Request) -> Response | None:
    """Answer with JSON that is none of the protocol's."""
    return Response('{"jsonrpc": "2.0", "id": [], "result": "\\ud800"}', media_type="application/json")


@dataclass
class ToolServer:
    """The server's state. `calls` are the arguments that arrived; `tokens` the Authorization headers."""

    url: str = ""
    tools: list[Tool] = field(default_factory=list)
    answer: Answer = echo
    instead: Instead = nothing
    """An answer in place of the server's own."""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    intents: list[str] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def reset(self, *tools: Tool) -> None:
        self.tools, self.answer, self.instead = list(tools), echo, nothing
        self.calls, self.tokens, self.intents, self.arrived = [], set(), [], asyncio.Event()

    async def list(self, _: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=self.tools)

    async def call(self, context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        self.calls.append((params.name, params.arguments or {}))
        self.intents.append(str((context.meta or {}).get("suma/intent")))
        self.arrived.set()
        return await self.answer(params.arguments or {})


class _Front:
    """Answers instead of the server where the test says so."""

    def __init__(self, state: ToolServer, app: ASGIApp) -> None:
        self._state, self._app = state, app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        self._state.tokens.add(request.headers.get("authorization", ""))
        await (self._state.instead(request) or self._app)(scope, receive, send)


@asynccontextmanager
async def serving() -> AsyncIterator[ToolServer]:
    """Serve on a free port of this machine until the block ends."""
    state = ToolServer()
    server = Server("tickets", on_list_tools=state.list, on_call_tool=state.call)
    app = _Front(state, server.streamable_http_app())
    with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as listening:
        state.url = f"{http_server.url_of(listening)}/mcp"
        running = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on"))
        task = asyncio.ensure_future(running.serve(sockets=[listening]))
        while not running.started:
            await asyncio.sleep(0.01)
        try:
            yield state
        finally:
            running.should_exit = True
            await task
