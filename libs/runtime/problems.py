"""The refusals of our HTTP APIs as problem documents (RFC 9457): each says what can be done about it, and none shows
what was sent or our insides. `code` is stable; `detail` is for people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from libs.errors import Conflict, Crowded, Denied, NotFound, Rejected, SumaError, Unavailable
from libs.identity import BadKey, BadToken
from libs.telemetry.logs import logger

log = logger("http")

MEDIA_TYPE = "application/problem+json"

STATUSES = {
    "BODY_TOO_LARGE": 413,
    "EVENT_TOO_LARGE": 413,
    "APPROVAL_CLOSED": 409,
    "APPROVAL_CHANGED": 409,
    "TURN_ENDED": 409,
    "NOTHING_OPEN": 409,
    "DEAD_LETTER_CLOSED": 409,
    "NOTHING_TO_ROLL_BACK": 409,
}
"""Codes that say more than their class does."""

CODES = {
    400: "MALFORMED_BODY",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    413: "TOO_LARGE",
    415: "NOT_JSON",
    422: "INVALID_REQUEST",
}
"""What the framework's own refusals are called."""


def document(
    status: int,
    code: str,
    detail: str,
    *,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """`errors` says what is wrong where in the request: {"pointer", "detail"} each."""
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
    """The problem document of an error that was raised on purpose."""
    return document(_status(error), error.code, str(error), headers=_headers(error))


def install(app: FastAPI) -> None:
    """Let every error of this app leave as a problem document."""

    @app.exception_handler(SumaError)
    async def raised(_: Request, error: SumaError) -> Response:
        return answer(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        places = [{"pointer": _pointer(e["loc"]), "detail": e["msg"]} for e in error.errors()[:20]]
        return document(
            422, "INVALID_REQUEST", "The request does not have the shape that this route takes.", errors=places
        )

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        code = CODES.get(error.status_code, "REFUSED")
        return document(error.status_code, code, str(error.detail), headers=error.headers)

    @app.exception_handler(Exception)
    async def crashed(request: Request, error: Exception) -> Response:
        log.error("a request crashed", method=request.method, path=request.url.path, error=type(error).__name__)
        return document(500, "INTERNAL", "Something went wrong on our side; the request may be tried again.")


def _status(error: SumaError) -> int:
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
        case BadKey():
            return {"WWW-Authenticate": 'Bearer realm="suma", error="invalid_token"'}
        case Unavailable():
            # When to come again: where the error knows, and at least a second from now.
            return {"Retry-After": str(max(1, math.ceil(getattr(error, "retry_after", None) or 1.0)))}
        case _:
            return {}


def _pointer(where: Sequence[int | str]) -> str:
    return "/" + "/".join(str(part) for part in where)
