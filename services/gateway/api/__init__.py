"""The gateway's HTTP API: sessions, messages, events, approvals, workspace, catalogue, health (architecture.md 14)."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import Mount, Route

from libs.errors import Denied
from libs.runtime import problem_details
from services.gateway.api import (
    aliases,
    approvals,
    assets,
    audit,
    budgets,
    catalogue,
    denials,
    dlq,
    docs,
    effects,
    health,
    keys,
    oauth,
    operations,
    sessions,
    signin,
    socket,
    stream,
    tenants,
    uploads,
    workspace,
)
from services.gateway.api.context import Gateway
from services.gateway.api.middleware.concurrency import ConcurrencyMiddleware
from services.gateway.api.middleware.conditional_reads import ConditionalReads
from services.gateway.api.middleware.plain_requests import PlainRequests
from services.gateway.api.middleware.protocol_errors import ProtocolErrors
from services.gateway.api.middleware.request_guard import RequestGuard
from services.gateway.api.middleware.web_app import WebApp
from services.gateway.surfaces.a2a import problems as a2a_problems
from services.gateway.surfaces.a2a import routes as a2a
from services.gateway.surfaces.agui import routes as agui
from services.gateway.surfaces.mcp import problems as mcp_problems
from services.gateway.surfaces.mcp import routes as mcp
from services.gateway.surfaces.openai import problems as openai_problems
from services.gateway.surfaces.openai import routes as openai

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
    budgets,
    aliases,
    audit,
    dlq,
    operations,
    keys,
    tenants,
    oauth,
    openai,
    agui,
    health,
    docs,
    a2a,
    mcp,
)
TRANSLATIONS = (a2a_problems.translated, mcp_problems.translated, openai_problems.translated)
"""Error bodies of the protocols that are served below their own paths."""


def app(gateway: Gateway) -> FastAPI:
    """Return the application of a gateway."""
    made = docs.Documented(
        title="Suma", version="1", description=DESCRIPTION, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    made.state.gateway = gateway
    for room in ROOMS:
        # Reuse the route objects: `include_router` would copy each, which delays the first request by 150 ms.
        made.router.routes.extend(room.router.routes)
    problem_details.install(made)
    made.add_exception_handler(Denied, denials.handler(gateway.refusals))
    made.add_middleware(ConditionalReads)
    made.add_middleware(ConcurrencyMiddleware, gateway=gateway)
    reserved = {route.path.split("/")[1] for route in made.router.routes if isinstance(route, (Route, Mount))}
    made.add_middleware(WebApp, folder=gateway.settings.web, reserved=reserved)
    made.add_middleware(RequestGuard, settings=gateway.settings, refusals=gateway.refusals)
    made.add_middleware(ProtocolErrors, translations=TRANSLATIONS)
    made.add_middleware(PlainRequests)
    return made
