"""Problem documents as A2A errors of either binding: limits, missing credentials, unreadable bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.gateway.surfaces.a2a.paths import JSONRPC, REST

ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
DOMAIN, OWN_DOMAIN = "a2a-protocol.org", "suma"
"""Domains of error reasons: the protocol's (9.5, 11.6), and that of Suma's own codes."""
REASONS = {415: "CONTENT_TYPE_NOT_SUPPORTED"}
"""The protocol's reasons by HTTP status. All other problems keep their code as the reason."""
STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    413: "OUT_OF_RANGE",
    415: "INVALID_ARGUMENT",
    421: "INVALID_ARGUMENT",
    422: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
"""Names of google.rpc.Code by HTTP status."""
NUMBERS = {400: -32700, 404: -32601, 405: -32600, 413: -32600, 415: -32005, 422: -32600}
"""Codes of JSON-RPC and of A2A (5.4); all others are -32000, a server error that `data` explains."""
SERVER_ERROR = -32000


def translated(problem: Mapping[str, Any], path: str) -> tuple[int, Mapping[str, Any]] | None:
    """Return the status and A2A error of a problem at this path, or None if the path is not one of A2A."""
    status = int(problem["status"])
    details = [_info(status, problem["code"])]
    if path in (JSONRPC, f"{JSONRPC}/"):
        error = {"code": NUMBERS.get(status, SERVER_ERROR), "message": problem["detail"], "data": details}
        return status, {"jsonrpc": "2.0", "id": None, "error": error}
    if path.startswith(f"{REST}/"):
        name = STATUSES.get(status, "INTERNAL")
        return status, {"error": {"code": status, "status": name, "message": problem["detail"], "details": details}}
    return None


def _info(status: int, code: str) -> Mapping[str, Any]:
    if status in REASONS:
        return {"@type": ERROR_INFO, "reason": REASONS[status], "domain": DOMAIN, "metadata": {"code": code}}
    return {"@type": ERROR_INFO, "reason": code, "domain": OWN_DOMAIN, "metadata": {}}
