"""Liveness, readiness that checks dependencies, metrics, and the API's documentation page."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local.ports import free_port
from libs.cache.redis import RedisDeltas, connect
from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.runtime.health import Health
from services.health import healthy
from tests import infrastructure
from tests.chaos.servers import PostgresServer, RedisServer
from tests.infrastructure import AllowAll
from tests.services.gateway.running import RunningGateway, running_gateway, served


async def _ready(home: RunningGateway) -> tuple[int, Any]:
    async with home.client() as http:
        answer = await http.get("/readyz")
    return answer.status_code, answer.json()


@pytest.mark.requirement("A17")
async def test_readiness_names_its_checks_and_the_policy_revision(home: RunningGateway) -> None:
    status, body = await _ready(home)
    assert (status, body["ready"], body["problems"]) == (200, True, [])
    assert set(body["checks"]) == {"postgres", "policy", "bus"}
    assert re.fullmatch("[0-9a-f]{64}", body["checks"]["policy"]["detail"])


class Broken(AllowAll):
    problem = "suma.rego is broken: the old rules stay in force"


class Lawless(AllowAll):
    revision = ""


@pytest.mark.requirement("A8")
@pytest.mark.parametrize(
    ("policy", "says"), [(Broken(), "the old rules stay"), (Lawless(), "no policy bundle is active")]
)
async def test_broken_policy_is_not_ready(gateway_where: Dsns, owner: str, policy: AllowAll, says: str) -> None:
    async with running_gateway(gateway_where, owner, policy=policy) as home:
        status, body = await _ready(home)
    assert (status, body["ready"]) == (503, False)
    assert says in body["problems"][0]


async def becomes(home: RunningGateway, name: str, *, ok: bool) -> tuple[int, Any]:
    """Return the readiness that reports this state of a dependency, within two seconds."""
    async with asyncio.timeout(60):
        while (said := await _ready(home))[1]["checks"][name]["ok"] is not ok:
            await asyncio.sleep(0.05)
    return said


async def ready(home: RunningGateway) -> None:
    """Return once the gateway is ready; on a busy machine another dependency may be late to answer."""
    async with asyncio.timeout(60):
        while (await _ready(home))[0] != 200:
            await asyncio.sleep(0.05)


@pytest.mark.requirement("A17")
async def test_readiness_follows_a_restart_of_postgres(tmp_path: Path, owner: str) -> None:
    server = PostgresServer(tmp_path / "postgres")
    await server.start()
    where = infrastructure.dsns(Postgres(tmp_path / "postgres"), "suma")
    async with running_gateway(where, owner) as home:
        await becomes(home, "postgres", ok=True)
        await server.stop()
        status, body = await becomes(home, "postgres", ok=False)
        assert (status, body["ready"], body["level"]) == (503, False, "severe")
        await server.start()
        await becomes(home, "postgres", ok=True)
        await ready(home)
    await server.close()


@pytest.mark.requirement("A17")
async def test_readiness_follows_an_outage_of_redis(gateway_where: Dsns, owner: str, tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis")
    await server.start()
    async with (
        connect(f"unix://{server.end}") as client,
        running_gateway(gateway_where, owner, deltas=RedisDeltas(client)) as home,
    ):
        await becomes(home, "redis", ok=True)
        await ready(home)
        await server.kill()
        assert (await becomes(home, "redis", ok=False))[0] == 503
        await server.start()
        await becomes(home, "redis", ok=True)
        await ready(home)
    await server.close()


async def test_inessential_outage_degrades_but_stays_ready(gateway_where: Dsns, owner: str, tmp_path: Path) -> None:
    nowhere = f"unix://{tmp_path / 'nobody.sock'}"
    async with (
        connect(nowhere) as client,
        running_gateway(gateway_where, owner, deltas=RedisDeltas(client), essential=frozenset({"postgres"})) as home,
    ):
        status, body = await becomes(home, "redis", ok=False)
    assert (status, body["ready"], body["problems"]) == (200, True, [])
    assert (body["level"], body["checks"]["redis"]["level"]) == ("severe", "severe")


async def test_readiness_reports_problems_of_the_host(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner) as home:
        home.service.started(lambda: ["audit_worker stopped at …"], home.running.health)
        status, body = await _ready(home)
    assert (status, body["problems"]) == (503, ["audit_worker stopped at …"])


async def test_health_under_v1_is_the_same_with_a_key(http: httpx.AsyncClient) -> None:
    assert (await http.get("/v1/health")).json()["ready"] is True


async def test_each_service_is_asked_in_its_own_process(gateway_where: Dsns, owner: str) -> None:
    clients = dict[str, Callable[[], httpx.AsyncClient]]()
    async with running_gateway(gateway_where, owner, policy=AllowAll(), clients=clients) as home, home.client() as http:
        well = healthy(None, list, Health(home.platform))
        ailing = healthy(None, lambda: ["audit_worker stopped"], Health(home.platform))
        clients.update(gateway=home.client, tool_executor=_in_process(well), audit_worker=_in_process(ailing))
        clients["memory_service"] = lambda: httpx.AsyncClient(base_url=f"http://127.0.0.1:{free_port()}")
        services = (await http.get("/v1/health/services")).json()["services"]
    found = {each["service"]: (each["state"], each["problems"]) for each in services}
    assert found["gateway"] == found["tool_executor"] == ("ready", [])
    assert found["audit_worker"] == ("not_ready", ["audit_worker stopped"])
    assert found["memory_service"] == ("down", ["memory_service: ConnectError"])


def _in_process(app: Any) -> Callable[[], httpx.AsyncClient]:
    return lambda: httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


@pytest.mark.requirement("S3-60")
async def test_metrics_have_the_prometheus_format(http: httpx.AsyncClient) -> None:
    answer = await http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "gateway_sse_connections 0.0" in answer.text
    assert "suma_writer_batch_changesets_count" in answer.text


async def test_docs_page_lists_every_route_and_fetches_nothing(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    page = await http.get("/docs")

    assert page.headers["content-type"].startswith("text/html")
    assert all(path in page.text for path in document["paths"])
    assert "<script" not in page.text
    assert re.findall(r"(?:src|href)=(\S+?)>", page.text) == ["/openapi.json"]


async def test_every_route_documents_its_problems(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    described = [operation for methods in document["paths"].values() for operation in methods.values()]
    assert all("description" in operation or "summary" in operation for operation in described)
    assert document["components"]["schemas"]["Problem"]["required"] == ["type", "title", "status", "detail", "code"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/v1/models", "/docs", "/metrics"])
async def test_monitors_may_ask_by_head(home: RunningGateway, path: str) -> None:
    async with served(home) as url, httpx.AsyncClient(headers={"Authorization": f"Bearer {home.owner}"}) as http:
        head, whole = await http.head(url + path), await http.get(url + path)
    assert (head.status_code, head.content, head.headers["content-type"]) == (200, b"", whole.headers["content-type"])


@pytest.mark.parametrize("path", ["/v1/models/", "/v1/me/", "/readyz/", "/docs//"])
async def test_slash_at_the_end_changes_nothing(http: httpx.AsyncClient, path: str) -> None:
    assert (await http.get(path)).status_code == (await http.get(path.rstrip("/"))).status_code == 200
