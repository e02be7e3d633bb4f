"""Slow clients: a slowly sent body, with or without a key, blocks no other tenant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing

import httpx
import pytest

from libs.database import Dsns
from services import http_server
from services.connections import Bounds
from tests.services.gateway.running import RunningGateway, running_gateway, served

SLOW = 600
"""More than `requests_most`, 512 concurrent requests of a process."""
HEAD = "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n{}\r\n"


@asynccontextmanager
async def slow_bodies(url: str, key: str | None, count: int = SLOW) -> AsyncIterator[list[asyncio.StreamReader]]:
    """Open connections that have each sent one byte of their body."""
    head = HEAD.format(f"Authorization: Bearer {key}\r\n" if key else "").encode()
    host, port = httpx.URL(url).host, httpx.URL(url).port
    async with AsyncExitStack() as stack:
        readers = []
        for _ in range(count):
            reader, writer = await asyncio.open_connection(host, port)
            stack.callback(writer.close)
            writer.write(head + b"{")
            readers.append(reader)
        yield readers


async def answers(home: RunningGateway, url: str, times: int = 20) -> set[int]:
    headers = {"Authorization": f"Bearer {home.owner}"}
    async with httpx.AsyncClient(base_url=url, headers=headers) as http:
        return {(await http.post("/v1/sessions", json={})).status_code for _ in range(times)}


@pytest.mark.requirement("A20")
async def test_slow_bodies_without_a_key_do_not_block_others(home: RunningGateway) -> None:
    async with served(home) as url, slow_bodies(url, None):
        assert await answers(home, url) == {201}


async def test_slow_bodies_of_one_tenant_do_not_block_another(home: RunningGateway) -> None:
    async with served(home) as url, slow_bodies(url, await home.key("chat", tenant="other")):
        assert await answers(home, url) == {201}


async def test_a_request_without_a_key_is_refused_before_its_body(home: RunningGateway) -> None:
    async with served(home) as url, slow_bodies(url, None, 1) as (reader,):
        assert (await asyncio.wait_for(reader.readline(), 10)).startswith(b"HTTP/1.1 401 ")


async def test_incomplete_body_is_abandoned_without_a_trace(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"requests_most": 1}) as home:
        with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as door:
            bounds = Bounds(body_seconds=0.2)
            async with (
                http_server.serving(home.app, door, bounds=bounds),
                slow_bodies(http_server.url_of(door), home.owner, 3) as readers,
            ):
                for reader in readers:
                    assert (await asyncio.wait_for(reader.readline(), 10)).startswith(b"HTTP/1.1 408 ")
                assert await answers(home, http_server.url_of(door), 1) == {201}
