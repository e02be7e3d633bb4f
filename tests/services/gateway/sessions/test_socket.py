"""A session's events over a WebSocket: the same numbers as the server-sent events, refused, ended and dropped."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import orjson
import pytest
import pytest_asyncio
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as websocket
from websockets.exceptions import ConnectionClosed, InvalidStatus

from libs import ids
from libs.cache import Delta, Stream
from libs.cache.redis import RedisDeltas
from libs.cache.redis import connect as redis
from libs.database import Dsns
from libs.embedded.redis import Redis
from libs.events import ApprovalRequested, MessageCompleted, TurnAnalysed, TurnEnded, TurnStarted
from tests.services.gateway.running import RunningGateway, running_gateway, served
from tests.services.gateway.sse import Sse, opened, read


class Web:
    """A served gateway, and the owner's clients of it."""

    def __init__(self, home: RunningGateway, url: str, http: httpx.AsyncClient) -> None:
        self.home, self.url, self.http = home, url, http

    def connect(self, session: str, **asked: Any) -> websocket:
        return self.at(f"/v1/sessions/{session}/stream", **asked)

    def at(
        self, path: str, *, key: str | None = None, cookie: str = "", origin: Any = None, **params: Any
    ) -> websocket:
        held = {"Cookie": cookie} if cookie else {"Authorization": f"Bearer {key or self.home.owner}"}
        url = str(httpx.URL(f"{self.url}{path}", params=params)).replace("http", "ws", 1)
        return websocket(url, additional_headers=held, origin=origin, proxy=None)

    async def sign_in(self) -> str:
        """Return the cookie of a browser that signed in with the owner's key."""
        async with self.home.client() as http:
            return (await http.post("/v1/signin")).headers["set-cookie"].partition(";")[0]

    async def turn(self) -> tuple[str, str]:
        accepted = (await self.http.post("/v1/sessions/message", json={"text": "hello"})).json()
        return accepted["session_id"], accepted["turn_id"]


@asynccontextmanager
async def opening(home: RunningGateway) -> AsyncIterator[Web]:
    async with (
        served(home) as url,
        httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {home.owner}"}, timeout=60) as http,
    ):
        yield Web(home, url, http)


@pytest_asyncio.fixture(loop_scope="session")
async def web(home: RunningGateway) -> AsyncIterator[Web]:
    async with opening(home) as made:
        yield made


@asynccontextmanager
async def gateway(where: Dsns, owner: str, **ports: Any) -> AsyncIterator[Web]:
    async with running_gateway(where, owner, **ports) as home, opening(home) as made:
        yield made


async def messages(stream: ClientConnection, *, until: str | None = None) -> list[Any]:
    """Receive until a message of type `until`, or until the server closes."""
    found: list[Any] = []
    try:
        async with asyncio.timeout(60):
            while not found or found[-1]["type"] != until:
                found.append(orjson.loads(await stream.recv()))
    except ConnectionClosed:
        assert until is None, f"closed before {until}"
    return found


async def refused(connecting: websocket) -> tuple[int, str]:
    with pytest.raises(InvalidStatus) as error:
        async with connecting:
            pass
    response = error.value.response
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["x-content-type-options"] == "nosniff"
    return response.status_code, orjson.loads(response.body or b"")["code"]


async def closed(stream: ClientConnection) -> int | None:
    """Wait until the server has closed; return its code."""
    await messages(stream)
    return stream.close_code


@pytest.mark.requirement("S4-33", "S4-56", "A22b")
async def test_socket_resumed_anywhere_shows_the_same_events(web: Web) -> None:
    session, turn = await web.turn()
    noted = [TurnAnalysed(turn_id=turn, intent="task", sentiment="neutral", tags=(f"é{n}",)) for n in range(5)]
    await web.home.worker_says(session, TurnStarted(turn_id=turn, message_id=None, text="hello"), *noted)
    await web.home.worker_says(session, TurnEnded(turn_id=turn, state="completed"))
    whole = Sse()
    async with opened(web.http, session, until=turn) as stream:
        await read(stream, whole)

    for seen in range(8):
        async with web.connect(session, after=seen, until=turn) as resumed:
            assert await messages(resumed) == [data for _, _, data in whole.events[seen:]]
            assert resumed.close_code == 1000


@pytest.mark.requirement("S4-33")
async def test_socket_carries_an_approval_and_its_outcome(eager: RunningGateway) -> None:
    async with opening(eager) as web:
        session, turn = await web.turn()
        asked = _question(turn)
        async with web.connect(session) as stream:
            await eager.worker_says(session, asked)
            shown = (await messages(stream, until="approval.requested"))[-1]["data"]
            answer = {"verdict": "approve", "digest": shown["digest"]}
            assert (await web.http.post(f"/v1/approvals/{shown['approval_id']}", json=answer)).status_code == 200
            (*_, outcome) = await messages(stream, until="approval.closed")
    assert outcome["data"]["outcome"] == "approved"


def _question(turn: str) -> ApprovalRequested:
    return ApprovalRequested(
        turn_id=turn,
        approval_id=ids.new(),
        kind="commit",
        title="Move 2 files",
        digest="d" * 64,
        expires_in=3600,
    )


@pytest.mark.requirement("S4-56")
async def test_scope_weavers_path_streams_a_session(web: Web) -> None:
    session, _ = await web.turn()
    async with web.at("/stream", session=session) as stream:
        assert [event["seq"] for event in await messages(stream, until="message.accepted")] == [1]


@pytest.mark.requirement("A21")
async def test_socket_without_a_valid_key_is_refused(web: Web) -> None:
    session, _ = await web.turn()
    assert await refused(web.connect(session, key="suma_x")) == (401, "BAD_KEY")
    assert await refused(web.connect(session, key=await web.home.key("memory", principal="owner"))) == (
        403,
        "SCOPE_MISSING",
    )


@pytest.mark.requirement("A29")
async def test_socket_of_another_tenants_session_is_not_found(web: Web) -> None:
    session, _ = await web.turn()
    stranger = await web.home.key("*", tenant=ids.new())
    assert await refused(web.connect(session, key=stranger)) == (404, "NOT_FOUND")
    assert await refused(web.connect(session, until="nobody")) == (404, "NOT_FOUND")


@pytest.mark.requirement("A28a")
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:3000"])
async def test_socket_from_another_origin_is_refused(web: Web, origin: Any) -> None:
    session, _ = await web.turn()
    assert await refused(web.connect(session, origin=origin)) == (403, "FOREIGN_ORIGIN")


@pytest.mark.requirement("A28a")
async def test_socket_by_cookie_needs_our_own_origin(web: Web) -> None:
    (session, _), cookie = await web.turn(), await web.sign_in()
    async with web.connect(session, cookie=cookie, origin=web.url) as stream:
        await messages(stream, until="message.accepted")
    assert await refused(web.connect(session, cookie=cookie)) == (403, "CROSS_SITE")
    evil = web.connect(session, cookie=cookie, origin="https://evil.example")
    assert await refused(evil) == (403, "FOREIGN_ORIGIN")


async def test_sign_out_closes_the_browsers_streams(gateway_where: Dsns, owner: str) -> None:
    async with gateway(gateway_where, owner, settings={"verify_seconds": 0.05}) as web:
        (session, _), cookie = await web.turn(), await web.sign_in()
        async with web.connect(session, cookie=cookie, origin=web.url) as stream:
            ours = {"Cookie": cookie, "Origin": "http://localhost:8010", "Content-Type": "application/json"}
            async with web.home.client(Authorization="") as http:
                assert (await http.post("/v1/signout", headers=ours)).status_code == 204
            assert await closed(stream) == 4401


@pytest.mark.requirement("A28a")
async def test_socket_for_a_rebound_host_is_misdirected(web: Web) -> None:
    session, _ = await web.turn()
    port = httpx.URL(web.url).port
    held = {"Authorization": f"Bearer {web.home.owner}"}
    rebound = websocket(
        f"ws://evil.example/v1/sessions/{session}/stream", host="127.0.0.1", port=port, additional_headers=held
    )
    assert await refused(rebound) == (421, "MISDIRECTED")


async def test_wrong_positions_and_plain_requests_are_refused(web: Web) -> None:
    session, _ = await web.turn()
    assert await refused(web.connect(session, after=-1)) == (422, "INVALID_REQUEST")
    plain = await web.http.get(f"/v1/sessions/{session}/stream")
    assert (plain.status_code, plain.json()["code"], plain.headers["upgrade"]) == (
        *(426, "UPGRADE_REQUIRED"),
        "websocket",
    )


@pytest.mark.requirement("A21")
async def test_revoked_key_closes_its_open_streams(gateway_where: Dsns, owner: str) -> None:
    async with gateway(gateway_where, owner, settings={"verify_seconds": 0.05}) as web:
        session, _ = await web.turn()
        key = await web.home.key("chat", principal="owner")
        server_sent = Sse()
        theirs = httpx.AsyncClient(base_url=web.url, headers={"Authorization": f"Bearer {key}"}, timeout=60)
        async with (
            theirs,
            opened(theirs, session) as other,
            web.connect(session, key=key) as stream,
            web.connect(session) as owners,
        ):
            await messages(stream, until="message.accepted")
            await web.home.revoke(key)
            assert await closed(stream) == 4401
            await asyncio.wait_for(read(other, server_sent), 10)
            await web.home.worker_says(session, TurnStarted(turn_id=ids.new(), message_id=None, text="x"))
            await messages(owners, until="turn.started")
    assert (server_sent.seqs(), server_sent.retry) == ([1], None)


async def test_lost_scope_closes_open_streams(gateway_where: Dsns, owner: str) -> None:
    async with gateway(gateway_where, owner, settings={"verify_seconds": 0.05}) as web:
        session, _ = await web.turn()
        key = await web.home.key("chat", principal="owner")
        async with web.connect(session, key=key) as stream:
            less = "update gateway.api_keys set scopes = '{memory}' where key_id = $1"
            await web.home.own(web.home.tenant, less, key.split("_")[1])
            assert await closed(stream) == 4401


async def test_session_that_is_no_longer_shared_closes_others_streams(gateway_where: Dsns, owner: str) -> None:
    async with gateway(gateway_where, owner, settings={"verify_seconds": 0.05}) as web:
        session, _ = await web.turn()
        path, key = f"/v1/sessions/{session}/share", await web.home.key("chat", principal="bob")
        assert (await web.http.put(path, json={"access": "read"})).status_code == 200
        async with web.connect(session, key=key) as theirs, web.connect(session) as ours:
            await messages(theirs, until="message.accepted")
            assert (await web.http.delete(path)).status_code == 200
            assert await closed(theirs) == 4401
            await web.home.worker_says(session, TurnStarted(turn_id=ids.new(), message_id=None, text="x"))
            await messages(ours, until="turn.started")


async def test_a_message_from_the_client_closes_the_socket(web: Web) -> None:
    session, _ = await web.turn()
    for sent, code in (("approve", 1003), ("x" * 5000, 1009)):
        async with web.connect(session) as stream:
            await stream.send(sent)
            assert await closed(stream) == code


async def test_stopping_gateway_asks_sockets_to_reconnect(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner) as home, opening(home) as web:
        session, _ = await web.turn()
        async with web.connect(session, after=1) as stream:
            home.context.streams.close()
            assert await closed(stream) == 1012


async def test_idle_socket_gets_heartbeats(gateway_where: Dsns, owner: str) -> None:
    async with gateway(gateway_where, owner, settings={"heartbeat_seconds": 0.05}) as web:
        session, _ = await web.turn()
        async with web.connect(session, after=1) as stream:
            assert [orjson.loads(await stream.recv()) for _ in range(2)] == [{"type": "heartbeat"}] * 2


async def test_partial_text_reaches_sockets_without_a_number(gateway_where: Dsns, owner: str, tmp_path: Any) -> None:
    async with Redis(tmp_path) as server:
        client = redis(server.url)
        deltas = RedisDeltas(client)
        async with gateway(gateway_where, owner, deltas=deltas) as web:
            session, turn = await web.turn()
            async with web.connect(session) as stream:
                await web.home.worker_says(session, TurnStarted(turn_id=turn, message_id=None, text="hello"))
                await deltas.append(Stream(web.home.tenant, turn), Delta("c1", 1, "Hel"))
                (*_, delta) = await messages(stream, until="delta")
        await client.aclose()
    assert delta == {"type": "delta", "turn_id": turn, "call": "c1", "attempt": 1, "text": "Hel", "step_id": None}


@pytest.mark.requirement("A19")
async def test_socket_that_never_reads_is_dropped(gateway_where: Dsns, owner: str) -> None:
    async with gateway(gateway_where, owner, settings={"send_seconds": 0.2}) as web:
        session, turn = await web.turn()
        large = MessageCompleted(turn_id=turn, message_id=ids.new(), text="x" * 250_000)
        for _ in range(40):
            await web.home.worker_says(session, large)
        await web.home.caught_up(session, 41)
        deaf = await asyncio.to_thread(_deaf, web, f"/v1/sessions/{session}/stream")
        with deaf:
            async with asyncio.timeout(60):
                while web.home.context.streams.open:
                    await web.http.get("/healthz")


def _deaf(web: Web, path: str) -> socket.socket:
    """Open a WebSocket, and stop reading after its first message."""
    url, deaf = httpx.URL(web.url), socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect((url.host, url.port))
    head = (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {web.home.owner}\r\nConnection: Upgrade\r\n"
    )
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    deaf.sendall(f"{head}Upgrade: websocket\r\n{key}\r\n".encode())
    seen = b""
    while b"message.accepted" not in seen:
        seen += deaf.recv(64)
    return deaf


async def test_sockets_count_as_open_streams(gateway_where: Dsns, owner: str) -> None:
    async with gateway(gateway_where, owner, settings={"streams_most": 1}) as web:
        session, _ = await web.turn()
        async with web.connect(session) as stream:
            await messages(stream, until="message.accepted")
            assert await refused(web.connect(session)) == (429, "TOO_MANY_STREAMS")
