"""The gateway's HTTP API: sessions, messages, events, approvals, workspace, catalogue, health (DESIGN §13)."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from libs.runtime import problems
from services.gateway.api import (
    admin,
    aliases,
    approvals,
    catalogue,
    dlq,
    docs,
    effects,
    health,
    operations,
    sessions,
    stream,
    workspace,
)
from services.gateway.api.crowd import Seats
from services.gateway.api.doors import Doors
from services.gateway.api.gateway import Gateway

DESCRIPTION = (
    "Say what you want done; see the plan, its review and each step as numbered events; approve, commit, roll back. "
    "Every route under /v1 takes an API key as a bearer token. Errors are problem documents (RFC 9457)."
)
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


def app(gateway: Gateway) -> FastAPI:
    """The application of one gateway."""
    made = docs.Documented(
        title="Suma", version="1", description=DESCRIPTION, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    made.state.gateway = gateway
    for room in (sessions, stream, approvals, effects, workspace, catalogue, aliases, admin, dlq, operations):
        made.include_router(room.router, responses=PROBLEMS)
    made.include_router(health.router)
    made.include_router(docs.router)
    problems.install(made)
    made.add_middleware(Seats, gateway=gateway)
    made.add_middleware(Doors, settings=gateway.settings)
    return made
