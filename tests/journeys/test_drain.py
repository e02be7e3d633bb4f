"""SIGTERM as a person, a load balancer and a viewer see it: told first, nobody new, everything in hand ends, exit 0."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.journeys.installation import Installation, installation, readiness

LONG = "600"


@pytest_asyncio.fixture
async def own(tmp_path: Path) -> AsyncIterator[Installation]:
    async with installation(tmp_path) as made:
        yield made


async def a_session(api: httpx.AsyncClient) -> str:
    return str((await api.post("/v1/sessions", json={})).json()["session_id"])


@pytest.mark.requirement("A15", "A19")
async def test_drain_ends_open_streams_with_a_retry_time(own: Installation) -> None:
    await own.start()
    async with own.api() as api:
        events = f"/v1/sessions/{await a_session(api)}/events"
        async with api.stream("GET", events) as stream:
            ending = asyncio.ensure_future(own.end(signal.SIGINT))
            told = b"".join([chunk async for chunk in stream.aiter_bytes()])
            assert await ending == 0
    assert b"retry: " in told
    assert own.servers() == []


@pytest.mark.requirement("A15", "A17")
async def test_readiness_fails_before_drain_refuses_requests(own: Installation) -> None:
    own.extra = {"SUMA_GATEWAY__DRAIN_NOTICE": LONG}
    await own.start()
    async with own.api() as api:
        await a_session(api)
        assert own.process is not None
        own.process.send_signal(signal.SIGTERM)
        assert "this process is leaving" in (await readiness(api, 503)).json()["problems"]
        await a_session(api)
        assert (await api.get("/healthz")).status_code == 200
    # In a hurry after all: the notice is cut short.
    assert await own.end(signal.SIGTERM) == 0
    assert own.servers() == []


@pytest.mark.requirement("A15")
async def test_drain_answers_running_requests_and_refuses_new_ones(own: Installation) -> None:
    own.extra = {"SUMA_GATEWAY__DRAIN_SECONDS": LONG}
    await own.start()
    async with own.api() as waits, own.api() as comes:
        session = await a_session(comes)
        stuck = Upload(session)
        in_hand = asyncio.ensure_future(waits.post("/v1/sessions/message", content=stuck.body(), headers=JSON))
        await stuck.begun.wait()
        # The server has read what was sent before this was answered.
        await a_session(comes)
        assert own.process is not None
        own.process.send_signal(signal.SIGTERM)
        late = await refused(comes)
        stuck.released.set()
        assert (await in_hand).status_code == 202
    assert (late.json()["code"], late.headers["connection"]) == ("DRAINING", "close")
    assert int(late.headers["Retry-After"]) >= 1
    assert await own.end(signal.SIGTERM) == 0


@pytest.mark.requirement("A15")
async def test_drain_answers_a_waiting_a2a_call(own: Installation) -> None:
    await own.start()
    many = own.folder / "many"
    many.mkdir()
    for n in range(5_000):
        (many / f"{n}.txt").touch()
    async with own.api() as api:
        about = {"text": "list the files", "root": str(many)}
        session = (await api.post("/v1/sessions", json={"root": str(many)})).json()["session_id"]
        said = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": about["text"]}], "contextId": session}
        version = {"A2A-Version": "1.0"}
        waiting = asyncio.ensure_future(api.post("/a2a/v1/message:send", json={"message": said}, headers=version))
        await until(api, f"/v1/sessions/{session}/history", lambda found: len(found["turns"]) == 1)
        assert await own.end(signal.SIGTERM) == 0
        answer = await waiting
    assert (answer.status_code, answer.json()["error"]["details"][0]["reason"]) == (503, "STOPPING")
    assert int(answer.headers["Retry-After"]) >= 1


async def until(api: httpx.AsyncClient, path: str, shown: Callable[[Any], bool]) -> None:
    async with asyncio.timeout(90):
        while not shown((await api.get(path)).json()):
            await asyncio.sleep(0.05)


JSON = {"Content-Type": "application/json"}


class Upload:
    """A message whose last byte comes when the test says so."""

    def __init__(self, session: str) -> None:
        self._session = session
        self.begun, self.released = asyncio.Event(), asyncio.Event()

    async def body(self) -> AsyncIterator[bytes]:
        yield f'{{"session_id": "{self._session}", "text": "hel'.encode()
        self.begun.set()
        await self.released.wait()
        yield b'lo"}'


async def refused(api: httpx.AsyncClient) -> httpx.Response:
    async with asyncio.timeout(90):
        while (answer := await api.post("/v1/sessions", json={})).status_code != 503:
            await asyncio.sleep(0.05)
    return answer
