"""Problem documents in OpenAI's envelope: {"error": {"message", "type", "param", "code"}}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from libs.errors import SumaError
from libs.runtime.problem_details import status_of

UNSERVED = "assistants audio batches completions conversations embeddings files fine_tuning images moderations threads"
PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/models", *(f"/v1/{name}" for name in UNSERVED.split()))
TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
"""Codes that clients compare; others are ours, in lower case."""


def translated(problem: Mapping[str, Any], path: str) -> tuple[int, Mapping[str, Any]] | None:
    """Return the status and envelope of a problem at this path, or None if the path is not one of OpenAI's API."""
    if not any(path == one or path.startswith(f"{one}/") for one in PATHS):
        return None
    # OpenAI's API has no 422, and its clients read what the caller must mend from a 400.
    status = 400 if problem["status"] == 422 else int(problem["status"])
    param, detail = None, problem["detail"]
    for first in problem.get("errors", ())[:1]:
        param = _param(first["pointer"])
        detail = f"{param}: {first['detail']}"
    return status, {"error": _error(status, problem["code"], detail, param)}


def of(error: SumaError) -> dict[str, Any]:
    """Return the error object of an error inside a stream."""
    return _error(status_of(error), error.code, str(error), None)


def _error(status: int, code: str, message: str, param: str | None) -> dict[str, Any]:
    kind = TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"message": message, "type": kind, "param": param, "code": CODES.get(status, code.lower())}


def _param(pointer: str) -> str:
    """Return `messages.0.content` for `/body/messages/0/content`."""
    return ".".join(pointer.strip("/").split("/")[1:])
