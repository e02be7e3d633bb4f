"""The route of MCP. It is all that is imported at start-up: the first request imports the rest, in a thread."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, cast

from fastapi import APIRouter
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from services.gateway.domain.urls import MCP

if TYPE_CHECKING:
    from services.gateway.api.context import Gateway
    from services.gateway.surfaces.mcp.endpoint import Endpoint


class _Mcp:
    """The endpoint of the application that serves a request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = route
        endpoint = await _endpoint(scope["app"].state.gateway)
        await endpoint(scope, receive, send)


async def _endpoint(here: Gateway) -> Endpoint:
    if here.mcp is None:
        # The SDK takes half a second to import, which would hold up every other request.
        module = await asyncio.to_thread(import_module, "services.gateway.surfaces.mcp.endpoint")
        here.mcp = module.Endpoint(here)
    return cast("Endpoint", here.mcp)


route = Route(MCP, _Mcp(), methods=["GET", "POST", "DELETE"], name="mcp")
router = APIRouter()
router.routes.append(route)
