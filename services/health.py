"""Health endpoints of a process that is not the gateway: liveness, readiness with its problems, and metrics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from libs.runtime import HostGuard

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from libs.runtime import Health


def healthy(
    app: ASGIApp | None,
    problems: Callable[[], Sequence[str]],
    health: Health | None = None,
    *,
    hosts: Collection[str] = ("localhost",),
) -> Starlette:
    """Return an app with `/healthz`, `/readyz` and `/metrics` before the service's own routes, for these `hosts`."""

    async def alive(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> Response:
        found = list(problems())
        known = health.known() if health is not None else {}
        return JSONResponse({"ready": not found, "problems": found, **known}, 503 if found else 200)

    async def counted(request: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    own = [Mount("/", app)] if app is not None else []
    routes = [Route("/healthz", alive), Route("/readyz", ready), Route("/metrics", counted), *own]
    # The guard covers the metrics, too: a web page could read them by DNS rebinding.
    return Starlette(routes=routes, middleware=[Middleware(HostGuard, hosts=hosts)])
