"""A client that leaves before its turn has ended, as a chat program does when a person presses Stop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import openai
import pytest
import pytest_asyncio

from libs.database import Dsns
from libs.events import MessageReceived, TurnCancelRequested
from libs.keys.file import FileKeys
from libs.policy import Policy
from libs.runtime.service import Subscription
from tests.services.gateway.conftest import AnsweringWorker
from tests.services.gateway.running import RunningGateway, running_gateway, served
from tests.services.gateway.surfaces.clients import user

Json = Any
STOP: Json = {"suma_stop_on_disconnect": "true"}


@pytest_asyncio.fixture(loop_scope="session")
async def slow(gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str) -> AsyncIterator[RunningGateway]:
    """A gateway with room for one stream, whose turns about waiting do not end."""
    plays = AnsweringWorker()
    worker = [Subscription(TurnCancelRequested, plays.cancelled), Subscription(MessageReceived, plays.received)]
    settings = {"streams_most_each": 1}
    async with running_gateway(gateway_where, owner, worker, policy=rules, keys=keys, settings=settings) as made:
        yield made


async def left(client: openai.AsyncOpenAI, about: Json) -> Json:
    """Begin a stream and leave it; return what it said of its turn."""
    sent: Json = {"model": "suma", "messages": [user("wait")], "metadata": about, "stream": True}
    stream: Json = await client.chat.completions.create(**sent)
    begun = await anext(aiter(stream))
    await stream.close()
    return begun.suma


async def test_disconnect_cancels_the_turn_on_request(slow: RunningGateway, owner: str) -> None:
    async with served(slow) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=owner, max_retries=0) as client:
        turn = await left(client, STOP)
        async with slow.client() as http:
            while (shown := (await http.get(f"/v1/turns/{turn['turn_id']}")).json())["ended_at"] is None:
                pass
    assert (shown["state"], shown["detail"]) == ("cancelled", "its client left")


async def test_disconnect_leaves_the_turn_running(slow: RunningGateway, owner: str) -> None:
    async with served(slow) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=owner, max_retries=0) as client:
        turn = await left(client, {})
        async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {owner}"}) as http:
            while await taken(http, turn["session_id"]):
                pass
            assert (await http.get(f"/v1/turns/{turn['turn_id']}")).json()["ended_at"] is None


async def taken(http: httpx.AsyncClient, session: str) -> bool:
    async with http.stream("GET", f"/v1/sessions/{session}/events") as stream:
        return stream.status_code == httpx.codes.TOO_MANY_REQUESTS


@pytest.mark.parametrize("stream", [True, False])
async def test_whole_turn_is_not_cancelled_at_its_end(slow: RunningGateway, owner: str, stream: bool) -> None:
    sent: Json = {"model": "suma", "input": "hello", "metadata": STOP, "stream": stream}
    async with served(slow) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=owner, max_retries=0) as client:
        answer: Json = await client.responses.create(**sent)
        if stream:
            answer = [event async for event in answer][-1].response
    assert (answer.status, answer.output_text) == ("completed", "HELLO")


async def test_stream_of_a_cancelled_response_ends_incomplete(slow: RunningGateway, owner: str) -> None:
    async with served(slow) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=owner, max_retries=0) as client:
        begun = await client.responses.create(model="suma", input="wait", background=True)
        await client.responses.cancel(begun.id)
        stream = await client.responses.retrieve(begun.id, stream=True)
        last: Json = [event async for event in stream][-1]
    assert (last.type, last.response.status) == ("response.incomplete", "cancelled")
