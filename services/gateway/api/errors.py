"""Problem documents (RFC 9457) in the gateway's contract; `libs.runtime.problem_details` writes them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class Place(BaseModel):
    """An error and its place in the request."""

    pointer: str
    detail: str


class Problem(BaseModel):
    """A problem document. `code` is stable; `detail` is for people."""

    type: str = Field(examples=["urn:suma:problem:NOT_FOUND"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no such session; list your sessions."])
    code: str = Field(examples=["NOT_FOUND"])
    errors: list[Place] = []


PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
"""Declared without `model`: FastAPI would build a validator for each status of each route at every start."""
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": about, "content": PROBLEM}
    for status, about in {
        400: "The body is not JSON",
        401: "The API key is missing or not valid",
        403: "A scope is missing, or policy denies the request",
        404: "The object does not exist, or belongs to another tenant",
        409: "Conflict: the turn, approval or dead letter is already closed",
        413: "The body is too large",
        415: "The content type is not application/json",
        422: "The request does not match this route's schema",
        429: "A limit is reached; `code` names it, `Retry-After` is the seconds to wait",
        503: "A dependency is unavailable; retry with backoff",
    }.items()
}
