"""Problem documents (RFC 9457) in the gateway's contract; `libs.runtime.problem_details` writes them.

`contract` adds to each route the errors that all routes of its kind share. A route declares its own ones with `raises`.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from libs.errors import SumaError
from libs.runtime.problem_details import MEDIA_TYPE, status_of


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


class Refusal(NamedTuple):
    """An error that a route can answer and that has no class in this service."""

    status: int
    code: str
    detail: str


Responses = dict[int | str, dict[str, Any]]
SCHEMA = {"$ref": "#/components/schemas/Problem"}
"""Referred to instead of `model`: FastAPI would build a validator for each status of each route at every start."""


def raises(*errors: type[SumaError] | Refusal) -> Responses:
    """Return the `responses` of a route that declare its own errors, with an example for each code."""
    found: dict[int, list[Refusal]] = {}
    for error in errors:
        refusal = error if isinstance(error, Refusal) else refusal_of(error)
        found.setdefault(refusal.status, []).append(refusal)
    return {status: problem(*refusals) for status, refusals in found.items()}


def problem(*refusals: Refusal) -> dict[str, Any]:
    """Return the response of these refusals, which have one status."""
    about = " · ".join(dict.fromkeys(refusal.code for refusal in refusals))
    examples = {refusal.code: {"summary": refusal.detail, "value": _document(refusal)} for refusal in refusals}
    return {"description": about, "content": {MEDIA_TYPE: {"schema": SCHEMA, "examples": examples}}}


def refusal_of(error: type[SumaError]) -> Refusal:
    """Return the status, code and message of an error."""
    said = error()
    return Refusal(status_of(said), said.code, str(said))


def _document(refusal: Refusal) -> Mapping[str, Any]:
    return {
        "type": f"urn:suma:problem:{refusal.code}",
        "title": HTTPStatus(refusal.status).phrase,
        "status": refusal.status,
        "detail": refusal.detail,
        "code": refusal.code,
    }
