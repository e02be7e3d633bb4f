"""PostgreSQL and Redis under a running platform, stopped and started: what still works, what is told, nothing lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import pytest_asyncio

from libs.embedded.postgres import Postgres
from tests import infrastructure
from tests.chaos.servers import PostgresServer, RedisServer
from tests.journeys.installation import Installation, installation


@dataclass
class Stage:
    installation: Installation
    postgres: PostgresServer
    redis: RedisServer


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A platform in a process of its own, on servers that are not."""
    place = tmp_path_factory.mktemp("degraded")
    postgres, redis = PostgresServer(place / "postgres"), RedisServer(place / "redis")
    async with AsyncExitStack() as stack:
        for server in (postgres, redis):
            await server.start()
            stack.push_async_callback(server.close)
        where = infrastructure.dsns(Postgres(place / "postgres"), "suma")
        found = {
            "SUMA_DATABASE_URL": where.app,
            "SUMA_DATABASE_BUS_URL": where.bus,
            "SUMA_DATABASE_OWNER_URL": where.owner,
            "SUMA_REDIS_URL": f"unix://{redis.end}",
            "SUMA_GATEWAY__REQUESTS_PER_MINUTE_EACH": "100000",
            "SUMA_GATEWAY__REQUESTS_PER_MINUTE_ROUTE": "100000",
        }
        made = await stack.enter_async_context(installation(place / "suma", **found))
        await made.start()
        yield Stage(made, postgres, redis)


async def told(api: httpx.AsyncClient, name: str, *, ok: bool) -> dict[str, Any]:
    """What readiness says once it tells this of a server."""
    async with asyncio.timeout(60):
        while True:
            said = dict((await api.get("/readyz")).json())
            if said["checks"][name]["ok"] is ok and (not ok or said["ready"]):
                return said
            await asyncio.sleep(0.05)


async def a_turn(stage: Stage) -> str:
    """What a turn of the command line ends with."""
    (stage.installation.folder / "a.txt").write_text("a")
    said = await stage.installation.suma(
        "run", "list the files", "--in", str(stage.installation.folder), "--yes", "--json"
    )
    events = [json.loads(line) for line in said.out.splitlines()]
    assert [event["type"] for event in events][-1] == "turn.ended", said.err
    return str(events[-1]["data"]["state"])


@pytest.mark.requirement("A17", "S3-43", "S3-58")
async def test_redis_outage_keeps_turns_and_limits(stage: Stage) -> None:
    async with stage.installation.api() as api:
        await told(api, "redis", ok=True)
        await stage.redis.kill()
        away = await told(api, "redis", ok=False)
        assert (away["ready"], away["level"]) == (False, away["checks"]["redis"]["level"])
        assert away["level"] in ("severe", "critical")
        assert await a_turn(stage) == "completed"
        assert (await api.get("/v1/sessions")).status_code == 200
        await stage.redis.start()
        await told(api, "redis", ok=True)
        assert await a_turn(stage) == "completed"
        metrics = (await api.get("/metrics")).text
    assert 'suma_outbound_calls_total{dependency="redis",result="failed"}' in metrics
    assert 'suma_dependency_up{dependency="redis"} 1.0' in metrics


@pytest.mark.requirement("A17")
async def test_frozen_redis_is_skipped_once_circuit_opens(stage: Stage) -> None:
    async with stage.installation.api() as api:
        await told(api, "redis", ok=True)
        await stage.redis.pause()
        away = await told(api, "redis", ok=False)
        while away["checks"]["redis"]["circuit"] != "open":
            assert (await api.get("/v1/sessions")).status_code == 200
            away = await told(api, "redis", ok=False)
        assert (await api.get("/v1/sessions")).status_code == 200
        metrics = (await api.get("/metrics")).text
        await stage.redis.resume()
        await told(api, "redis", ok=True)
        while (await told(api, "redis", ok=True))["checks"]["redis"]["circuit"] != "closed":
            assert (await api.get("/v1/sessions")).status_code == 200
    assert away["level"] == "critical"
    assert 'suma_outbound_calls_total{dependency="redis",result="rejected"}' in metrics


@pytest.mark.requirement("A17", "P1")
async def test_postgres_outage_refuses_messages_and_recovers(stage: Stage) -> None:
    async with stage.installation.api() as api:
        session = (await api.post("/v1/sessions", json={})).json()["session_id"]
        await told(api, "postgres", ok=True)
        async with api.stream("GET", f"/v1/sessions/{session}/events") as stream:
            await stage.postgres.stop()
            away = await told(api, "postgres", ok=False)
            refused = await api.post("/v1/sessions", json={})
            assert (away["ready"], refused.status_code, int(refused.headers["Retry-After"]) >= 1) == (False, 503, True)
            await stage.postgres.start()
            await told(api, "postgres", ok=True)
            said = await api.post(f"/v1/sessions/{session}/messages", json={"text": "hello"})
            assert said.status_code == 202
            async with asyncio.timeout(60):
                async for line in stream.aiter_lines():
                    if line == "event: turn.ended":
                        break
    assert await a_turn(stage) == "completed"
