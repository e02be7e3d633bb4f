"""What there is to work with: tools and skills, as the tool executor has them."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from libs.clients.calls import call
from libs.events.topics import EXECUTOR
from services.gateway.api.gateway import Gateway, Here
from services.gateway.api.security import Caller

router = APIRouter(tags=["catalogue"])


@router.get("/v1/tools")
async def tools(here: Here, who: Caller) -> Response:
    """The tools, with their schemas, effect classes and what undoing them means."""
    return await _asked(here, who.tenant, "tools")


@router.get("/v1/skills")
async def skills(here: Here, who: Caller) -> Response:
    """The skills, with their descriptions and versions."""
    return await _asked(here, who.tenant, "skills")


async def _asked(here: Gateway, tenant: str, what: str) -> Response:
    return JSONResponse(await call(here.platform, EXECUTOR, "GET", f"/internal/v1/{what}", tenant=tenant))
