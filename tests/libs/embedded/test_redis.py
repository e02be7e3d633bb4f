from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import redis.asyncio

from libs.embedded.daemon import ServerFailed, command, socket_directory
from libs.embedded.redis import Redis
from tests.libs.embedded.conftest import Killed

KILLED_WHILE_RUNNING = """
    from libs.embedded.redis import Redis
    async def main(data):
        async with Redis(data):
            die()
"""


@asynccontextmanager
async def client(server: Redis) -> AsyncIterator[redis.asyncio.Redis]:
    connected = redis.asyncio.Redis.from_url(server.url, decode_responses=True)
    try:
        yield connected
    finally:
        await connected.aclose()


async def pid(server: Redis) -> int:
    async with client(server) as connected:
        return int((await connected.info("server"))["process_id"])


async def test_redis_answers_and_ends_with_its_context(data: Path) -> None:
    async with Redis(data) as server:
        number = await pid(server)
    assert not command(number)


async def test_redis_listens_on_a_private_socket_only(data: Path) -> None:
    async with Redis(data) as server, client(server) as connected:
        assert (await connected.config_get("port"))["port"] == "0"
    assert socket_directory(data).stat().st_mode & 0o077 == 0


async def test_redis_memory_is_bounded_and_nothing_is_persisted(data: Path) -> None:
    async with Redis(data) as server, client(server) as connected:
        settings = await connected.config_get("*")
        await connected.set("key", "value")
    assert settings["maxmemory"] == str(128 * 1024 * 1024)
    assert (settings["maxmemory-policy"], settings["save"], settings["appendonly"]) == ("allkeys-lru", "", "no")
    assert not [path for path in data.rglob("*") if path.suffix in {".rdb", ".aof"}]


async def test_a_killed_platforms_server_is_adopted_and_stopped_at_exit(data: Path, killed: Killed) -> None:
    killed(KILLED_WHILE_RUNNING)
    async with Redis(data) as server:
        orphan = await pid(server)
        assert str(socket_directory(data)) in command(orphan)
    assert not command(orphan)


async def test_server_killed_with_its_platform_is_restarted(data: Path, killed: Killed) -> None:
    killed(KILLED_WHILE_RUNNING)
    async with Redis(data) as server:
        os.kill(await pid(server), signal.SIGKILL)
        await server.ended()
    async with Redis(data) as server:
        assert await pid(server)


async def test_a_start_that_fails_says_where_to_look(data: Path) -> None:
    (socket_directory(data) / "redis.sock").mkdir()
    with pytest.raises(ServerFailed, match=r"redis\.log"):
        async with Redis(data):
            pass
