"""The endpoint: a request goes to the SDK's stateless transport of its revision."""

from __future__ import annotations

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from services.gateway.identity.reading import CATALOGUE, SESSIONS
from services.gateway.surfaces.context import Gateway
from services.gateway.surfaces.mcp import server
from services.gateway.surfaces.mcp.handshakes import Handshakes


class Endpoint:
    """MCP over a gateway's turns."""

    def __init__(self, here: Gateway) -> None:
        self._reads, self._server = here.identity.reads, server.build(here.platform)
        self._handshakes = Handshakes(here, self._server)
        self._body_most = here.settings.body_most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Every client begins with a list of the tools.
        for reading in (SESSIONS, CATALOGUE):
            await self._reads.check(scope["state"]["caller"], reading)
        scope = trimmed(scope)
        version = Headers(scope=scope).get(MCP_PROTOCOL_VERSION_HEADER)
        if version is None or version in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._handshakes.serve(scope, receive, send)
            return
        # RequestGuard has checked Host and Origin. A manager holds no session of its own, so each request has one.
        manager = StreamableHTTPSessionManager(self._server, stateless=True, max_request_body_size=self._body_most)
        async with manager.run():
            await manager.handle_request(scope, receive, send)


def trimmed(scope: Scope) -> Scope:
    """Return a request whose headers have no whitespace around their values, which httptools keeps (RFC 9110, 5.5).
    Without an Accept it takes every media type (12.5.1), which the SDK does not know.
    """
    headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
    given = [header for header in headers if header != (b"accept", b"")]
    missing = [] if any(name == b"accept" for name, _ in given) else [(b"accept", b"*/*")]
    return {**scope, "headers": given + missing}
