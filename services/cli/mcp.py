"""`suma mcp`: MCP over standard input and output, for hosts that start their servers; each message goes to the gateway.

The bridge knows nothing of tools or turns. It adds what HTTP needs: the key, and the headers that repeat a message.
"""

from __future__ import annotations

import anyio
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.inbound import encode_header_value
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from services.cli.address import Address

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


class Headers:
    """The headers of messages: a revision with a handshake says its version once, a later one in each message."""

    def __init__(self) -> None:
        self._negotiated: str | None = None

    def note(self, message: SessionMessage) -> None:
        """Note the version that the answer to `initialize` chose."""
        match message.message:
            case JSONRPCResponse(result={"protocolVersion": str(version), "serverInfo": _}):
                self._negotiated = version
            case _:
                pass

    def of(self, message: SessionMessage) -> dict[str, str]:
        told = message.message
        if not isinstance(told, JSONRPCRequest | JSONRPCNotification):
            return {"mcp-protocol-version": self._negotiated} if self._negotiated else {}
        params = told.params or {}
        version = (params.get("_meta") or {}).get(VERSION_KEY)
        if not isinstance(version, str):
            return {"mcp-protocol-version": self._negotiated} if self._negotiated else {}
        name = params.get("name", params.get("uri"))
        named = {"mcp-name": encode_header_value(name)} if isinstance(name, str) else {}
        return {"mcp-protocol-version": version, "mcp-method": told.method, **named}


def serve(address: Address) -> None:
    """Pass messages between the host and the gateway until the host closes our standard input."""
    anyio.run(_bridge, address)


async def _bridge(address: Address) -> None:
    known = Headers()
    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {address.key}"}) as http,
        streamable_http_client(f"{address.url}/mcp", http_client=http) as (answers, requests),
        stdio_server() as (said, told),
        anyio.create_task_group() as group,
    ):

        async def down() -> None:
            async for message in answers:
                if not isinstance(message, Exception):
                    known.note(message)
                    await told.send(message)

        group.start_soon(down)
        async for message in said:
            if not isinstance(message, Exception):
                metadata = ClientMessageMetadata(headers=known.of(message))
                await requests.send(SessionMessage(message.message, metadata=metadata))
        group.cancel_scope.cancel()
