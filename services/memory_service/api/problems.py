"""Errors as RFC 9457 problem documents. They never repeat what was sent."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from libs.errors import Conflict, Denied, NotFound, Rejected, SumaError, Unavailable
from libs.identity import BadToken


class BodyTooLarge(Rejected):
    """The request's body is too large."""

    code = "BODY_TOO_LARGE"


def status_of(error: SumaError) -> int:
    match error:
        case BodyTooLarge():
            return 413
        case BadToken():
            return 401
        case Denied():
            return 403
        case NotFound():
            return 404
        case Conflict():
            return 409
        case Rejected():
            return 400
        case Unavailable():
            return 503
        case _:
            return 500


def document(status: int, code: str, detail: str) -> JSONResponse:
    """`code` is stable; `detail` is for people."""
    body = {
        "type": f"urn:suma:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
    }
    return JSONResponse(body, status, media_type="application/problem+json")


def told(error: SumaError) -> JSONResponse:
    return document(status_of(error), error.code, str(error))


async def ours(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, SumaError):
        raise error
    return told(error)


async def misfit(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    where = "; ".join(f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in error.errors()[:3])
    return document(422, "INVALID_REQUEST", where)


async def theirs(request: Request, error: Exception) -> JSONResponse:
    """What the framework refuses: unknown routes, other methods, bodies that are not JSON."""
    if not isinstance(error, HTTPException):
        raise error
    return document(error.status_code, "HTTP_ERROR", str(error.detail))
