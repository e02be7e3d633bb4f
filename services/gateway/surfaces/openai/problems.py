"""Problem documents in OpenAI's envelope: {"error": {"message", "type", "param", "code"}}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from libs.errors import SumaError
from libs.runtime.problem_details import status_of

PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/models")
TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
"""Codes that clients compare; others are ours, in lower case."""


def translated(problem: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    """Return the envelope of a problem at this path, or None if the path is not one of OpenAI's API."""
    if not any(path == one or path.startswith(f"{one}/") for one in PATHS):
        return None
    param = next((_param(each["pointer"]) for each in problem.get("errors", ())), None)
    return {"error": _error(int(problem["status"]), problem["code"], problem["detail"], param)}


def of(error: SumaError) -> dict[str, Any]:
    """Return the error object of an error inside a stream."""
    return _error(status_of(error), error.code, str(error), None)


def _error(status: int, code: str, message: str, param: str | None) -> dict[str, Any]:
    kind = TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"message": message, "type": kind, "param": param, "code": CODES.get(status, code.lower())}


def _param(pointer: str) -> str:
    """Return `messages.0.content` for `/body/messages/0/content`."""
    return ".".join(pointer.strip("/").split("/")[1:])
