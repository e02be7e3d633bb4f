"""The gateway's HTTP API: sessions, messages, events, approvals, workspace, catalogue, health (DESIGN §13)."""

from __future__ import annotations

from fastapi import FastAPI

from libs.runtime import problems
from services.gateway.api import (
    admin,
    aliases,
    approvals,
    assets,
    budgets,
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
ROOMS = (
    sessions,
    stream,
    approvals,
    effects,
    workspace,
    assets,
    catalogue,
    budgets,
    aliases,
    admin,
    dlq,
    operations,
    health,
    docs,
)


def app(gateway: Gateway) -> FastAPI:
    """The application of one gateway."""
    made = docs.Documented(
        title="Suma", version="1", description=DESCRIPTION, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    made.state.gateway = gateway
    for room in ROOMS:
        # The very routes: `include_router` would make each anew, which holds the first request up for 150 ms.
        made.router.routes.extend(room.router.routes)
    problems.install(made)
    made.add_middleware(Seats, gateway=gateway)
    made.add_middleware(Doors, settings=gateway.settings)
    return made
