"""Our errors in the words of MCP: a failed call is a result that a model can read, anything else a protocol error."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, CallToolResult, TextContent
from pydantic import ValidationError
from starlette.requests import Request

from libs.errors import Denied, NotFound, Rejected, SumaError, Unavailable
from libs.runtime.problem_details import status_of
from services.gateway.http import denials
from services.gateway.surfaces.context import Gateway

NOT_FOUND = -32002
"""The code of a missing resource until 2025-11-25; later revisions use invalid params."""
MODERN = "2026-07-28"
PROBLEM = "suma/problem"
"""The member of a refusal's `_meta` with its problem document."""


def data_of(error: SumaError) -> dict[str, Any]:
    """Return the fields of the error's problem document."""
    found: dict[str, Any] = {"code": error.code, "status": status_of(error), "detail": str(error)}
    if isinstance(error, Unavailable):
        found["retry_after"] = max(1, math.ceil(getattr(error, "retry_after", None) or 1.0))
    if scopes := getattr(error, "scopes", ()):
        found["scopes"] = list(scopes)
    return found


def failed(error: SumaError | ValidationError) -> CallToolResult:
    """Return the result of a call that was refused, or that cannot be made now."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        error = Rejected(f"{where}: {first['msg']}" if where else first["msg"], code="INVALID_REQUEST")
    problem = data_of(error)
    wait = f" (retry in {problem['retry_after']} s)" if "retry_after" in problem else ""
    text = TextContent(text=f"{problem['code']}: {problem['detail']}{wait}")
    # Not as structured content: that must fit the tool's output schema, and clients then show a schema error instead.
    return CallToolResult.model_validate({"content": [text], "_meta": {PROBLEM: problem}, "isError": True})


def raised(error: SumaError, version: str) -> NoReturn:
    """Raise the protocol's own error. Something of another tenant is missing, like something that never was."""
    match error:
        case NotFound():
            code = INVALID_PARAMS if version >= MODERN else NOT_FOUND
        case Rejected():
            code = INVALID_REQUEST
        case _:
            code = INTERNAL_ERROR
    raise MCPError(code=code, message=str(error), data=data_of(error)) from error


async def note(here: Gateway, request: Request, error: SumaError) -> None:
    """Record a refusal in the audit log, as the HTTP API does."""
    if isinstance(error, Denied):
        await denials.note(here.refusals, request, error)
