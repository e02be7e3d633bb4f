"""Liveness, readiness that really asks, metrics, and the page that documents the API."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from libs.cache.redis import RedisDeltas, connect
from libs.database import Dsns
from libs.runtime.embedded.redis import Redis
from services.gateway.service import watch
from tests.infrastructure import AllowAll
from tests.services.gateway.house import House, house


async def _ready(home: House) -> tuple[int, Any]:
    async with home.client() as http:
        answer = await http.get("/readyz")
    return answer.status_code, answer.json()


@pytest.mark.requirement("A17")
async def test_readiness_names_what_was_asked_and_the_laws_revision(home: House) -> None:
    status, body = await _ready(home)
    assert (status, body["ready"], body["problems"]) == (200, True, [])
    assert set(body["checks"]) == {"postgres", "policy", "bus"}
    assert re.fullmatch("[0-9a-f]{64}", body["checks"]["policy"]["detail"])


class Broken(AllowAll):
    problem = "suma.rego is broken: the old rules stay in force"


class Lawless(AllowAll):
    revision = ""


@pytest.mark.requirement("A8")
@pytest.mark.parametrize(("policy", "says"), [(Broken(), "the old rules stay"), (Lawless(), "there is no bundle")])
async def test_a_law_in_trouble_is_not_ready(gateway_where: Dsns, owner: str, policy: AllowAll, says: str) -> None:
    async with house(gateway_where, owner, policy=policy) as home:
        status, body = await _ready(home)
    assert (status, body["ready"]) == (503, False)
    assert says in body["problems"][0]


@pytest.mark.requirement("A17")
async def test_a_postgres_that_is_away_is_said(gateway_where: Dsns, owner: str) -> None:
    async with house(gateway_where, owner, settings={"ready_seconds": 0.5}) as home:
        await home.platform.database.close()
        nowhere = Dsns(*("postgresql://suma_app@localhost:1/nowhere",) * 3)
        home.platform.database.dsns = nowhere
        status, body = await _ready(home)
        home.platform.database.dsns = gateway_where
    assert (status, body["checks"]["postgres"]["ok"]) == (503, False)


@pytest.mark.requirement("A17")
async def test_redis_is_asked_where_there_is_one(gateway_where: Dsns, owner: str, tmp_path: Path) -> None:
    folder = tmp_path / "redis"
    folder.mkdir(mode=0o700)
    async with (
        Redis(folder) as server,
        connect(server.url) as client,
        house(gateway_where, owner, deltas=RedisDeltas(client)) as home,
    ):
        with_it = await _ready(home)
        await client.shutdown(nosave=True)
        without_it = await _ready(home)
    assert with_it[0] == 200
    assert (without_it[0], without_it[1]["checks"]["redis"]["ok"]) == (503, False)


async def test_what_the_host_knows_is_told_too(gateway_where: Dsns, owner: str) -> None:
    async with house(gateway_where, owner) as home:
        watch(home.service, lambda: ["audit_worker stopped at …"])
        status, body = await _ready(home)
    assert (status, body["problems"]) == (503, ["audit_worker stopped at …"])


async def test_health_under_v1_is_the_same_with_a_key(http: httpx.AsyncClient) -> None:
    assert (await http.get("/v1/health")).json()["ready"] is True


@pytest.mark.requirement("S3-60")
async def test_the_metrics_are_those_of_prometheus(http: httpx.AsyncClient) -> None:
    answer = await http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "gateway_sse_connections 0.0" in answer.text
    assert "suma_writer_batch_changesets_count" in answer.text


async def test_the_page_of_the_api_names_every_route_and_fetches_nothing(http: httpx.AsyncClient) -> None:
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
