"""Problem documents (RFC 9457) as the gateway's contract names them; `libs.runtime.problems` writes them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


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


PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
"""Not as `model`, of which FastAPI would make a validator for each status of each route, at every start."""
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": about, "content": PROBLEM}
    for status, about in {
        400: "Not JSON",
        401: "No key, or not a valid one",
        403: "A scope or the policy refuses it",
        404: "There is no such thing, or it is not yours",
        409: "It came too late",
        413: "The body is too large",
        415: "The body is not JSON",
        422: "The request has another shape than this route takes",
        429: "Too much at once: of you, of your tenant, or of all; `code` says which, `Retry-After` when to come again",
        503: "Something that we need does not answer; try again",
    }.items()
}
