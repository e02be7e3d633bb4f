"""One turn over each protocol, as a plain HTTP request: for limits and measurements, without the weight of a client.

The journeys and the surfaces' own tests use the protocols' clients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from libs import ids

ACCEPT = "application/json, text/event-stream"


@dataclass(frozen=True, slots=True)
class Asked:
    """A POST request."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


Surface = Callable[[str, bool], Asked]
"""Return the request that runs a turn with this text: one that streams, or one that waits for the turn's end."""


def mcp_2026(text: str, streams: bool) -> Asked:
    """Return a call of revision 2026-07-28. Without a progress token nothing is sent before the result."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
        **({"progressToken": 1} if streams else {}),
    }
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "suma_run"}
    return _mcp(text, meta, headers)


def mcp_2025(text: str, streams: bool) -> Asked:
    """Return a call of revision 2025-11-25. It always streams."""
    return _mcp(text, {"progressToken": 1} if streams else {}, {"MCP-Protocol-Version": "2025-11-25"})


def _mcp(text: str, meta: Mapping[str, Any], headers: Mapping[str, str]) -> Asked:
    params = {"name": "suma_run", "arguments": {"text": text}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Asked("/mcp", body, {"Accept": ACCEPT, **headers})


def a2a(text: str, streams: bool) -> Asked:
    method = "SendStreamingMessage" if streams else "SendMessage"
    message = {"messageId": ids.new(), "role": "ROLE_USER", "parts": [{"text": text}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
    return Asked("/a2a", body, {"A2A-Version": "1.0"})


def a2a_rest(text: str, streams: bool) -> Asked:
    rpc = a2a(text, streams)
    return Asked(f"/a2a/v1/message:{'stream' if streams else 'send'}", rpc.body["params"], rpc.headers)


def chat(text: str, streams: bool) -> Asked:
    messages = [{"role": "user", "content": text}]
    return Asked("/v1/chat/completions", {"model": "suma", "messages": messages, "stream": streams})


def responses(text: str, streams: bool) -> Asked:
    return Asked("/v1/responses", {"model": "suma", "input": text, "stream": streams})


def agui(text: str, streams: bool) -> Asked:
    """Return a run. It always streams."""
    said = {"id": ids.new(), "role": "user", "content": text}
    empty: Mapping[str, Any] = {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    return Asked("/agui", {"threadId": ids.new(), "runId": ids.new(), "messages": [said], **empty})


SURFACES: Mapping[str, Surface] = {
    "MCP 2026-07-28": mcp_2026,
    "MCP 2025-11-25": mcp_2025,
    "A2A": a2a,
    "chat completions": chat,
    "responses": responses,
    "AG-UI": agui,
}
