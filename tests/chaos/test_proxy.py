"""A link passes every byte on, until it is cut, held, or closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from tests.chaos.proxy import Link, Streams

WITHIN = 60.0
LONG = bytes(range(256)) * 4096


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(1 << 16):
        writer.write(piece)
    writer.close()


@pytest_asyncio.fixture
async def link() -> AsyncIterator[Link]:
    """To a server that says everything again. Nobody listens at its first end, which is left out."""
    server = await asyncio.start_server(_echo, "127.0.0.1", 0)
    async with Link("to echo", [1, server.sockets[0].getsockname()[1]]).listening() as link:
        yield link
    server.close()


@asynccontextmanager
async def called(link: Link) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection("127.0.0.1", link.port)
    try:
        async with asyncio.timeout(WITHIN):
            yield reader, writer
    finally:
        writer.close()


async def test_every_byte_is_passed_on_in_both_directions(link: Link) -> None:
    async with called(link) as (reader, writer):
        writer.write(LONG)
        assert await reader.readexactly(len(LONG)) == LONG


async def test_cut_ends_open_connections_and_allows_new_ones(link: Link) -> None:
    async with called(link) as (reader, writer):
        writer.write(b"a")
        await reader.readexactly(1)
        assert link.cut() == 1
        with pytest.raises(ConnectionResetError):
            await reader.read()
    await test_every_byte_is_passed_on_in_both_directions(link)


async def test_held_bytes_arrive_after_the_link_reopens(link: Link) -> None:
    async with called(link) as (reader, writer):
        link.hold()
        writer.write(b"late")
        answer = asyncio.ensure_future(reader.readexactly(4))
        assert not (await asyncio.wait({answer}, timeout=0.1))[0]
        link.flow()
        assert await answer == b"late"


async def test_closed_link_refuses_new_connections(link: Link) -> None:
    link.closed = True
    with pytest.raises(OSError):
        async with called(link) as (reader, _):
            await reader.readexactly(1)
