"""The board on a real Redis: notices last an hour, and a lost Redis delays nothing."""

from __future__ import annotations

import json

import pytest
from redis.asyncio import Redis

from libs.cache import Notice
from libs.cache.redis import RedisBoard, connect
from libs.errors import Unavailable
from tests.libs.cache.servers import Server

NOTICE = Notice(
    id="e1",
    tenant="acme",
    group="tool_executor",
    topic="tool.requests",
    type="suma.tool.requested.v1",
    session="s",
    turn="t",
    error="no answer",
    attempts=1,
)


@pytest.mark.requirement("S3-41")
async def test_notice_stays_an_hour_under_its_event_id(redis: Redis) -> None:
    await RedisBoard(redis).put(NOTICE)
    assert 3590 <= await redis.ttl("policy:requeue:e1") <= 3600
    shown = json.loads(await redis.get("policy:requeue:e1") or "null")
    assert (shown["tenant"], shown["group"], shown["attempts"]) == ("acme", "tool_executor", 1)


@pytest.mark.requirement("S3-41")
async def test_notice_can_be_dropped_twice(redis: Redis) -> None:
    board = RedisBoard(redis)
    await board.put(NOTICE)
    for _ in range(2):
        await board.drop(NOTICE.id)
    assert await redis.keys("policy:requeue:*") == []


async def test_a_redis_that_is_gone_is_unavailable(mortal: Server) -> None:
    async with connect(mortal.url) as client:
        mortal.stop()
        with pytest.raises(Unavailable):
            await RedisBoard(client, timeout=0.5).put(NOTICE)
