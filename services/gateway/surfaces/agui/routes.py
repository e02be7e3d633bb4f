"""The route of AG-UI. Nothing else is imported at start-up: the first request imports the rest, in a thread.

Its contract is AG-UI's own specification, so it is not part of Suma's; docs/connect/ag-ui.md explains each event.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from services.gateway.http.bodies import StrictRoute, parsed
from services.gateway.identity.security import Authenticated
from services.gateway.surfaces.context import Here
from services.gateway.surfaces.loading import loaded
from services.gateway.surfaces.surface import Surface

router = APIRouter(route_class=StrictRoute, include_in_schema=False)
RUNS = "services.gateway.surfaces.agui.runs"


@router.post("/agui")
async def run(request: Request, here: Here, who: Authenticated) -> Any:
    """Run a turn, or answer what an earlier run asked; return its events."""
    # The request does not keep its body, which may hold files.
    body = parsed(b"".join([chunk async for chunk in request.stream()]))
    return await (await loaded(RUNS)).run(here, who, request, body)


SURFACE = Surface(router, inline=frozenset(("/agui",)))
