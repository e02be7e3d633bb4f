from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis

from libs.cache import Deltas
from libs.cache.redis import RedisDeltas, connect
from tests.libs.cache.servers import Server, running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def mortal() -> Iterator[Server]:
    """Yield a server for this test alone, which it may stop or freeze."""
    with running() as server:
        yield server


@pytest.fixture
async def redis(server: Server) -> AsyncIterator[Redis]:
    async with connect(server.url) as redis:
        await redis.flushall()
        yield redis


@pytest.fixture
def deltas(redis: Redis) -> Deltas:
    return RedisDeltas(redis)
