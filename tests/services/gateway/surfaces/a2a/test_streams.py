"""Streams of tasks: sent and subscribed to, over both bindings, equal for every client (specification 3.5.2, 11.7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    Role,
    StreamResponse,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils.errors import A2AError, TaskNotFoundError, UnsupportedOperationError

from libs.cache import Delta, Stream
from libs.database import Dsns
from libs.keys.file import FileKeys
from libs.policy import Policy
from services.gateway.surfaces.a2a.tasks import PARTIAL_TEXT
from tests.services.gateway.running import running_gateway, served
from tests.services.gateway.sse import Sse, opened, read
from tests.services.gateway.surfaces.a2a.agent import BINDINGS, DIGEST, Agent, Worker, message, request, streamed


def kinds(stream: Sequence[StreamResponse]) -> list[str]:
    """Return what each response is; a status by its state."""
    return [_kind(response) for response in stream]


def _kind(response: StreamResponse) -> str:
    if response.HasField("status_update"):
        return name_of(response.status_update.status.state)
    return response.WhichOneof("payload") or ""


def states(stream: Sequence[StreamResponse]) -> list[str]:
    """Return the states that a stream shows, that of its first task included."""
    (first, *rest) = stream
    found = [response.status_update.status.state for response in rest if response.HasField("status_update")]
    return [name_of(state) for state in (first.task.status.state, *found)]


def name_of(state: TaskState) -> str:
    return TaskState.Name(state).removeprefix("TASK_STATE_").lower()


@pytest.mark.parametrize("binding", BINDINGS)
async def test_stream_begins_with_the_task_and_ends_with_it(agent: Agent, binding: str) -> None:
    async with agent.client(binding, streaming=True) as client:
        stream = await streamed(client, message("hello"))
    # The first task never shows more than the updates that follow it, however fast the turn was.
    assert (kinds(stream)[0], stream[0].task.status.state) == ("task", TaskState.TASK_STATE_SUBMITTED)
    assert kinds(stream)[-4:] == ["artifact_update", "working", "artifact_update", "completed"]
    answer = stream[-2].artifact_update
    assert (answer.artifact.parts[0].text, answer.last_chunk, answer.append) == ("HELLO", True, False)


async def test_question_has_one_id_in_stream_status_and_history(agent: Agent) -> None:
    async with agent.client(streaming=True) as client:
        asked = (await streamed(client, message("which one")))[-1].status_update
        task = await client.get_task(GetTaskRequest(id=asked.task_id))
    assert task.status.message == asked.status.message
    assert [said.message_id for said in task.history if said.role == Role.ROLE_AGENT] == [
        task.status.message.message_id
    ]


@pytest.mark.parametrize("binding", BINDINGS)
async def test_stream_pauses_at_a_question_and_continues_after_the_answer(agent: Agent, binding: str) -> None:
    async with agent.client(binding, streaming=True) as client:
        asked = await streamed(client, message("which one"))
        last = asked[-1].status_update
        assert (kinds(asked)[-1], last.status.message.parts[0].text) == ("input_required", "Which folder?")
        rest = await streamed(client, message("the red one", task=last.task_id))
    assert kinds(rest)[0] == "task"
    # The worker may have ended the task before the gateway reads it.
    assert states(rest)[0] in ("working", "completed")
    assert states(rest)[-1] == "completed"


@pytest.mark.parametrize("binding", BINDINGS)
async def test_stream_of_an_answer_is_of_the_task_that_asked(agent: Agent, binding: str) -> None:
    async with agent.client(binding, streaming=True) as client:
        asked = (await streamed(client, message("which one")))[0].task
        stream = await streamed(client, message("the red one", context=asked.context_id))
    assert (kinds(stream).count("task"), stream[0].task.id) == (1, asked.id)
    assert states(stream)[-1] == "completed"


@pytest.mark.parametrize("binding", BINDINGS)
async def test_stream_ends_with_a_question_asked_before_it_began(agent: Agent, binding: str) -> None:
    async with agent.client(binding, streaming=True) as client:
        asked = await streamed(client, message("approve twice"))
        again = await streamed(client, message(f"approve {DIGEST[:16]}", task=asked[0].task.id))
    assert (kinds(again), states(again)) == (["task"], ["input_required"])
    assert again[0].task.status.message != asked[-1].status_update.status.message


@pytest.mark.parametrize("binding", BINDINGS)
async def test_subscribers_get_the_same_updates_and_the_end(agent: Agent, binding: str) -> None:
    async with agent.client(binding, streaming=True) as client, agent.client(streaming=True) as other:
        task = await send_now(client, "wait")
        one, two, gone = (Reading(each, task) for each in (client, other, other))
        await asyncio.gather(one.begun(), two.begun(), gone.begun())
        await gone.close()
        await client.cancel_task(CancelTaskRequest(id=task))
        first, second = await asyncio.gather(one.rest(), two.rest())
    assert first == second
    assert kinds(first) == ["canceled"]


async def test_partial_text_streams_only_where_it_is_activated(agent: Agent) -> None:
    partial = {"A2A-Extensions": PARTIAL_TEXT}
    async with agent.client(streaming=True) as plain, agent.client(streaming=True, **partial) as client:
        task = await send_now(client, "wait")
        one, other = Reading(client, task), Reading(plain, task)
        await asyncio.gather(one.begun(), other.begun())
        deltas = agent.gateway.platform.deltas
        pieces = []
        for attempt, text in ((1, "Hal"), (2, "Hel"), (2, "lo")):
            await deltas.append(Stream(agent.gateway.tenant, task), Delta("c1", attempt, text))
            while True:
                update = (await one.begun()).artifact_update
                if update.artifact.artifact_id:
                    break
            pieces.append((update.artifact.parts[0].text, update.append))
        await client.cancel_task(CancelTaskRequest(id=task))
        assert kinds(await other.rest()) == ["canceled"]
    assert pieces == [("Hal", False), ("Hel", False), ("lo", True)]


async def test_output_of_a_command_is_no_partial_text(agent: Agent) -> None:
    partial = {"A2A-Extensions": PARTIAL_TEXT}
    async with agent.client(streaming=True, **partial) as client, agent.http() as http:
        task = await send_now(client, "wait")
        reading, turn = Reading(client, task), Stream(agent.gateway.tenant, task)
        await reading.begun()
        session = (await http.get(f"/v1/turns/{task}")).json()["session_id"]
        async with opened(http, session) as stream:
            await agent.gateway.platform.deltas.append(turn, Delta("run", 1, "ran 1 test", "s1"))
            await read(stream, Sse(), until="delta")
        await agent.gateway.platform.deltas.append(turn, Delta("answer", 1, "Done."))
        while not (piece := (await reading.begun()).artifact_update.artifact).artifact_id:
            pass
        await client.cancel_task(CancelTaskRequest(id=task))
    assert piece.parts[0].text == "Done."


async def test_ended_and_others_tasks_have_no_stream(agent: Agent) -> None:
    stranger = await agent.stranger()
    async with agent.client(streaming=True) as client, agent.client(key=stranger, streaming=True) as other:
        done = (await streamed(client, message("hello")))[0].task
        with pytest.raises(UnsupportedOperationError):
            await Reading(client, done.id).begun()
        with pytest.raises(TaskNotFoundError):
            await Reading(other, done.id).begun()


@pytest.mark.parametrize("binding", BINDINGS)
async def test_stop_ends_a_stream_with_an_error(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, binding: str
) -> None:
    worker = Worker()
    async with (
        running_gateway(gateway_where, owner, worker.subscriptions, policy=rules, keys=keys) as made,
        served(made) as url,
        Agent(made, worker, url, owner).client(binding, streaming=True) as client,
    ):
        reading = Reading(client, await send_now(client, "wait"))
        await reading.begun()
        made.context.streams.close()
        with pytest.raises(A2AError):
            await reading.rest()


async def send_now(client: Client, text: str) -> str:
    """Send a message; return its task's id once a worker has the task."""
    async for response in client.send_message(request(message(text))):
        if response.status_update.status.state == TaskState.TASK_STATE_WORKING:
            return response.status_update.task_id
    raise AssertionError("no worker has the task")


class Reading:
    """A subscription, read step by step."""

    def __init__(self, client: Client, task: str) -> None:
        self._items: AsyncIterator[StreamResponse] = client.subscribe(SubscribeToTaskRequest(id=task))

    async def begun(self) -> StreamResponse:
        async with asyncio.timeout(20):
            return await anext(self._items)

    async def rest(self) -> list[StreamResponse]:
        async with asyncio.timeout(20):
            return [item async for item in self._items]

    async def close(self) -> None:
        await self._items.aclose()  # type: ignore[attr-defined]
