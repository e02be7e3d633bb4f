"""Connections: a client that sends slowly, endlessly or nothing at all is cut off, and keeps nobody out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from typing import cast

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect as websocket

from services import http_server
from services.connections import Bounds, Connections

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Stream]]
QUICK = Bounds(head_seconds=0.2, body_seconds=0.2, send_seconds=0.2)
PATIENCE = 60.0
MOST = 20_000_000
"""Bytes: more than the sockets between us hold."""
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
UPGRADE = (
    b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"
    b"\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


async def _hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{len(await request.body())} bytes, {sorted(request.headers)}")


async def _waiting(request: Request) -> PlainTextResponse:
    await asyncio.Event().wait()
    raise AssertionError


APP = Starlette(routes=[Route("/", _hello, methods=["GET", "POST"]), Route("/waiting", _waiting)])


@asynccontextmanager
async def served(bounds: Bounds = QUICK, most: int | None = None, app: Starlette = APP) -> AsyncIterator[Connect]:
    async with AsyncExitStack() as stack:
        taken = stack.enter_context(closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")))
        await stack.enter_async_context(http_server.serving(app, taken, among=Connections(most), bounds=bounds))

        async def connect() -> Stream:
            reader, writer = await asyncio.open_connection(*taken.getsockname()[:2])
            stack.callback(writer.close)
            return reader, writer

        yield connect


async def rest(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the other side closes."""
    async with asyncio.timeout(PATIENCE):
        try:
            return await reader.read()
        except ConnectionError:
            return b""


async def accepted(connect: Connect, start: bytes, more: bytes) -> int:
    """Send without end; the bytes that were taken before the connection was closed."""
    reader, writer = await connect()
    closed = asyncio.ensure_future(rest(reader))
    writer.write(start)
    taken = 0
    async with asyncio.timeout(PATIENCE):
        while not closed.done() and taken < MOST:
            writer.write(more)
            taken += len(more)
            try:
                await writer.drain()
            except ConnectionError:
                break
    closed.cancel()
    return taken


async def sent(connect: Connect, data: bytes) -> bytes:
    reader, writer = await connect()
    writer.write(data)
    return await rest(reader)


async def test_a_body_that_keeps_arriving_may_take_longer() -> None:
    bounds = Bounds(body_seconds=0.5, body_rate=100)
    async with served(bounds) as connect:
        reader, writer = await connect()
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12000\r\n\r\n")
        for _ in range(11):
            writer.write(bytes(1000))
            with suppress(TimeoutError):
                assert not await asyncio.wait_for(reader.read(1), 0.06), "it was cut off"
        writer.write(bytes(1000))
        assert (await asyncio.wait_for(reader.readline(), PATIENCE)).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nX-A: a",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ],
    ids=["nothing", "request line", "headers", "body", "chunks"],
)
async def test_incomplete_request_is_closed_in_time(half: bytes) -> None:
    async with served() as connect:
        assert (await sent(connect, half)).startswith(b"HTTP/1.1 408 ")


async def test_incomplete_later_request_is_closed_in_time() -> None:
    async with served() as connect:
        answers = await sent(connect, GET + b"GET / HT")
    assert [answer[:3] for answer in answers.split(b"HTTP/1.1 ")[1:]] == [b"200", b"408"]


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"GET /", b"a" * 65_536),
        (b"GET / HTTP/1.1\r\nX-A: ", b"a" * 65_536),
        (b"GET / HTTP/1.1\r\n", b"X-A: a\r\n" * 8_192),
        (b"", b"\r\n" * 32_768),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"a" * 65_536),
    ],
    ids=["path", "one header", "many headers", "empty lines", "trailers"],
)
async def test_endless_request_head_is_refused(start: bytes, more: bytes) -> None:
    async with served(Bounds()) as connect:
        assert await accepted(connect, start, more) < MOST


async def test_a_long_head_in_one_piece_is_refused() -> None:
    async with served(Bounds(head_bytes=4_000)) as connect:
        answer = await sent(connect, b"GET / HTTP/1.1\r\nX-A: " + b"a" * 5_000 + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 431 ")


async def test_a_body_in_many_small_chunks_arrives() -> None:
    body = b"1\r\n.\r\n" * 100_000 + b"0\r\nX-Trailer: 1\r\n\r\n"
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with served(Bounds()) as connect:
        answer = await sent(connect, head + body)
    assert b"100000 bytes" in answer
    assert b"x-trailer" not in answer


async def test_an_answer_that_is_not_read_is_dropped() -> None:
    dropped = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"x" * 65_536
                await asyncio.sleep(0)
        finally:
            dropped.set()

    app = Starlette(routes=[Route("/", lambda request: StreamingResponse(endless()))])
    async with served(app=app) as connect:
        reader, writer = await connect()
        writer.write(GET)
        await asyncio.wait_for(reader.readexactly(1), PATIENCE)
        cast("asyncio.Transport", writer.transport).pause_reading()
        await asyncio.wait_for(dropped.wait(), PATIENCE)


@pytest.mark.parametrize("start", [b"", b"GET / HT", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"])
async def test_slow_clients_do_not_block_others(start: bytes) -> None:
    async with served(Bounds(), most=100) as connect:
        for _ in range(400):
            _, writer = await connect()
            writer.write(start)
        for _ in range(20):
            answer = await sent(connect, GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            assert answer.startswith(b"HTTP/1.1 200 ")


async def test_new_connection_is_refused_while_all_are_busy() -> None:
    async with served(Bounds(), most=1) as connect:
        _, writer = await connect()
        writer.write(GET.replace(b"/", b"/waiting", 1))
        async with asyncio.timeout(PATIENCE):
            while not (answer := await sent(connect, GET)).startswith(b"HTTP/1.1 503 "):
                assert answer == b"", "it gave way before it was at work"


async def _late(socket: WebSocket) -> None:
    """Send once every time limit of a request is over, then wait for the client to leave."""
    await socket.accept()
    await asyncio.sleep(3 * QUICK.head_seconds)
    await socket.send_text("late")
    await socket.receive()


async def test_websocket_outlives_request_limits_and_keeps_its_place() -> None:
    async with served(most=1, app=Starlette(routes=[WebSocketRoute("/", _late)])) as connect:
        _, writer = await connect()
        host, port = writer.get_extra_info("peername")
        writer.close()
        async with websocket(f"ws://{host}:{port}/", proxy=None) as open:
            assert (await sent(connect, GET)).startswith(b"HTTP/1.1 503 ")
            assert await asyncio.wait_for(open.recv(), PATIENCE) == "late"
        async with asyncio.timeout(PATIENCE):
            while not (await sent(connect, GET)).startswith(b"HTTP/1.1 404 "):
                pass


async def test_websocket_that_is_not_read_is_dropped() -> None:
    dropped = asyncio.Event()

    async def endless(socket: WebSocket) -> None:
        await socket.accept()
        try:
            while True:
                await socket.send_text("x" * 100_000)
        finally:
            dropped.set()

    async with served(app=Starlette(routes=[WebSocketRoute("/", endless)])) as connect:
        reader, writer = await connect()
        writer.write(GET.replace(b"\r\n\r\n", UPGRADE))
        await asyncio.wait_for(reader.readuntil(b"x"), PATIENCE)
        cast("asyncio.Transport", writer.transport).pause_reading()
        await asyncio.wait_for(dropped.wait(), PATIENCE)
