"""Problem documents (RFC 9457) for the errors of our HTTP APIs: each says what to do, and none shows the request's
content or internals. `code` is stable; `detail` is for people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from libs.errors import Conflict, Crowded, Denied, NotFound, Rejected, SumaError, Unavailable
from libs.identity import BadKey, BadToken, NoKey
from libs.telemetry.logs import logger

log = logger("http")

MEDIA_TYPE = "application/problem+json"

STATUSES = {
    "BODY_TOO_LARGE": 413,
    "EVENT_TOO_LARGE": 413,
    "UPLOAD_TOO_LARGE": 413,
    "UPLOAD_OFFSET": 409,
    "UPLOAD_TOO_SLOW": 408,
    "UPLOAD_PROTOCOL": 412,
    "NOT_UPLOAD_BYTES": 415,
    "TYPE_MISMATCH": 415,
    "APPROVAL_CLOSED": 409,
    "APPROVAL_CHANGED": 409,
    "TURN_ENDED": 409,
    "NOTHING_OPEN": 409,
    "DEAD_LETTER_CLOSED": 409,
    "NOTHING_TO_REDO": 409,
    "NOTHING_TO_ROLL_BACK": 409,
    "TENANT_EXISTS": 409,
    "KEY_ENDED": 409,
    "KEY_FILE": 409,
    "YOURSELF": 409,
    "TOO_MANY_KEYS": 409,
}
"""HTTP statuses of codes that differ from their class's status."""

CODES = {
    400: "MALFORMED_BODY",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    413: "TOO_LARGE",
    415: "NOT_JSON",
    422: "INVALID_REQUEST",
}
"""Codes of the framework's own errors."""


def document(
    status: int,
    code: str,
    detail: str,
    *,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a problem document. Each of `errors` names a wrong part of the request: {"pointer", "detail"}."""
    body: dict[str, Any] = {
        "type": f"urn:suma:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if errors:
        body["errors"] = errors
    return Response(orjson.dumps(body), status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def answer(error: SumaError) -> Response:
    """Return the problem document of a `SumaError`."""
    return document(status_of(error), error.code, str(error), headers=_headers(error))


def install(app: FastAPI) -> None:
    """Convert every error of this app to a problem document."""

    @app.exception_handler(SumaError)
    async def raised(_: Request, error: SumaError) -> Response:
        return answer(error)

    @app.exception_handler(RequestValidationError)
    @app.exception_handler(WebSocketRequestValidationError)
    async def invalid(_: Request, error: RequestValidationError | WebSocketRequestValidationError) -> Response:
        found = error.errors()
        # Without what was sent (`input`), which may be a secret; at most 20, however long the request is.
        places = [{"pointer": _pointer(e["loc"]), "detail": e["msg"]} for e in found[:20]]
        return document(422, "INVALID_REQUEST", _first(found), errors=places)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        code = getattr(error, "code", None) or CODES.get(error.status_code, "REFUSED")
        allow = {"Allow": ", ".join(_methods(app, request))} if error.status_code == 405 else {}
        return document(error.status_code, code, str(error.detail), headers={**(error.headers or {}), **allow})

    @app.exception_handler(Exception)
    async def crashed(request: Request, error: Exception) -> Response:
        # Only the error's type: its text may contain what was sent.
        log.error("request crashed", method=request.method, path=request.url.path, error=type(error).__name__)
        return document(500, "INTERNAL", "Internal error; retry the request.")


def status_of(error: SumaError) -> int:
    """Return the HTTP status of an error."""
    match error:
        case _ if error.code in STATUSES:
            return STATUSES[error.code]
        case BadKey() | BadToken():
            return 401
        case NotFound():
            return 404
        case Denied():
            return 403
        case Rejected():
            return 422
        case Conflict():
            return 409
        case Crowded():
            return 429
        case Unavailable():
            return 503
        case _:
            return 500


def _headers(error: SumaError) -> Mapping[str, str]:
    match error:
        case NoKey():
            return {"WWW-Authenticate": 'Bearer realm="suma"'}
        case BadKey() | BadToken():
            return {"WWW-Authenticate": 'Bearer realm="suma", error="invalid_token"'}
        case Denied() if scopes := getattr(error, "scopes", ()):
            wanted = " ".join(scopes)
            return {"WWW-Authenticate": f'Bearer realm="suma", error="insufficient_scope", scope="{wanted}"'}
        case Unavailable():
            # Return the Retry-After header in seconds: what the error says, and at least one second.
            return {"Retry-After": str(max(1, math.ceil(getattr(error, "retry_after", None) or 1.0)))}
        case _:
            return {}


def _first(errors: Sequence[Mapping[str, Any]]) -> str:
    """Describe the first invalid field, and say how many others there are."""
    where = [str(part) for part in errors[0]["loc"]]
    rest = f" ({len(errors) - 1} more in `errors`)" if len(errors) > 1 else ""
    return f"{'.'.join(where[1:]) or where[0]}: {errors[0]['msg']}{rest}"


def _methods(app: FastAPI, request: Request) -> Sequence[str]:
    """Return all methods of a path; the framework knows those of its first route only."""
    scope = {"type": "http", "path": request.url.path, "method": "", "headers": []}
    routes = [route for route in app.router.routes if isinstance(route, Route)]
    found = [route.methods or () for route in routes if route.matches(scope)[0] is not Match.NONE]
    return sorted({method for methods in found for method in methods})


def _pointer(where: Sequence[int | str]) -> str:
    return "/" + "/".join(str(part) for part in where)
