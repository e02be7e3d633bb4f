"""Server-sent events over a real socket: cut, resumed, restarted, shared, and never read."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from libs import ids
from libs.cache import Delta, Stream, StreamEntry
from libs.cache.redis import RedisDeltas, connect
from libs.database import Dsns
from libs.embedded.redis import Redis
from libs.events import MessageCompleted, TurnAnalysed, TurnEnded, TurnStarted
from services.gateway.sessions import models
from tests.services.gateway.running import RunningGateway, running_gateway, served
from tests.services.gateway.sse import Sse, opened, read


@pytest_asyncio.fixture(loop_scope="session")
async def web(home: RunningGateway) -> AsyncIterator[httpx.AsyncClient]:
    """An HTTP client with the owner's key, over a socket."""
    async with served(home) as url, _client(home, url) as client:
        yield client


def _client(home: RunningGateway, url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {home.owner}"}, timeout=60, verify=False)


@asynccontextmanager
async def _served(where: Dsns, owner: str, **ports: Any) -> AsyncIterator[tuple[RunningGateway, httpx.AsyncClient]]:
    """A gateway created by the test, and the owner's client at its socket."""
    async with running_gateway(where, owner, **ports) as home, served(home) as url, _client(home, url) as client:
        yield home, client


async def _turn(client: httpx.AsyncClient, text: str = "hello") -> tuple[str, str]:
    accepted = (await client.post("/v1/sessions/message", json={"text": text})).json()
    return accepted["session_id"], accepted["turn_id"]


async def _whole_turn(home: RunningGateway, session: str, turn: str, words: int = 8) -> None:
    """Events of a turn: started, analysed so many times, answered, ended."""
    noted = [TurnAnalysed(turn_id=turn, intent="task", sentiment="neutral", tags=(f"é{n}",)) for n in range(words)]
    await home.worker_says(session, TurnStarted(turn_id=turn, message_id=None, text="hello"), *noted)
    await home.worker_says(session, MessageCompleted(turn_id=turn, message_id=ids.new(), text="done\n\nid: 99\n\n"))
    await home.worker_says(session, TurnEnded(turn_id=turn, state="completed"))
    await home.seen(session, lambda event: event.type == "turn.ended")


@pytest.mark.requirement("A19", "S3-10", "S3-45")
async def test_stream_resumed_after_any_byte_shows_events_once(home: RunningGateway, web: httpx.AsyncClient) -> None:
    session, turn = await _turn(web)
    await _whole_turn(home, session, turn)
    whole = Sse()
    async with opened(web, session, until=turn) as stream:
        length = await read(stream, whole)

    assert whole.seqs() == list(range(1, 13))
    for cut in range(1, length, 97):
        viewer = Sse()
        async with opened(web, session, until=turn) as stream:
            await read(stream, viewer, most=cut)
        viewer.cut()
        async with opened(web, session, viewer.last, until=turn) as stream:
            await read(stream, viewer)
        assert viewer.events == whole.events, f"cut at byte {cut}"


@pytest.mark.requirement("A19", "A22b")
async def test_viewer_of_a_restarted_gateway_sees_events_once(gateway_where: Dsns, owner: str) -> None:
    viewer = Sse()
    async with _served(gateway_where, owner) as (before, client):
        session, turn = await _turn(client)
        await before.worker_says(session, TurnStarted(turn_id=turn, message_id=None, text="hello"))
        async with opened(client, session) as stream:
            await read(stream, viewer, until="turn.started")
        await before.worker_says(session, TurnAnalysed(turn_id=turn, intent="task", sentiment="neutral"))
    viewer.cut()
    async with _served(gateway_where, owner) as (after, client):
        await after.worker_says(session, TurnEnded(turn_id=turn, state="completed"))
        async with opened(client, session, viewer.last, until=turn) as stream:
            await read(stream, viewer)

    assert viewer.seqs() == [1, 2, 3, 4]
    assert [type for _, type, _ in viewer.events] == [
        "message.accepted",
        "turn.started",
        "turn.analysed",
        "turn.ended",
    ]


async def test_an_event_reaches_an_open_stream_at_once(home: RunningGateway, web: httpx.AsyncClient) -> None:
    """The periodic read every 15 s would be too late for this test."""
    session, turn = await _turn(web)
    viewer = Sse()
    async with opened(web, session, until=turn) as stream:
        reading = asyncio.ensure_future(read(stream, viewer))
        await home.worker_says(session, TurnStarted(turn_id=turn, message_id=None, text="hello"))
        await home.worker_says(session, TurnEnded(turn_id=turn, state="failed", reason="MAX_ROUNDS"))
        await asyncio.wait_for(reading, 5)

    assert viewer.events[-1][2]["data"]["reason"] == "MAX_ROUNDS"


@pytest.mark.requirement("A19")
async def test_events_that_commit_while_many_watch_reach_each_viewer_once(
    home: RunningGateway, web: httpx.AsyncClient
) -> None:
    session, turn = await _turn(web)
    viewers = [Sse() for _ in range(20)]

    async def watch(viewer: Sse) -> None:
        async with opened(web, session, until=turn) as stream:
            await read(stream, viewer)

    watching = [asyncio.ensure_future(watch(viewer)) for viewer in viewers]
    await _whole_turn(home, session, turn, words=20)
    await asyncio.wait_for(asyncio.gather(*watching), 10)
    assert {tuple(viewer.seqs()) for viewer in viewers} == {tuple(range(1, 25))}


async def _woken_for_nothing(home: RunningGateway, session: str) -> None:
    """Wake the session's viewers after an event that they have already read."""
    with home.context.streams.watch(home.tenant, session) as channel:
        moved = channel.moved()
        channel.wake()
        await moved.wait()


@pytest.mark.requirement("A19")
async def test_viewer_reads_events_projected_by_another_replica(gateway_where: Dsns, owner: str) -> None:
    async with _served(gateway_where, owner, settings={"reread_seconds": 60.0}) as (home, client):
        session, turn = await _turn(client)
        viewer = Sse()
        async with opened(client, session, until=turn) as stream:
            await read(stream, viewer, until="message.accepted")
            await _woken_for_nothing(home, session)
            await home.projected_elsewhere(session, turn, TurnEnded(turn_id=turn, state="completed"))
            await asyncio.wait_for(read(stream, viewer), 10)

    assert [type for _, type, _ in viewer.events] == ["message.accepted", "turn.ended"]


@pytest.mark.requirement("A19")
async def test_stream_until_an_ended_turn_shows_its_end(home: RunningGateway, web: httpx.AsyncClient) -> None:
    session, turn = await _turn(web)
    viewer = Sse()
    async with opened(web, session) as other:
        await read(other, Sse(), until="message.accepted")
        await _woken_for_nothing(home, session)
        await home.projected_elsewhere(session, turn, TurnEnded(turn_id=turn, state="completed"))
        async with opened(web, session, "1", until=turn) as stream:
            await read(stream, viewer)

    assert [type for _, type, _ in viewer.events] == ["turn.ended"]


async def test_a_turn_that_is_over_closes_its_stream_at_once(home: RunningGateway, web: httpx.AsyncClient) -> None:
    session, turn = await _turn(web)
    await _whole_turn(home, session, turn)
    viewer = Sse()
    async with opened(web, session, until=turn, after=12) as stream:
        await read(stream, viewer)
    assert viewer.events == []


async def test_a_stream_until_an_unknown_turn_is_not_found(web: httpx.AsyncClient) -> None:
    session, _ = await _turn(web)
    answer = await web.get(f"/v1/sessions/{session}/events", params={"until": "nobody"})
    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")


@pytest.mark.requirement("A19")
async def test_a_viewer_that_never_reads_is_dropped(gateway_where: Dsns, owner: str) -> None:
    """The viewer may hold only its socket and one page."""
    settings = {"send_seconds": 0.2}
    async with _served(gateway_where, owner, settings=settings) as (home, client):
        session, turn = await _turn(client)
        large = MessageCompleted(turn_id=turn, message_id=ids.new(), text="x" * 250_000)
        for _ in range(40):
            await home.worker_says(session, large)
        await home.caught_up(session, 41)
        with await asyncio.to_thread(_deaf, client, f"/v1/sessions/{session}/events"):
            await _connections(client, 0)


async def _connections(client: httpx.AsyncClient, wanted: int) -> None:
    """Wait until the metrics report so many open streams."""
    async with asyncio.timeout(60):
        while f"gateway_sse_connections {wanted}.0" not in (await client.get("/metrics")).text:
            pass


def _deaf(client: httpx.AsyncClient, path: str) -> socket.socket:
    """A client that sends a request, receives the start of the response, and stops reading."""
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect((client.base_url.host, client.base_url.port))
    key = client.headers["Authorization"]
    deaf.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key}\r\n\r\n".encode())
    seen = b""
    while b"id: 1" not in seen:
        seen += deaf.recv(64)
    return deaf


async def test_an_idle_stream_is_kept_alive_by_heartbeats(gateway_where: Dsns, owner: str) -> None:
    settings = {"heartbeat_seconds": 0.05}
    async with _served(gateway_where, owner, settings=settings) as (_, client):
        session, _ = await _turn(client)
        viewer = Sse()
        async with opened(client, session, after=1) as stream:
            while viewer.comments < 2:
                viewer.feed(await anext(stream))
    assert viewer.events == []


async def test_more_streams_than_allowed_are_refused_with_a_problem(gateway_where: Dsns, owner: str) -> None:
    async with _served(gateway_where, owner, settings={"streams_most": 1}) as (_, client):
        session, _ = await _turn(client)
        async with opened(client, session) as stream:
            await read(stream, Sse(), until="message.accepted")
            refused = await client.get(f"/v1/sessions/{session}/events")
    assert (refused.status_code, refused.json()["code"]) == (429, "TOO_MANY_STREAMS")
    assert int(refused.headers["Retry-After"]) >= 1


async def test_command_is_accepted_while_all_streams_are_open(gateway_where: Dsns, owner: str) -> None:
    async with _served(gateway_where, owner, settings={"streams_most": 1}) as (_, client):
        session, turn = await _turn(client)
        async with opened(client, session) as stream:
            await read(stream, Sse(), until="message.accepted")
            answer = await client.post(f"/v1/turns/{turn}/cancel")
    assert (answer.status_code, answer.json()["outcome"]) == (202, None)


async def test_the_gateways_stop_ends_its_streams(gateway_where: Dsns, owner: str) -> None:
    """Viewers reconnect elsewhere, and the stop does not wait for endless streams."""
    async with AsyncExitStack() as outside:
        async with running_gateway(gateway_where, owner) as home:
            url = await outside.enter_async_context(served(home))
            client = await outside.enter_async_context(_client(home, url))
            session, _ = await _turn(client)
            stream = await outside.enter_async_context(opened(client, session, after=1))
        viewer = Sse()
        await asyncio.wait_for(read(stream, viewer), 5)
    assert viewer.retry is not None
    assert 500 <= int(viewer.retry) <= 3000


async def test_a_tenant_s_streams_leave_room_for_another_s(gateway_where: Dsns, owner: str) -> None:
    async with _served(gateway_where, owner, settings={"streams_most_each": 1}) as (home, client):
        session, _ = await _turn(client)
        stranger = await home.key("*", tenant="other")
        async with opened(client, session) as stream:
            await read(stream, Sse(), until="message.accepted")
            refused = await client.get(f"/v1/sessions/{session}/events")
            theirs = {"Authorization": f"Bearer {stranger}"}
            other = (await client.post("/v1/sessions", json={}, headers=theirs)).json()["session_id"]
            async with client.stream("GET", f"/v1/sessions/{other}/events", headers=theirs) as let_in:
                assert (refused.status_code, let_in.status_code) == (429, 200)


@pytest_asyncio.fixture(loop_scope="session")
async def deltas(tmp_path: Path) -> AsyncIterator[RedisDeltas]:
    async with Redis(tmp_path) as server:
        client = connect(server.url)
        yield RedisDeltas(client)
        await client.aclose()


async def test_partial_text_reaches_viewers_without_a_number(
    gateway_where: Dsns, owner: str, deltas: RedisDeltas
) -> None:
    async with _served(gateway_where, owner, deltas=deltas) as (home, client):
        session, turn = await _turn(client)
        viewer = Sse()
        async with opened(client, session, until=turn) as stream:
            await home.worker_says(session, TurnStarted(turn_id=turn, message_id=None, text="hello"))
            await deltas.append(Stream(home.tenant, turn), Delta("c1", 1, "Hel"))
            await read(stream, viewer, until="delta")
            await home.worker_says(session, TurnEnded(turn_id=turn, state="completed"))
            await read(stream, viewer)

    (said,) = [(id, data) for id, type, data in viewer.events if type == "delta"]
    assert said == (None, {"turn_id": turn, "call": "c1", "attempt": 1, "text": "Hel", "step_id": None})
    assert viewer.seqs() == [1, 2, 3]
    # The web application's types are generated from these models.
    assert said[1].keys() == models.Delta.model_fields.keys()
    assert viewer.events[0][2]["data"].keys() == models.MessageAccepted.model_fields.keys()


class Held:
    """Deltas of which a read can be held until it is released."""

    def __init__(self, deltas: RedisDeltas) -> None:
        self._deltas, self._free, self._reading = deltas, asyncio.Event(), asyncio.Event()
        self._free.set()

    async def append(self, stream: Stream, delta: Delta) -> None:
        await self._deltas.append(stream, delta)

    async def read(self, after: Mapping[Stream, str], *, block: float) -> Mapping[Stream, Sequence[StreamEntry]]:
        self._reading.set()
        await self._free.wait()
        return await self._deltas.read(after, block=block)

    async def hold(self) -> None:
        """Return once a read is held."""
        self._free.clear()
        self._reading.clear()
        await self._reading.wait()

    def release(self) -> None:
        self._free.set()


async def test_viewer_that_joins_during_a_read_sees_all_text(
    gateway_where: Dsns, owner: str, deltas: RedisDeltas
) -> None:
    held = Held(deltas)
    async with _served(gateway_where, owner, deltas=held) as (home, client):
        session, turn = await _turn(client)
        await home.worker_says(session, TurnStarted(turn_id=turn, message_id=None, text="hello"))
        await home.caught_up(session, 2)
        await held.append(Stream(home.tenant, turn), Delta("c1", 1, "Hel"))
        async with opened(client, session) as stream:
            await read(stream, Sse(), until="delta")
            await held.hold()
        async with asyncio.timeout(60):
            while home.context.streams.open:
                await client.get("/healthz")
        await held.append(Stream(home.tenant, turn), Delta("c1", 1, "lo"))
        viewer = Sse()
        async with opened(client, session) as stream:
            await read(stream, viewer, until="turn.started")
            held.release()
            await read(stream, viewer, until="delta")

    assert viewer.events[-1][2]["text"] == "Hello"


async def test_late_viewer_receives_the_earlier_partial_text(
    gateway_where: Dsns, owner: str, deltas: RedisDeltas
) -> None:
    async with _served(gateway_where, owner, deltas=deltas) as (home, client):
        session, turn = await _turn(client)
        await home.worker_says(session, TurnStarted(turn_id=turn, message_id=None, text="hello"))
        await home.caught_up(session, 2)
        for attempt, text in ((1, "Hal"), (2, "Hel"), (2, "lo")):
            await deltas.append(Stream(home.tenant, turn), Delta("c1", attempt, text))
        viewer = Sse()
        async with opened(client, session) as stream:
            await read(stream, viewer, until="delta")

    assert viewer.events[-1][2] == {"turn_id": turn, "call": "c1", "attempt": 2, "text": "Hello", "step_id": None}


async def test_output_of_a_command_reaches_viewers_with_its_step(
    gateway_where: Dsns, owner: str, deltas: RedisDeltas
) -> None:
    async with _served(gateway_where, owner, deltas=deltas) as (home, client):
        session, turn = await _turn(client)
        viewer = Sse()
        async with opened(client, session, until=turn) as stream:
            await home.worker_says(session, TurnStarted(turn_id=turn, message_id=None, text="hello"))
            await deltas.append(Stream(home.tenant, turn), Delta("run", 1, "ran 1 test", "s1"))
            await read(stream, viewer, until="delta")
            await deltas.append(Stream(home.tenant, turn), Delta("answer", 1, "Done."))
            await read(stream, viewer, until="delta")

    said = [(data["step_id"], data["text"]) for _, type, data in viewer.events if type == "delta"]
    assert said == [("s1", "ran 1 test"), (None, "Done.")]
