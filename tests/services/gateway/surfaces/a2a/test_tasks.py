"""A2A over both bindings, with the SDK's own client: tasks are sent, read, listed and cancelled (DESIGN §13)."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, ListTasksRequest, TaskState
from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from google.protobuf.json_format import MessageToDict

from libs import ids
from tests.services.gateway.surfaces.a2a.agent import BINDINGS, DIGEST, Agent, answer_of, message, send, state_of

V1 = {"A2A-Version": "1.0"}


@pytest.mark.parametrize("binding", BINDINGS)
async def test_message_becomes_a_completed_task(agent: Agent, binding: str) -> None:
    async with agent.client(binding) as client:
        task = await send(client, message("hello"))
        assert (state_of(task), answer_of(task)) == ("completed", "HELLO")
        assert [part.url for artifact in task.artifacts for part in artifact.parts if part.filename] == [
            f"{agent.url}/v1/assets/{task.artifacts[0].artifact_id}"
        ]
        assert await client.get_task(GetTaskRequest(id=task.id)) == task


async def test_task_is_a_turn_and_context_a_session(agent: Agent) -> None:
    async with agent.client() as client, agent.http() as http:
        task = await send(client, message("hello"))
        again = await send(client, message("more", context=task.context_id))
        turns = (await http.get(f"/v1/sessions/{task.context_id}/history")).json()["turns"]
    assert [turn["turn_id"] for turn in turns] == [task.id, again.id]


@pytest.mark.parametrize("binding", BINDINGS)
async def test_open_task_is_returned_at_once_and_cancelled_once(agent: Agent, binding: str) -> None:
    async with agent.client(binding) as client:
        task = await send(client, message("wait"), return_immediately=True)
        assert state_of(task) in ("submitted", "working")
        assert state_of(await client.cancel_task(CancelTaskRequest(id=task.id))) == "canceled"
        with pytest.raises(TaskNotCancelableError):
            await client.cancel_task(CancelTaskRequest(id=task.id))


async def test_refused_turn_is_a_rejected_task(agent: Agent) -> None:
    async with agent.client() as client:
        task = await send(client, message("refuse"))
    assert (state_of(task), task.status.message.parts[0].text) == ("rejected", "GUARD")


async def test_repeated_message_gets_the_same_task(agent: Agent) -> None:
    async with agent.client() as client:
        sent = message("hello")
        first = await send(client, sent)
        assert (await send(client, sent)).id == first.id
        assert (await send(client, message("other words", message_id=sent.message_id))).id != first.id


async def test_message_names_only_the_task_and_keeps_its_context(agent: Agent) -> None:
    async with agent.client() as client:
        asked = await send(client, message("which one"))
        assert (state_of(asked), asked.status.message.parts[0].text) == ("input_required", "Which folder?")
        done = await send(client, message("the red one", task=asked.id))
    assert (done.id, done.context_id, answer_of(done)) == (asked.id, asked.context_id, "THE RED ONE")
    assert [said.parts[0].text for said in done.history] == ["which one", "Which folder?", "the red one"]


async def test_message_in_a_context_answers_its_open_question(agent: Agent) -> None:
    async with agent.client() as client:
        asked = await send(client, message("which one"))
        done = await send(client, message("the red one", context=asked.context_id))
    assert (done.id, state_of(done), answer_of(done)) == (asked.id, "completed", "THE RED ONE")


async def test_wrong_context_of_a_task_is_rejected(agent: Agent) -> None:
    async with agent.client() as client:
        asked = await send(client, message("which one"))
        other = await send(client, message("hello"))
        with pytest.raises(InvalidParamsError):
            await send(client, message("red", task=asked.id, context=other.context_id))
        with pytest.raises(InvalidParamsError):
            await send(client, message("red", context=ids.new()))


async def test_ended_task_takes_no_message(agent: Agent) -> None:
    async with agent.client() as client:
        done = await send(client, message("hello"))
        with pytest.raises(UnsupportedOperationError):
            await send(client, message("more", task=done.id))


async def test_approval_is_overridden_with_an_exclusion(agent: Agent) -> None:
    async with agent.client() as client:
        asked = await send(client, message("approve this"))
        shown = MessageToDict(asked.status.message.parts[1].data)
        assert state_of(asked) == "input_required"
        assert [item["id"] for item in shown["items"]] == ["a.txt", "taxes.pdf"]
        answer = {"verdict": "override", "digest": shown["digest"], "exclude": ["taxes.pdf"]}
        done = await send(client, message("not my taxes", data=answer, task=asked.id))
    assert answer_of(done) == "OVERRIDE"
    assert (agent.worker.decided[-1].exclude, agent.worker.decided[-1].reason) == (("taxes.pdf",), "not my taxes")


async def test_answer_that_does_not_fit_leaves_the_question_open(agent: Agent) -> None:
    async with agent.client() as client:
        asked = await send(client, message("approve this"))
        wrong = {"verdict": "override", "digest": DIGEST, "exclude": ["nothing"]}
        with pytest.raises(InvalidParamsError, match="nothing is called nothing"):
            await send(client, message(data=wrong, task=asked.id))
        assert await client.get_task(GetTaskRequest(id=asked.id)) == asked


async def test_repeated_answer_gets_what_the_task_is_now(agent: Agent) -> None:
    async with agent.client() as client:
        asked = await send(client, message("approve twice"))
        first, second = (message(f"approve {DIGEST[:16]}", task=asked.id) for _ in range(2))
        again = await send(client, first)
        assert await send(client, first) == again
        done = await send(client, second)
        assert await send(client, first) == done
    assert (state_of(again), state_of(done)) == ("input_required", "completed")
    assert again.status.message != asked.status.message


async def test_words_approve_only_with_the_digest_shown(agent: Agent) -> None:
    async with agent.client() as client:
        asked = await send(client, message("approve this"))
        for words in ("yes", "approve", "approve 00000000"):
            with pytest.raises(InvalidParamsError):
                await send(client, message(words, task=asked.id))
        assert answer_of(await send(client, message("approve 9f2c9f2c9f2c9f2c", task=asked.id))) == "APPROVE"


async def test_file_part_is_refused_by_its_own_error(agent: Agent) -> None:
    async with agent.client() as client:
        sent = message("look")
        sent.parts.add(raw=b"x", media_type="image/png")
        with pytest.raises(ContentTypeNotSupportedError):
            await send(client, sent)


@pytest.mark.requirement("P8")
@pytest.mark.parametrize("binding", BINDINGS)
async def test_others_tasks_look_like_not_found(agent: Agent, binding: str) -> None:
    async with agent.client() as client:
        task = await send(client, message("wait"), return_immediately=True)
    for key in (await agent.stranger(), await agent.neighbour()):
        async with agent.client(binding, key) as other:
            await _sees_nothing(other, task.id)
            assert not (await other.list_tasks(ListTasksRequest(context_id=task.context_id))).tasks
            with pytest.raises(InvalidParamsError):
                await send(other, message("hello", context=task.context_id))


async def _sees_nothing(client: Client, task: str) -> None:
    with pytest.raises(TaskNotFoundError):
        await client.get_task(GetTaskRequest(id=task))
    with pytest.raises(TaskNotFoundError):
        await client.cancel_task(CancelTaskRequest(id=task))
    with pytest.raises(TaskNotFoundError):
        await send(client, message("hello", task=task))


@pytest.mark.parametrize("binding", BINDINGS)
async def test_list_pages_through_every_task_once(agent: Agent, binding: str) -> None:
    async with agent.client(binding) as client:
        open_task = await send(client, message("wait"), return_immediately=True)
        done = [await send(client, message(f"hello {n}")) for n in range(3)]
        asked = await send(client, message("which one"))
        await send(client, message("red", task=asked.id))
        pages = [await client.list_tasks(ListTasksRequest(page_size=2))]
        while pages[-1].next_page_token:
            pages.append(await client.list_tasks(ListTasksRequest(page_size=2, page_token=pages[-1].next_page_token)))
    assert [task.id for page in pages for task in page.tasks] == [
        asked.id,
        *(task.id for task in reversed(done)),
        open_task.id,
    ]
    assert [(page.total_size, len(page.tasks)) for page in pages] == [(5, 2), (5, 2), (5, 1)]


async def test_list_filters_by_context_status_and_time(agent: Agent) -> None:
    async with agent.client() as client:
        done = await send(client, message("hello"))
        asked = await send(client, message("which one"))

        async def listed(**about: Any) -> list[str]:
            return [task.id for task in (await client.list_tasks(ListTasksRequest(**about))).tasks]

        assert await listed(context_id=done.context_id) == [done.id]
        assert await listed(status=TaskState.TASK_STATE_INPUT_REQUIRED) == [asked.id]
        assert await listed(status_timestamp_after=asked.status.timestamp) == [asked.id]
        with pytest.raises(InvalidParamsError):
            await listed(page_size=101)
        with pytest.raises(InvalidParamsError):
            await listed(page_token="bad")


async def test_list_has_artifacts_and_history_only_on_request(agent: Agent) -> None:
    async with agent.http(**V1) as http, agent.client() as client:
        done = await send(client, message("hello"))
        (plain,) = (await http.get("/a2a/v1/tasks?historyLength=0")).json()["tasks"]
        (full,) = (await http.get("/a2a/v1/tasks?includeArtifacts=true")).json()["tasks"]
    assert "artifacts" not in plain
    assert not plain.get("history")
    assert full["artifacts"][-1]["parts"][0]["text"] == answer_of(done)
    assert full["history"][0]["parts"][0]["text"] == "hello"
