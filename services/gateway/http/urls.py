"""The addresses under which clients know this server."""

from __future__ import annotations

WELL_KNOWN = "/.well-known/"
"""Documents below it are public (RFC 8615); an unknown one is not found."""
METADATA = f"{WELL_KNOWN}oauth-protected-resource"
"""The path of a protected resource's metadata (RFC 9728)."""
MCP = "/mcp"
"""The endpoint for MCP hosts, a protected resource of its own."""
UPLOADS = "/v1/uploads"
"""Uploads, whose bodies are files."""
TUS = "1.0.0"
"""The version of the protocol of uploads."""
_HTTP = {"ws": "http", "wss": "https"}


def base(scheme: str, host: str, public: str | None) -> str:
    """Return the public address, or that of the request; its Host was checked against our names."""
    return public or f"{_HTTP.get(scheme, scheme)}://{host}"
