"""The A2A SDK's client: another agent, connected by a platform's card."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskState,
    TaskStatus,
)
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct, Value

from libs import ids
from tests.journeys.clients.conversation import WITHIN
from tests.journeys.installation import Installation

TURN = "urn:suma:a2a:turn:v1"


@asynccontextmanager
async def connected(agent: Installation, binding: str = "JSONRPC") -> AsyncIterator[Client]:
    """Yield a client, made from the agent's card."""
    key = {"Authorization": f"Bearer {agent.key}"}
    async with httpx.AsyncClient(headers=key, timeout=WITHIN, trust_env=False) as http:
        card = await A2ACardResolver(http, agent.url).get_agent_card()
        config = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding], use_client_preference=True)
        yield ClientFactory(config).create(card)


def message(text: str, folder: Path | None = None, *, task: str = "", data: object = None) -> Message:
    about = Struct()
    if folder is not None:
        about.update({TURN: {"root": str(folder), "hitl": "key"}})
    parts = [Part(text=text)] if data is None else [Part(data=ParseDict(data, Value()))]  # type: ignore[arg-type]
    return Message(message_id=ids.new(), role=Role.ROLE_USER, parts=parts, task_id=task, metadata=about)


async def said(client: Client, sent: Message) -> tuple[str, TaskStatus]:
    """Send a message, read its stream to the end, and return the task's id and last status."""
    return last(await whole(client.send_message(SendMessageRequest(message=sent))))


async def whole(updates: AsyncIterator[StreamResponse]) -> Sequence[StreamResponse]:
    """Read a stream to its end, which the server's heartbeats would put off for ever."""
    async with asyncio.timeout(WITHIN):
        return [item async for item in updates]


def last(stream: Sequence[StreamResponse]) -> tuple[str, TaskStatus]:
    assert stream[0].HasField("task")
    updates = [item.status_update.status for item in stream if item.HasField("status_update")]
    return stream[0].task.id, [stream[0].task.status, *updates][-1]


def state(status: TaskStatus) -> str:
    return TaskState.Name(status.state).removeprefix("TASK_STATE_").lower()


def shown(status: TaskStatus) -> dict[str, Any]:
    """Return the data of a question."""
    found: dict[str, Any] = MessageToDict(status.message.parts[1].data)
    return found


def answer(task: Task) -> str:
    (found,) = [artifact for artifact in task.artifacts if artifact.artifact_id == "answer"]
    return found.parts[0].text


@asynccontextmanager
async def task(suma: Installation, folder: Path) -> AsyncIterator[TaskConversation]:
    async with connected(suma) as client:
        yield TaskConversation(client, folder)


class TaskConversation:
    """A task, which asks by the state INPUT_REQUIRED."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client, self._folder = client, folder
        self._task = ""
        self._asked = TaskStatus()
        self._updates: AsyncIterator[StreamResponse] | None = None

    async def say(self, text: str) -> str:
        return await self._sent(message(text, None if self._task else self._folder, task=self._task))

    async def approve(self, *, without: str | None = None) -> str:
        digest = shown(self._asked)["digest"]
        if without is None:
            return await self._sent(message(f"approve {digest[:16]}", task=self._task))
        verdict = {"verdict": "override", "digest": digest, "exclude": [without]}
        return await self._sent(message("", task=self._task, data=verdict))

    async def cancel(self) -> str:
        done = await self._client.cancel_task(CancelTaskRequest(id=self._task))
        return "cancelled" if state(done.status) == "canceled" else state(done.status)

    async def begin(self, text: str) -> None:
        self._updates = self._client.send_message(SendMessageRequest(message=message(text, self._folder)))
        self._task = (await anext(self._updates)).task.id

    async def rejoin(self) -> None:
        assert self._updates is not None
        with pytest.raises(A2AClientError):
            await whole(self._updates)
        self._updates = self._client.subscribe(SubscribeToTaskRequest(id=self._task))
        assert (await anext(self._updates)).task.id == self._task

    async def end(self) -> str:
        assert self._updates is not None
        await whole(self._updates)
        return answer(await self._client.get_task(GetTaskRequest(id=self._task)))

    async def _sent(self, message: Message) -> str:
        self._task, self._asked = await said(self._client, message)
        return shown(self._asked)["type"] if state(self._asked) == "input_required" else state(self._asked)
