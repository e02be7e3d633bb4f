"""Calls in flight: each counts as a stream, so that they do not use up the places of requests, and each passes over
events of a newer release.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import orjson
import pytest

from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.events import Event, MessageReceived, TurnEnded, TurnStarted
from libs.events.envelope import Envelope
from libs.events.topics import OUTBOUND
from libs.keys.file import FileKeys
from libs.policy import Policy
from libs.runtime.service import Subscription
from tests.services.gateway.running import RunningGateway, running_gateway, served
from tests.support import surfaces
from tests.support.surfaces import Surface

FEW: dict[str, Any] = {"requests_most": 16, "requests_most_each": 8}
MANY, AT_ONCE = 40, 5
BYTES = 200_000


class Pondered(Event):
    """An event that no class of this release declares."""

    type = "suma.turn.pondered.v1"
    topic = OUTBOUND
    turn_id: str


class Slow:
    """Simulate a conversation worker whose turns run until the test ends them."""

    def __init__(self) -> None:
        self.turns: list[tuple[str, str]] = []
        """Sessions and their turns, as they started."""

    async def received(self, cause: Cause, event: Envelope[MessageReceived]) -> Changeset:
        said = event.data
        started = TurnStarted(turn_id=said.turn_id, message_id=said.message_id, text=said.text)
        return Changeset(cause).emit(started).on_commit(lambda: self.turns.append((event.session or "", said.turn_id)))


@asynccontextmanager
async def crowd(where: Dsns, owner: str, **given: Any) -> AsyncIterator[Crowd]:
    worker = Slow()
    async with (
        running_gateway(where, owner, [Subscription(MessageReceived, worker.received)], **given) as home,
        home.client() as http,
    ):
        http.timeout = httpx.Timeout(60)
        made = Crowd(home, worker, http)
        try:
            yield made
        finally:
            for call in made.calls:
                call.cancel()
            await asyncio.gather(*made.calls, return_exceptions=True)


def _over(url: str, http: httpx.AsyncClient) -> httpx.AsyncClient:
    """Return the same client over a socket, where a server can see it leave."""
    return httpx.AsyncClient(base_url=url, headers=http.headers, timeout=http.timeout)


class Crowd:
    """Clients of one gateway, and the turns that they wait for."""

    def __init__(self, home: RunningGateway, worker: Slow, http: httpx.AsyncClient) -> None:
        self.home, self.worker, self.http = home, worker, http
        self.calls: list[asyncio.Task[httpx.Response]] = []

    def call(self, surface: Surface, *, streams: bool = False, size: int = 0) -> asyncio.Task[httpx.Response]:
        """Begin a call, with a body of at least `size` bytes."""
        asked = surface("wait", streams)
        body = orjson.dumps(asked.body).ljust(size)
        headers = {**asked.headers, "Content-Type": "application/json"}
        made = asyncio.ensure_future(self.http.post(asked.path, content=body, headers=headers))
        self.calls.append(made)
        return made

    async def wait(self) -> None:
        """Wait until every call waits for its turn, or one was answered before."""
        async with asyncio.timeout(60):
            while len(self.worker.turns) < len(self.calls) or self.home.context.streams.open < len(self.calls):
                assert not [call.result().text for call in self.calls if call.done()]
                await asyncio.sleep(0.01)

    async def finish(self) -> list[httpx.Response]:
        """End all turns, and return the answers of their calls."""
        calls, self.calls = self.calls, []
        turns, self.worker.turns = self.worker.turns, []
        ends = [(session, TurnEnded(turn_id=turn, state="completed")) for session, turn in turns]
        await asyncio.gather(*(self.home.worker_says(session, end) for session, end in ends))
        return await asyncio.gather(*calls)


@pytest.mark.requirement("A20")
@pytest.mark.parametrize(
    "surface", [surfaces.a2a, surfaces.a2a_rest, surfaces.mcp_2026, surfaces.chat, surfaces.responses]
)
async def test_waiting_calls_take_no_places_of_requests(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, surface: Surface
) -> None:
    async with crowd(gateway_where, owner, policy=rules, keys=keys, settings=FEW) as here:
        for _ in range(0, MANY, AT_ONCE):
            for _ in range(AT_ONCE):
                here.call(surface)
            await here.wait()
        assert (await here.http.get("/v1/sessions")).status_code == 200
        assert {answer.status_code for answer in await here.finish()} == {200}


@pytest.mark.parametrize("surface", [surfaces.a2a, surfaces.a2a_rest, surfaces.chat, surfaces.responses])
async def test_call_whose_client_left_keeps_no_stream(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, surface: Surface
) -> None:
    settings = {"heartbeat_seconds": 0.05}
    async with (
        crowd(gateway_where, owner, policy=rules, keys=keys, settings=settings) as here,
        served(here.home) as url,
        _over(url, here.http) as http,
    ):
        gone = Crowd(here.home, here.worker, http)
        call = gone.call(surface)
        await gone.wait()
        call.cancel()
        async with asyncio.timeout(30):
            while here.home.context.streams.open:
                await http.get("/healthz")


@pytest.mark.parametrize("surface", [surfaces.a2a, surfaces.a2a_rest, surfaces.mcp_2026, surfaces.mcp_2025])
async def test_bodies_that_streams_keep_are_bounded(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, surface: Surface
) -> None:
    settings = {"bodies_most": 1_000_000}
    async with crowd(gateway_where, owner, policy=rules, keys=keys, settings=settings) as here:
        for _ in range(2):
            here.call(surface, streams=True, size=BYTES)
            await here.wait()
        refused = await asyncio.wait_for(here.call(surface, streams=True, size=BYTES), 60)
        assert (refused.status_code, "TENANT_BUSY" in refused.text) == (429, True)
        await here.finish()
        here.call(surface, streams=True, size=BYTES)
        await here.wait()


@pytest.mark.parametrize("surface", [surfaces.chat, surfaces.responses, surfaces.agui])
async def test_streams_that_drop_their_bodies_do_not_count(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, surface: Surface
) -> None:
    settings = {"bodies_most": 1_000_000}
    async with crowd(gateway_where, owner, policy=rules, keys=keys, settings=settings) as here:
        for _ in range(4):
            here.call(surface, streams=True, size=BYTES)
            await here.wait()


@pytest.mark.parametrize(
    "surface",
    [surfaces.a2a, surfaces.mcp_2026, surfaces.mcp_2025, surfaces.chat, surfaces.responses, surfaces.agui],
)
async def test_event_of_a_newer_release_is_passed_over(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, surface: Surface
) -> None:
    async with crowd(gateway_where, owner, policy=rules, keys=keys) as here:
        here.call(surface, streams=True)
        await here.wait()
        ((session, turn),) = here.worker.turns
        await here.home.projected_elsewhere(session, turn, Pondered(turn_id=turn))
        (answer,) = await here.finish()
    assert (answer.status_code, "completed" in answer.text.lower()) == (200, True), answer.text
