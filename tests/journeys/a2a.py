"""Another agent: the A2A SDK's client, connected by a platform's card."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import (
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
    TaskStatus,
)
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct, Value

from libs import ids
from tests.journeys.installation import SECONDS, Installation

WITHIN = 60.0
TURN = "urn:suma:a2a:turn:v1"


@asynccontextmanager
async def connected(agent: Installation, binding: str = "JSONRPC") -> AsyncIterator[Client]:
    """Yield a client, made from the agent's card."""
    key = {"Authorization": f"Bearer {agent.directory.key()}"}
    async with httpx.AsyncClient(headers=key, timeout=SECONDS, trust_env=False) as http:
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
    statuses = [item.status_update.status for item in stream if item.HasField("status_update")]
    return stream[0].task.id, statuses[-1]


def state(status: TaskStatus) -> str:
    return TaskState.Name(status.state).removeprefix("TASK_STATE_").lower()


def shown(status: TaskStatus) -> dict[str, Any]:
    """Return the data of a question."""
    found: dict[str, Any] = MessageToDict(status.message.parts[1].data)
    return found


def answer(task: Task) -> str:
    (found,) = [artifact for artifact in task.artifacts if artifact.artifact_id == "answer"]
    return found.parts[0].text
