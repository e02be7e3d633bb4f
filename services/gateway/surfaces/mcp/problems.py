"""Problem documents as JSON-RPC errors: MCP clients show the message of nothing else.

Their status and headers stay: clients read the challenge of a 401 and the Retry-After of a 429.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.gateway.http.urls import MCP

INVALID_REQUEST, INTERNAL_ERROR = -32600, -32603
AGAIN = (408, 429, 500, 502, 503)
"""Statuses that do not blame the request."""


def translated(problem: Mapping[str, Any], path: str) -> tuple[int, Mapping[str, Any]] | None:
    """Return the status and JSON-RPC error of a problem, or None if the path is not that of MCP."""
    if path != MCP:
        return None
    code = INTERNAL_ERROR if problem["status"] in AGAIN else INVALID_REQUEST
    error = {"code": code, "message": f"{problem['code']}: {problem['detail']}", "data": problem}
    return int(problem["status"]), {"jsonrpc": "2.0", "id": None, "error": error}
