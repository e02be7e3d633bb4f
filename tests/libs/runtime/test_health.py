"""Health checks of real servers that freeze, are reached slowly, or refuse, check by check."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from libs.bus.log import SCHEMA
from libs.cache.redis import RedisDeltas, connect
from libs.database import Dsns, migrate
from libs.embedded.postgres import Postgres
from libs.errors import Unavailable
from libs.resilience import State
from libs.resilience.circuit_breaker import Rules
from libs.runtime.health import FRESH_SECONDS, Health
from libs.runtime.platform import Platform
from tests import infrastructure
from tests.chaos.proxy import Link
from tests.chaos.servers import PostgresServer, RedisServer

SLOW = "slow: "
ASK_SECONDS = 0.5
"""A third of the usual time."""


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


async def _away() -> None:
    raise Unavailable


@dataclass
class Watched:
    """A process's health, the Redis that it checks, and the connection between them."""

    platform: Platform
    health: Health
    redis: RedisServer
    link: Link
    clock: Clock

    async def look(self, name: str = "redis") -> str:
        """Return the result of one check: `ok`, `slow` or `gone`."""
        await self.health.look()
        check = self.health.checks[name]
        assert check.ok is not any(said.startswith(f"{name}: ") for said in self.health.problems())
        return ("slow" if check.detail.startswith(SLOW) else "ok") if check.ok else "gone"

    async def well(self, name: str = "redis") -> None:
        """Wait until the result is `ok`."""
        async with asyncio.timeout(60):
            while await self.look(name) != "ok":
                pass


@asynccontextmanager
async def watching(where: Dsns, folder: Path) -> AsyncIterator[Watched]:
    """Begin with everything healthy; at the end restart Redis, whatever the test did to it."""
    redis, clock = RedisServer(folder / "redis"), Clock()
    async with AsyncExitStack() as stack:
        await redis.start()
        stack.push_async_callback(redis.close)
        stack.push_async_callback(redis.resume)
        link = await stack.enter_async_context(Link("redis", [redis.end]).listening())
        client = await stack.enter_async_context(connect(f"redis://127.0.0.1:{link.port}"))
        platform = await stack.enter_async_context(infrastructure.platform(where, deltas=RedisDeltas(client)))
        made = Watched(platform, Health(platform, now=clock, ask_seconds=ASK_SECONDS), redis, link, clock)
        await made.well()
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def watched(where: Dsns, tmp_path: Path) -> AsyncIterator[Watched]:
    async with watching(where, tmp_path) as made:
        yield made


@pytest_asyncio.fixture
async def postgres(tmp_path: Path) -> AsyncIterator[PostgresServer]:
    """Yield a server for this test alone."""
    server = PostgresServer(tmp_path / "postgres")
    await server.start()
    yield server
    await server.resume()
    await server.close()


@pytest.mark.requirement("A17")
async def test_frozen_redis_is_slow_at_first_then_down(watched: Watched) -> None:
    await watched.redis.pause()
    assert [await watched.look() for _ in range(3)] == ["slow", "gone", "gone"]
    await watched.redis.resume()
    await watched.well()


@pytest.mark.requirement("A17")
async def test_frozen_postgres_is_slow_at_first_then_down(postgres: PostgresServer, tmp_path: Path) -> None:
    where = infrastructure.dsns(Postgres(tmp_path / "postgres"), "suma")
    await migrate(where.owner, SCHEMA)
    async with watching(where, tmp_path) as watched:
        await watched.well("postgres")
        await postgres.pause()
        assert [await watched.look("postgres") for _ in range(3)] == ["slow", "gone", "gone"]
        await postgres.resume()
        await watched.well("postgres")


@pytest.mark.requirement("A17")
async def test_an_answer_resets_the_silence_count(watched: Watched) -> None:
    seen = []
    for _ in range(3):
        watched.link.hold()
        seen.append(await watched.look())
        watched.link.flow()
        await watched.well()
    assert seen == ["slow"] * 3


async def test_lasting_slowness_is_down_until_answers_are_fast(
    watched: Watched,
) -> None:
    watched.link.delay = ASK_SECONDS
    assert [await watched.look() for _ in range(2)] == ["slow", "gone"]
    watched.link.delay = 0.0
    await watched.well()


@pytest.mark.requirement("A17", "A8")
async def test_refused_dependency_is_down_at_once_and_while_silent(watched: Watched) -> None:
    watched.link.closed = True
    watched.link.cut()
    assert await watched.look() == "gone"
    watched.link.closed = False
    watched.link.hold()
    assert await watched.look() == "gone"
    watched.link.flow()
    await watched.well()


@pytest.mark.requirement("A8")
async def test_answer_but_not_silence_closes_the_circuit(watched: Watched) -> None:
    guard = watched.platform.guarded_calls.to("redis")
    for _ in range(Rules().failures):
        with pytest.raises(Unavailable):
            await guard.call(_away)
    watched.link.hold()
    assert await watched.look() == "slow"
    assert guard.state is State.OPEN
    watched.link.flow()
    await watched.well()
    assert guard.state is not State.OPEN


@pytest.mark.requirement("A17")
async def test_answer_before_a_stall_does_not_excuse_silence(watched: Watched) -> None:
    await watched.redis.pause()
    watched.clock.now += FRESH_SECONDS
    assert await watched.look() == "gone"
