"""A2A 0.3 over JSON-RPC, as the frameworks speak it that have not moved to 1.0: by the SDK's own client of 0.3."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from a2a.client import Client, ClientConfig, ClientFactory
from a2a.client.card_resolver import parse_agent_card
from a2a.compat.v0_3 import types
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, TaskPushNotificationConfig
from a2a.utils.errors import InvalidParamsError, PushNotificationNotSupportedError, TaskNotFoundError

from tests.services.gateway.surfaces.a2a.agent import Agent, answer_of, message, send, state_of, streamed
from tests.services.gateway.surfaces.a2a.test_streams import states

CARD = "/.well-known/agent-card.json"


@asynccontextmanager
async def connected(agent: Agent, *, streaming: bool = False) -> AsyncIterator[Client]:
    """Yield a client that knows only the members of a card of 0.3."""
    async with agent.http() as http:
        card = (await http.get(CARD)).json()
        del card["supportedInterfaces"]
        config = ClientConfig(httpx_client=http, streaming=streaming)
        yield ClientFactory(config).create(parse_agent_card(card))


async def test_card_has_the_fields_that_0_3_clients_validate(agent: Agent) -> None:
    async with agent.http("") as http:
        card = types.AgentCard.model_validate((await http.get(CARD)).json())
    assert (card.url, card.preferred_transport, card.protocol_version) == (f"{agent.url}/a2a", "JSONRPC", "0.3")
    assert {"chat"} == {scope for each in card.security or () for scopes in each.values() for scope in scopes}
    assert card.security_schemes
    assert {scheme.root.type for scheme in card.security_schemes.values()} >= {"http", "apiKey"}


async def test_request_without_a_version_is_of_0_3(agent: Agent) -> None:
    sent = {"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "hello"}]}
    async with agent.http() as http:
        body = {"jsonrpc": "2.0", "id": 7, "method": "message/send", "params": {"message": sent}}
        task = (await http.post("/a2a", json=body)).json()["result"]
    assert (task["kind"], task["status"]["state"]) == ("task", "completed")
    assert task["artifacts"][-1]["parts"] == [{"kind": "text", "text": "HELLO"}]


async def test_client_of_0_3_asks_answers_and_reads(agent: Agent) -> None:
    async with connected(agent) as client:
        asked = await send(client, message("approve this", context="mine"))
        assert (state_of(asked), asked.context_id) == ("input_required", "mine")
        with pytest.raises(InvalidParamsError, match="Reply “approve 9f2c9f2c9f2c9f2c”"):
            await send(client, message("perhaps", task=asked.id))
        done = await send(client, message("approve 9f2c9f2c9f2c9f2c except 2", context="mine"))
        assert (done.id, answer_of(done)) == (asked.id, "OVERRIDE")
        assert answer_of(await client.get_task(GetTaskRequest(id=asked.id))) == "OVERRIDE"


async def test_client_of_0_3_streams_a_task(agent: Agent) -> None:
    async with connected(agent, streaming=True) as client:
        stream = await streamed(client, message("which one"))
        rest = await streamed(client, message("the red one", task=stream[0].task.id))
        done = await client.get_task(GetTaskRequest(id=stream[0].task.id))
    assert (states(stream)[-1], states(rest)[-1]) == ("input_required", "completed")
    assert answer_of(done) == "THE RED ONE"


async def test_client_of_0_3_sends_a_file(agent: Agent) -> None:
    sent = message("look")
    sent.parts.add(raw=b"three bikes", filename="notes.md", media_type="text/markdown")
    async with connected(agent) as client, agent.http() as http:
        task = await send(client, sent)
        events = (await http.get(f"/v1/sessions/{task.context_id}/events?stream=false")).json()["events"]
    (said,) = [event["data"] for event in events if event["type"] == "message.accepted"]
    assert [file["filename"] for file in said["attachments"]] == ["notes.md"]


async def test_client_of_0_3_cancels_only_its_own(agent: Agent) -> None:
    async with connected(agent) as client, agent.client(key=await agent.stranger()) as other:
        task = await send(client, message("wait"), return_immediately=True)
        with pytest.raises(TaskNotFoundError):
            await other.get_task(GetTaskRequest(id=task.id))
        assert state_of(await client.cancel_task(CancelTaskRequest(id=task.id))) == "canceled"
        with pytest.raises(TaskNotFoundError):
            await client.get_task(GetTaskRequest(id="nothing"))


async def test_webhooks_are_refused_to_clients_of_0_3(agent: Agent) -> None:
    async with connected(agent) as client:
        task = await send(client, message("wait"), return_immediately=True)
        hook = TaskPushNotificationConfig(task_id=task.id, id="h", url="https://example.org/hook")
        with pytest.raises(PushNotificationNotSupportedError):
            await client.create_task_push_notification_config(hook)
