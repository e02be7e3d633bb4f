"""Liveness, readiness (each dependency is checked in the background) and metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from libs.clients import calls
from services.gateway.identity.security import Authenticated
from services.gateway.operators.context import Here, Operators
from services.gateway.operators.models import Liveness, Readiness, ServiceHealth, ServiceHealthList

router = APIRouter(tags=["health"])

SERVICE_SECONDS = 2.0
"""The longest wait for a service in another process."""


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz")
async def live() -> Liveness:
    """Report that the process runs."""
    return Liveness(status="alive")


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", response_model=Readiness, responses={503: {"model": Readiness}})
async def ready(here: Here) -> Response:
    """Check that every dependency answers and every lane moves. 503 with the reasons otherwise."""
    state = await readiness(here)
    return Response(state.model_dump_json(), 200 if state.ready else 503, media_type="application/json")


@router.get("/v1/health", response_model=Readiness, responses={503: {"model": Readiness}})
async def health(here: Here, who: Authenticated) -> Response:
    """Return the same as `/readyz`, for API clients."""
    return await ready(here)


@router.get("/v1/health/services")
async def service_health(here: Here, who: Authenticated) -> ServiceHealthList:
    """Ask every service for its readiness, at its own address if it runs in another process."""
    own = await readiness(here)
    names = list(dict.fromkeys([*here.platform.clients, *own.services]))
    found = await asyncio.gather(*(_service_health(here, name, own) for name in names))
    return ServiceHealthList(services=found, as_of=here.platform.clock.now())


@router.head("/metrics", include_in_schema=False)
@router.get("/metrics", include_in_schema=False)
async def measured() -> Response:
    return Response(await asyncio.to_thread(generate_latest), media_type=CONTENT_TYPE_LATEST)


async def readiness(here: Operators) -> Readiness:
    """Return the last known state; check now if no background task does."""
    known = here.process.health
    if known.watched_at is None:
        await known.look()
    # The process's own problems may repeat those of its dependencies.
    problems = list(dict.fromkeys([*here.process.problems(), *known.problems()]))
    return Readiness.model_validate({"ready": not problems, "problems": problems, **known.known()})


async def _service_health(here: Operators, name: str, own: Readiness) -> ServiceHealth:
    if name in own.services:
        return _reported(name, own.model_dump())
    try:
        return _reported(name, await calls.readiness(here.platform, name, seconds=SERVICE_SECONDS))
    except calls.ServiceDown as down:
        return ServiceHealth(service=name, state="down", problems=[str(down)])


def _reported(name: str, report: Mapping[str, Any]) -> ServiceHealth:
    facts = {field: report[field] for field in ("pid", "version", "level", "problems") if field in report}
    return ServiceHealth(service=name, state="ready" if report["ready"] else "not_ready", **facts)
