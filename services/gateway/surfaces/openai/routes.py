"""The routes of OpenAI's API. They are all that is imported at start-up: the first request imports the rest.

Their contract is OpenAI's own API reference, so they are no part of ours; docs/connect/openai.md says what differs.
"""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from services.gateway.api.bodies import StrictRoute
from services.gateway.api.context import Here
from services.gateway.api.security import Authenticated

router = APIRouter(route_class=StrictRoute, include_in_schema=False)


@router.get("/v1/models")
async def models(who: Authenticated) -> Response:
    """List the one model."""
    return JSONResponse((await _loaded("models")).listed())


@router.get("/v1/models/{model}")
async def model(who: Authenticated, model: str) -> Response:
    """Return a model."""
    return JSONResponse((await _loaded("models")).found(model))


@router.post("/v1/chat/completions")
async def chat(request: Request, here: Here, who: Authenticated) -> Any:
    """Send the last message of a chat; return the turn's answer or question."""
    return await (await _loaded("chat")).create(here, who, request, await request.json())


async def _loaded(module: str) -> Any:
    """Return a module of this surface. The first import is slow, and would hold up other requests."""
    name = f"services.gateway.surfaces.openai.{module}"
    return sys.modules.get(name) or await asyncio.to_thread(import_module, name)
