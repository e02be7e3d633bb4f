"""Problem documents (RFC 9457): every refusal says what can be done about it, and none shows our insides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from libs.changes.writer import Overloaded
from libs.errors import Conflict, Denied, NotFound, Rejected, SumaError, Unavailable
from libs.identity import BadKey
from libs.telemetry.logs import logger
from services.gateway.limits import TooMany
from services.gateway.streams import TooManyStreams

log = logger("gateway")

CODES = {
    400: "MALFORMED_BODY",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    413: "TOO_LARGE",
    415: "NOT_JSON",
    422: "INVALID_REQUEST",
}
"""What the framework's own refusals are called."""

STATUSES = {
    "EVENT_TOO_LARGE": 413,
    "APPROVAL_CLOSED": 409,
    "APPROVAL_CHANGED": 409,
    "TURN_ENDED": 409,
    "NOTHING_OPEN": 409,
    "DEAD_LETTER_CLOSED": 409,
    "NOTHING_TO_ROLL_BACK": 409,
}
"""Codes that say more than their class does."""


class Place(BaseModel):
    """What is wrong, and where in the request."""

    pointer: str
    detail: str


class Problem(BaseModel):
    """A problem document. `code` is stable; `detail` is for people."""

    type: str = Field(examples=["urn:suma:problem:NOT_FOUND"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no such session."])
    code: str = Field(examples=["NOT_FOUND"])
    errors: list[Place] = []


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    body: dict[str, Any] = {
        "type": f"urn:suma:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if errors:
        body["errors"] = errors
    return Response(orjson.dumps(body), status, headers=dict(headers or {}), media_type="application/problem+json")


def answer(error: SumaError) -> Response:
    """The problem document of an error that was raised on purpose."""
    headers: dict[str, str] = {}
    match error:
        case BadKey():
            status, headers = 401, {"WWW-Authenticate": 'Bearer realm="suma", error="invalid_token"'}
        case NotFound():
            status = 404
        case Denied():
            status = 403
        case Rejected():
            status = STATUSES.get(error.code, 422)
        case Conflict():
            status = 409
        case TooMany() | Overloaded() | TooManyStreams():
            status, headers = 429, _again(error)
        case Unavailable():
            status, headers = 503, _again(error)
        case _:
            status = 500
    return problem(status, error.code, str(error), headers=headers)


def _again(error: SumaError) -> dict[str, str]:
    """When to come again: where the error knows, and at least a second from now."""
    return {"Retry-After": str(max(1, math.ceil(getattr(error, "retry_after", 1.0))))}


def install(app: FastAPI) -> None:
    """Let every error of this app leave as a problem document."""

    @app.exception_handler(SumaError)
    async def raised(_: Request, error: SumaError) -> Response:
        return answer(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        places = [{"pointer": _pointer(e["loc"]), "detail": e["msg"]} for e in error.errors()[:20]]
        return problem(
            422, "INVALID_REQUEST", "The request does not have the shape that this route takes.", errors=places
        )

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        code = CODES.get(error.status_code, "REFUSED")
        return problem(error.status_code, code, str(error.detail), headers=error.headers)

    @app.exception_handler(Exception)
    async def crashed(request: Request, error: Exception) -> Response:
        log.error("a request crashed", method=request.method, path=request.url.path, error=type(error).__name__)
        return problem(500, "INTERNAL", "Something went wrong on our side; the request may be tried again.")


def _pointer(where: Sequence[int | str]) -> str:
    return "/" + "/".join(str(part) for part in where)
