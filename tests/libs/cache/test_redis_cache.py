"""The cache on a real Redis: values expire, tenants are apart, and a lost Redis delays nothing."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from libs.cache.ports import VALUE_MOST
from libs.cache.redis import RedisCache, connect
from libs.errors import Unavailable
from tests.libs.cache.servers import Server


@pytest.mark.requirement("S3-67")
async def test_value_is_kept_for_its_seconds(redis: Redis) -> None:
    cache = RedisCache(redis)
    await cache.put("acme", "outcomes:x", "{}", seconds=300)
    assert 290 <= await redis.ttl("cache:acme:outcomes%3Ax") <= 300
    assert (await cache.get("acme", "outcomes:x"), await cache.get("acme", "outcomes:y")) == ("{}", None)


@pytest.mark.requirement("P8", "A29")
@pytest.mark.parametrize(("tenant", "name"), [("other", "b:c"), ("a:b", "c"), ("", "a:b:c"), ("a%3Ab", "c")])
async def test_no_tenant_reads_the_value_of_another(redis: Redis, tenant: str, name: str) -> None:
    cache = RedisCache(redis)
    await cache.put("a", "b:c", "secret", seconds=300)
    assert await cache.get(tenant, name) is None


async def test_too_large_value_is_not_kept(redis: Redis) -> None:
    cache = RedisCache(redis)
    await cache.put("acme", "large", "x" * (VALUE_MOST + 1), seconds=300)
    assert await cache.get("acme", "large") is None


async def test_frozen_or_lost_redis_is_unavailable(mortal: Server) -> None:
    async with connect(mortal.url) as client:
        cache = RedisCache(client, timeout=0.2)
        with mortal.frozen(), pytest.raises(Unavailable):
            await cache.get("acme", "x")
        mortal.stop()
        with pytest.raises(Unavailable):
            await cache.put("acme", "x", "y", seconds=300)
