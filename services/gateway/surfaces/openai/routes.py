"""The routes of OpenAI's API. Nothing else is imported at start-up: the first request imports the rest.

Their contract is OpenAI's own API reference, so they are not part of Suma's; docs/connect/openai.md lists the
differences.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from services.gateway.http.bodies import StrictRoute, parsed
from services.gateway.identity.security import Authenticated, CanBrowse
from services.gateway.surfaces.context import Here
from services.gateway.surfaces.loading import loaded
from services.gateway.surfaces.openai import problems
from services.gateway.surfaces.surface import Surface

router = APIRouter(route_class=StrictRoute, include_in_schema=False)


@router.head("/v1/models", include_in_schema=False)
@router.get("/v1/models")
async def models(who: CanBrowse) -> Response:
    """List the one model."""
    return JSONResponse((await _loaded("models")).listed())


@router.get("/v1/models/{model}")
async def model(who: CanBrowse, model: str) -> Response:
    """Return a model."""
    return JSONResponse((await _loaded("models")).found(model))


@router.post("/v1/chat/completions")
async def chat(request: Request, here: Here, who: Authenticated) -> Any:
    """Send the last message of a chat; return the turn's answer or question."""
    return await (await _loaded("chat")).create(here, who, request, await _body(request))


@router.post("/v1/responses")
async def respond(request: Request, here: Here, who: Authenticated) -> Any:
    """Begin a response, or answer what an earlier one asked."""
    return await (await _loaded("responses")).create(here, who, request, await _body(request))


@router.get("/v1/responses/{response}")
async def retrieve(request: Request, here: Here, who: Authenticated, response: str) -> Any:
    """Return a response's present state, or its events."""
    return await (await _loaded("responses")).retrieve(here, who, request, response)


@router.post("/v1/responses/{response}/cancel")
async def cancel(request: Request, here: Here, who: Authenticated, response: str) -> Any:
    """Cancel a response's turn."""
    return await (await _loaded("responses")).cancel(here, who, request, response)


@router.delete("/v1/responses/{response}")
async def delete(request: Request, here: Here, who: Authenticated, response: str) -> Any:
    """Refuse: every turn is kept."""
    return await (await _loaded("responses")).delete(here, who, request, response)


async def _body(request: Request) -> Any:
    """Return the body, which the request does not keep: it may hold files, and a stream of its answer lasts."""
    return parsed(b"".join([chunk async for chunk in request.stream()]))


async def _loaded(module: str) -> Any:
    return await loaded(f"services.gateway.surfaces.openai.{module}")


SURFACE = Surface(router, translate=problems.translated, inline=frozenset(("/v1/chat/completions", "/v1/responses")))
