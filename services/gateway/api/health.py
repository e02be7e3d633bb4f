"""Whether we live, whether we are ready (each dependency is really asked), and what we measure."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from libs.cache import START, Stream
from libs.errors import SumaError
from services.gateway.api.errors import Problem
from services.gateway.api.gateway import Gateway, Here
from services.gateway.api.models import Check, Readiness
from services.gateway.api.security import Caller
from services.gateway.store import GROUP

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def live() -> dict[str, str]:
    """The process answers."""
    return {"status": "alive"}


@router.get("/readyz", response_model=Readiness, responses={503: {"model": Readiness}})
async def ready(here: Here) -> Response:
    """Every dependency answers, every lane moves. 503 with the reasons when not."""
    state = await readiness(here)
    return Response(state.model_dump_json(), 200 if state.ready else 503, media_type="application/json")


@router.get("/v1/health", response_model=Readiness, responses={503: {"model": Readiness}, 401: {"model": Problem}})
async def health(here: Here, who: Caller) -> Response:
    """The same, for who holds a key."""
    return await ready(here)


@router.get("/metrics", include_in_schema=False)
async def measured() -> Response:
    return Response(await asyncio.to_thread(generate_latest), media_type=CONTENT_TYPE_LATEST)


async def readiness(here: Gateway) -> Readiness:
    asked: dict[str, Callable[[Gateway], Awaitable[Check]]] = {"postgres": _postgres, "policy": _policy, "bus": _bus}
    if here.platform.deltas is not None:
        asked["redis"] = _redis
    found = await asyncio.gather(*(_in_time(here, ask) for ask in asked.values()))
    checks = dict(zip(asked, found, strict=True))
    problems = list(here.problems()) + [f"{name}: {check.detail}" for name, check in checks.items() if not check.ok]
    return Readiness(ready=not problems, checks=checks, problems=problems)


async def _in_time(here: Gateway, ask: Callable[[Gateway], Awaitable[Check]]) -> Check:
    try:
        async with asyncio.timeout(here.settings.ready_seconds):
            return await ask(here)
    except TimeoutError:
        return Check(ok=False, detail=f"no answer within {here.settings.ready_seconds:g} s")
    except SumaError as error:
        return Check(ok=False, detail=str(error))


async def _postgres(here: Gateway) -> Check:
    await here.store.alive()
    return Check(ok=True)


async def _policy(here: Gateway) -> Check:
    policy = here.platform.policy
    if policy.problem is not None:
        return Check(ok=False, detail=policy.problem)
    return Check(ok=bool(policy.revision), detail=policy.revision or "there is no bundle")


async def _bus(here: Gateway) -> Check:
    behind = sum((await here.platform.bus.lag([GROUP])).values())
    return Check(ok=behind <= here.settings.lag_most, detail=f"{behind} records behind")


async def _redis(here: Gateway) -> Check:
    await here.platform.deltas.read({Stream("", "readiness"): START}, block=0)
    return Check(ok=True)
