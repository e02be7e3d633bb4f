"""The conformance suites of MCP against the real endpoint, and against a server with all their fixtures.

Both are behind the gateway's own identity, limits and checks of Host and Origin. The suites send no credentials, so
one layer before the gateway adds a key.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from typing import Any

import pytest
import pytest_asyncio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from deploy.local.cache import Unprovided
from libs.embedded.postgres import Postgres
from libs.keys import Keys
from libs.policy import Policy
from services import http_server
from services.gateway.surfaces.mcp.endpoint import trimmed
from tests import infrastructure
from tests.infrastructure import mcp_conformance
from tests.infrastructure.mcp_conformance import Judged
from tests.services.gateway.running import running_gateway
from tests.services.gateway.surfaces.mcp import scenarios
from tests.services.gateway.surfaces.mcp.everything import everything
from tests.support import platform

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")

RELEASE, PREVIEW = mcp_conformance.VERSIONS
RUNS: Mapping[str, tuple[str, Sequence[str]]] = {
    "release": (RELEASE, ()),
    "preview 2025-11-25": (PREVIEW, ("--requirements", "2025-11-25")),
    "preview 2026-07-28": (PREVIEW, ("--requirements", "2026-07-28")),
}
FORCED = ("--spec-version", "2026-07-28", "--force")
"""An extension is on no revision's list, but needs one for its wire."""
FIXTURES = "/mcp/conformance"


class WithKey:
    """An application before which every request without credentials gets a key."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app, self._key = app, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not any(name == b"authorization" for name, _ in scope["headers"]):
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", f"Bearer {self._key}".encode())]}
        await self._app(scope, receive, send)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def url(server: Postgres, gateway_template: str, rules: Policy, keys: Keys, owner: str) -> AsyncIterator[str]:
    """A gateway with the fixtures beside its own endpoint."""
    try:
        await asyncio.to_thread(mcp_conformance.packages)
    except Unprovided as reason:
        pytest.skip(str(reason))
    ports: dict[str, Any] = {"policy": rules, "keys": keys, "skills": platform.skills()}
    manager = StreamableHTTPSessionManager(everything())
    async with (
        infrastructure.fresh_database(server, gateway_template) as where,
        running_gateway(where, owner, **ports) as home,
        running(manager),
    ):
        mounted = Route(FIXTURES, _Mounted(manager), methods=["GET", "POST", "DELETE"])
        home.app.router.routes.append(mounted)
        with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as door:
            async with http_server.serving(WithKey(home.app, owner), door):
                yield http_server.url_of(door).replace("127.0.0.1", "localhost")


@asynccontextmanager
async def running(manager: StreamableHTTPSessionManager) -> AsyncIterator[None]:
    """Run the manager in a task of its own: a fixture may end in another task than it began in."""
    begun, over = asyncio.Event(), asyncio.Event()

    async def run() -> None:
        async with manager.run():
            begun.set()
            await over.wait()

    task = asyncio.create_task(run())
    await begun.wait()
    try:
        yield
    finally:
        over.set()
        await task


class _Mounted:
    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(trimmed(scope), receive, send)


Note = Callable[[str, object], None]


async def judged(url: str, run: str, *options: str) -> Judged:
    version, chosen = RUNS[run]
    return await asyncio.to_thread(mcp_conformance.judged, version, url, *(options or chosen))


@pytest.mark.parametrize("run", RUNS)
async def test_endpoint_passes_the_scenarios_for_any_server(url: str, run: str, record_property: Note) -> None:
    found = await judged(f"{url}/mcp", run)
    assert found.scenarios.keys() == scenarios.RUNS[run]
    record_property(f"MCP conformance, {run}, /mcp", found.counts)
    assert found.failing.keys() == scenarios.RUNS[run] & scenarios.LEFT_OUT.keys(), found.failing
    assert found.failing.get(scenarios.STATELESS, scenarios.DIAGNOSTIC) == scenarios.DIAGNOSTIC


@pytest.mark.parametrize("run", RUNS)
async def test_fixtures_pass_every_scenario(url: str, run: str, record_property: Note) -> None:
    found = await judged(f"{url}{FIXTURES}", run)
    assert found.scenarios.keys() == scenarios.RUNS[run]
    record_property(f"MCP conformance, {run}, fixtures", found.counts)
    assert found.failing.keys() == scenarios.RUNS[run] & scenarios.NO_TASKS.keys(), found.failing
    assert found.passed, "a scenario that counts has failed"


@pytest.mark.parametrize("scenario", sorted(scenarios.SKILLS))
async def test_endpoint_passes_the_skills_extension(url: str, scenario: str, record_property: Note) -> None:
    found = await judged(f"{url}/mcp", "preview 2026-07-28", "--scenario", scenario, *FORCED)
    assert (list(found.scenarios), found.failing, found.passed) == ([scenario], {}, True)
    record_property(f"MCP conformance, {scenario}, /mcp", found.counts)


async def test_endpoint_declares_no_directories_of_skills(url: str) -> None:
    found = await judged(f"{url}/mcp", "preview 2026-07-28", "--scenario", scenarios.DIRECTORY, *FORCED)
    checks = {check["id"]: check["status"] for check in found.scenarios[scenarios.DIRECTORY]}
    skipped = {name for name, status in checks.items() if status == "SKIPPED"}
    assert checks.keys() - skipped == {"wire-schema-valid"}
