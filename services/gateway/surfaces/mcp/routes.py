"""The route of MCP. It is all that is imported at start-up: the first request imports the rest, in a thread."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from services.gateway.http.urls import MCP
from services.gateway.surfaces.loading import served
from services.gateway.surfaces.mcp import problems
from services.gateway.surfaces.surface import Surface


class _Mcp:
    """The endpoint of the application that serves a request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = route
        endpoint = await served(scope["app"].state.surfaces, "services.gateway.surfaces.mcp.endpoint:Endpoint")
        await endpoint(scope, receive, send)


route = Route(MCP, _Mcp(), methods=["GET", "POST", "DELETE"], name="mcp")


SURFACE = Surface(APIRouter(routes=[route]), translate=problems.translated, keeps_body=(MCP,))
