"""The application: the rooms of the API, the surfaces of other protocols, and the middleware around them."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.routing import Mount, Route
from typing_extensions import override

from libs.errors import Denied
from libs.runtime import problem_details
from services.gateway.context import Rooms
from services.gateway.files import assets
from services.gateway.files import upload_routes as uploads
from services.gateway.http import denials, docs
from services.gateway.http.middleware.concurrency import OPEN, ConcurrencyMiddleware
from services.gateway.http.middleware.conditional_reads import ConditionalReads
from services.gateway.http.middleware.plain_requests import PlainRequests
from services.gateway.http.middleware.protocol_errors import ProtocolErrors
from services.gateway.http.middleware.request_guard import RequestGuard
from services.gateway.http.middleware.web_app import WebApp
from services.gateway.identity import key_routes as keys
from services.gateway.identity import oauth, signin, tenants
from services.gateway.memory import mind
from services.gateway.memory import routes as memory
from services.gateway.multimodal import routes as multimodal
from services.gateway.operators import audit, health, operations
from services.gateway.operators import dead_letter_routes as dlq
from services.gateway.sessions import (
    aliases,
    approvals,
    budgets,
    catalogue,
    effects,
    knowledge,
    socket,
    stream,
    workspace,
)
from services.gateway.sessions import routes as sessions
from services.gateway.surfaces.a2a.routes import SURFACE as A2A
from services.gateway.surfaces.agui.routes import SURFACE as AGUI
from services.gateway.surfaces.mcp.routes import SURFACE as MCP
from services.gateway.surfaces.openai.routes import SURFACE as OPENAI

DESCRIPTION = (
    "Send a message; follow the plan, its review and each step as numbered events; approve, commit, roll back. "
    "Every route under /v1 takes an API key as a bearer token, or the cookie of a signed-in browser. "
    "Errors are problem documents (RFC 9457)."
)
ROOMS = (
    signin,
    sessions,
    stream,
    socket,
    approvals,
    effects,
    workspace,
    uploads,
    assets,
    catalogue,
    knowledge,
    budgets,
    memory,
    mind,
    multimodal,
    aliases,
    audit,
    dlq,
    operations,
    keys,
    tenants,
    oauth,
    health,
    docs,
)
SURFACES = (A2A, MCP, OPENAI, AGUI)
PUBLIC = OPEN.union(*(surface.open for surface in SURFACES))
"""Paths that need no credentials."""


class Documented(FastAPI):
    """An application whose OpenAPI document is completed by `contract`."""

    @override
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            # Imported at the first call: no other request needs the examples.
            from services.gateway import contract

            self.openapi_schema = contract.complete(super().openapi())
        return self.openapi_schema


def app(rooms: Rooms) -> FastAPI:
    """Return the application of a gateway."""
    settings, sessions = rooms.sessions.settings, rooms.sessions
    made = Documented(
        title="Suma", version="1", description=DESCRIPTION, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    made.state.identity, made.state.files, made.state.operators = rooms.identity, rooms.files, rooms.operators
    made.state.sessions = made.state.surfaces = sessions
    for room in (*ROOMS, *SURFACES):
        # Reuse the route objects: `include_router` would copy each, which delays the first request by 150 ms.
        made.router.routes.extend(room.router.routes)
    problem_details.install(made)
    made.add_exception_handler(Denied, denials.handler(sessions.refusals))
    made.add_middleware(ConditionalReads)
    inline = frozenset(path for surface in SURFACES for path in surface.inline)
    made.add_middleware(
        ConcurrencyMiddleware,
        verify=rooms.identity.credentials.verify,
        rates=rooms.rate_limiter,
        limiter=sessions.concurrency,
        settings=settings,
        public=PUBLIC,
        keeps_body=tuple(path for surface in SURFACES for path in surface.keeps_body),
        inline=inline,
    )
    reserved = {route.path.split("/")[1] for route in made.router.routes if isinstance(route, (Route, Mount))}
    made.add_middleware(WebApp, folder=settings.web, reserved=reserved)
    made.add_middleware(RequestGuard, settings=settings, refusals=sessions.refusals, inline=inline)
    made.add_middleware(
        ProtocolErrors, translations=tuple(surface.translate for surface in SURFACES if surface.translate is not None)
    )
    made.add_middleware(PlainRequests)
    return made
