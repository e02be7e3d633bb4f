"""A server of the Model Context Protocol, revisions 2025-11-25 and 2026-07-28: over streamable HTTP, or a program.

Each listing and each call opens a connection of its own, so nothing is lost with a process. A call lists the tools
first and compares the description, in the same connection, so that an approved tool cannot be exchanged before the
call. We offer the server no capabilities: it cannot ask for samples of our model, for files or for answers of people.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from libs.errors import SumaError
from libs.remote_tools.ports import (
    ERROR_MOST,
    AnswerLost,
    Listed,
    ServerDown,
    ServerRefused,
    ToolReportedError,
    Unchanged,
    one_line,
)
from libs.remote_tools.settings import RemoteServer
from libs.resilience import GuardedCall
from libs.sandbox import NoSandbox
from libs.tools import Intent, Outcome

if TYPE_CHECKING:
    from mcp.client import Client
    from mcp_types import CallToolResult, ContentBlock, Tool

    from libs.remote_tools.outbound import Wire
    from libs.sandbox import Backend

T = TypeVar("T")

TOOLS_MOST = 500
PAGES_MOST = 20
TEXT_MOST = 64 * 1024
"""Characters of a result's text, and bytes of its structured part."""
INTENT = "suma/intent"
"""The key in `_meta` that carries the intent's id, for servers that recognise repeated calls."""
NOT_CALLED = (-32601, -32602)
"""JSON-RPC errors that refuse a request before it is carried out: unknown method, invalid params."""


@dataclass
class ServerConnection:
    """A connection that is open. `called` becomes true before the call is sent."""

    client: Client
    wire: Wire
    limit: asyncio.Timeout
    called: bool = False


async def _no_sandbox() -> Backend:
    raise NoSandbox("this process has no sandbox for programs", "see `suma doctor`")


@dataclass
class McpServer:
    name: str
    settings: RemoteServer
    guard: GuardedCall
    backend: Callable[[], Awaitable[Backend]] = _no_sandbox
    """Returns the sandbox in which a server that is a program runs."""
    protocol: str = field(default="mcp", init=False)

    async def tools(self) -> Sequence[Listed]:
        return await self._connected(self._listed)

    async def call(self, tool: str, intent: Intent, *, unchanged: Unchanged) -> Outcome:
        async def work(session: ServerConnection) -> Outcome:
            unchanged(await self._listed(session))
            # Asked after the listing: the lease may have run out while the server answered.
            if not intent.valid():
                raise ServerDown("another process has taken this call")
            return _outcome(self.name, tool, await self._called(session, tool, intent))

        return await self._connected(work)

    async def _connected(self, work: Callable[[ServerConnection], Awaitable[T]]) -> T:
        """Connect and do the work. The guard has no time limit: it would report a lost answer as a call that did
        nothing. Raises ServerDown, AnswerLost, and what `work` raises.
        """
        async with self.guard.call_scope(math.inf):
            return await self._session(work)

    async def _session(self, work: Callable[[ServerConnection], Awaitable[T]]) -> T:
        # Imported here, in a thread: the SDK takes a second to load, and most installations have no such server.
        await asyncio.to_thread(import_module, "libs.remote_tools.sandboxed")
        from libs.remote_tools.outbound import FAULTS, Outbound
        from libs.remote_tools.sandboxed import SandboxWire

        done: list[T] = []
        failed: list[SumaError] = []
        session: ServerConnection | None = None
        program = bool(self.settings.command)
        wire: Wire = SandboxWire(self.settings, self.backend) if program else Outbound(self.settings)
        try:
            async with asyncio.timeout(self.settings.connect_seconds) as limit, wire.connected() as client:
                session = ServerConnection(client, wire, limit)
                try:
                    done.append(await work(session))
                except SumaError as error:
                    # Leaving the client with an error would wrap it in exception groups.
                    failed.append(error)
        except FAULTS as error:
            # One that comes while the connection closes changes nothing.
            if not done and not failed:
                raise _failure(error, wire, called=session is not None and session.called) from None
        if failed:
            raise failed[0]
        return done[0]

    async def _listed(self, session: ServerConnection) -> Sequence[Listed]:
        found: list[Listed] = []
        cursor: str | None = None
        for _ in range(PAGES_MOST):
            page = await session.client.list_tools(cursor=cursor, cache_mode="bypass")
            found += (_read(tool, session.wire.source) for tool in page.tools)
            cursor = page.next_cursor
            if len(found) > TOOLS_MOST:
                break
            if not cursor:
                return found
        raise ServerRefused(f"{self.name} lists more than {TOOLS_MOST} tools or {PAGES_MOST} pages")

    async def _called(self, session: ServerConnection, tool: str, intent: Intent) -> CallToolResult:
        from libs.remote_tools.outbound import call_tool

        loop = asyncio.get_running_loop()
        session.limit.reschedule(loop.time() + self.settings.call_seconds)
        # The status of the listing says nothing about the call.
        session.wire.status, session.called = None, True
        result = await call_tool(session.client, tool, dict(intent.args), meta={INTENT: intent.id})
        if result is None:
            raise ServerRefused(f"{self.name} asks for more input, which its tools do not get here")
        return result


def _failure(error: Exception, wire: Wire, *, called: bool) -> SumaError:
    """Return what an error of the connection or the protocol means for the effect."""
    leaf = next(_leaves(error))
    code, words = getattr(leaf, "code", None), ": ".join(filter(None, (one_line(leaf), wire.words)))
    refused = wire.status is not None and 300 <= wire.status < 500 and wire.status not in (408, 425, 429)
    if wire.status in (401, 403):
        return ServerRefused(f"the server refuses our credentials (HTTP {wire.status})")
    if refused or (called and code in NOT_CALLED):
        return ServerRefused(words)
    # A limit (429) applies before a call is carried out.
    if called and wire.status != 429:
        return AnswerLost(words)
    return ServerDown(words)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Return the errors within exception groups. Errors of the connection precede the errors that follow from them."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _read(tool: Tool, source: str) -> Listed:
    hints = tool.annotations.model_dump(mode="json", by_alias=True, exclude_none=True) if tool.annotations else {}
    return Listed(
        name=tool.name,
        description=tool.description or "",
        parameters=tool.input_schema,
        returns=tool.output_schema,
        hints=hints,
        title=tool.title or "",
        source=source,
    )


def _outcome(server: str, tool: str, result: CallToolResult) -> Outcome:
    """Return the result as data that says where it comes from. Raises ToolReportedError."""
    text, left_out = _text(result.content)
    if result.is_error:
        said = " ".join(text.split())[:ERROR_MOST]
        raise ToolReportedError(f"{server}.{tool} reports an error: {said}" if said else "")
    structured = result.structured_content
    if _size(structured) > TEXT_MOST:
        structured, left_out = None, [*left_out, "the structured result"]
    fields: Mapping[str, Any] = structured if isinstance(structured, dict) else {}
    # The mark comes last, so that no field of the server can replace it.
    data: dict[str, Any] = {**fields, "text": text[:TEXT_MOST], "untrusted": f"said by the server {server}"}
    if structured is not None and not isinstance(structured, dict):
        data["value"] = structured
    if len(text) > TEXT_MOST:
        left_out = [*left_out, f"{len(text) - TEXT_MOST} characters of text"]
    if left_out:
        data["left_out"] = left_out
    return Outcome(data, f"{server}.{tool} answered.")


def _size(structured: Any) -> float:
    """Return the size of a structured result as JSON; infinite for one that cannot be written."""
    try:
        return len(orjson.dumps(structured))
    except (TypeError, ValueError):
        return math.inf


def _text(content: Sequence[ContentBlock]) -> tuple[str, list[str]]:
    """Return the text of a result, and what of it is not text. Links are not followed."""
    texts: list[str] = []
    left_out: list[str] = []
    for block in content:
        match block.type:
            case "text":
                texts.append(block.text)
            case "resource_link":
                texts.append(str(block.uri))
            case "resource" if (text := getattr(block.resource, "text", None)) is not None:
                texts.append(text)
            case _:
                left_out.append(block.type)
    return "\n".join(texts), left_out[:20]
