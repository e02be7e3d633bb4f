"""A2A over both bindings, with the SDK's own client: tasks are sent, read, listed and cancelled."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    SendMessageRequest,
    StreamResponse,
    TaskState,
)
from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from google.protobuf.json_format import MessageToDict

from libs import ids
from tests.services.gateway.surfaces.a2a.agent import (
    BINDINGS,
    DIGEST,
    NEXT_DIGEST,
    Agent,
    answer_of,
    message,
    send,
    state_of,
    streamed,
)

V1 = {"A2A-Version": "1.0"}
TURN = "urn:suma:a2a:turn:v1"


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
        for context in (other.context_id, ids.new()):
            with pytest.raises(InvalidParamsError, match="another context"):
                await send(client, message("red", task=asked.id, context=context))


@pytest.mark.parametrize("name", ["mine", "ours / 7 é", "7d1f6c1c-92b7-4f3f-a9f0-0b6f6d1b2a11"])
async def test_context_keeps_the_name_that_its_client_gave(agent: Agent, name: str) -> None:
    async with agent.client() as client, agent.client(streaming=True) as other:
        first = await send(client, message("hello", context=name))
        again = await send(client, message("more", context=name))
        stream = await streamed(other, message("rest", context=name))
        got = await client.get_task(GetTaskRequest(id=first.id))
        listed = (await client.list_tasks(ListTasksRequest(context_id=name))).tasks
    assert {task.context_id for task in (first, again, got, *listed)} == {name}
    assert {_context(update) for update in stream} == {name}
    assert [task.id for task in listed] == [stream[0].task.id, again.id, first.id]


def _context(update: StreamResponse) -> str:
    return str(getattr(update, update.WhichOneof("payload") or "").context_id)


async def test_same_name_is_another_context_for_each_caller(agent: Agent) -> None:
    async with agent.client() as client, agent.client(key=await agent.neighbour()) as other:
        mine = await send(client, message("hello", context="shared name"))
        theirs = await send(other, message("hello", context="shared name"))
        assert [task.id for task in (await other.list_tasks(ListTasksRequest(context_id="shared name"))).tasks] == [
            theirs.id
        ]
    assert mine.id != theirs.id


async def test_context_name_has_a_limit(agent: Agent) -> None:
    async with agent.client() as client:
        with pytest.raises(InvalidParamsError, match="at most 200"):
            await send(client, message("hello", context="x" * 201))


async def test_option_that_a_context_began_with_may_be_repeated(agent: Agent) -> None:
    async with agent.client() as client:
        await send(client, message("hello", context="mine", metadata={TURN: {"title": "Papers"}}))
        await send(client, message("more", context="mine", metadata={TURN: {"title": "Papers"}}))
        with pytest.raises(InvalidParamsError, match="root and title cannot change"):
            await send(client, message("rest", context="mine", metadata={TURN: {"title": "Others"}}))


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


async def test_repeated_answer_returns_the_current_task(agent: Agent) -> None:
    async with agent.client() as client:
        asked = await send(client, message("approve twice"))
        first, second = (message(f"approve {digest[:16]}", task=asked.id) for digest in (DIGEST, NEXT_DIGEST))
        again = await send(client, first)
        assert await send(client, first) == again
        done = await send(client, second)
        assert await send(client, first) == done
    assert (state_of(again), state_of(done)) == ("input_required", "completed")
    assert again.status.message != asked.status.message


@pytest.mark.parametrize(
    ("words", "data", "verdict", "exclude"),
    [
        ("Yes.", None, "APPROVE", ()),
        ("approve 9f2c9f2c9f2c9f2c", None, "APPROVE", ()),
        ("approve except 2", None, "OVERRIDE", ("taxes.pdf",)),
        ("Approve 9F2C9F2C except taxes.pdf", None, "OVERRIDE", ("taxes.pdf",)),
        ("deny: my papers", None, "DENY", ()),
        ("", {"approve": True}, "APPROVE", ()),
        ("", {"approve": True, "digest": "9f2c9f2c", "exclude": ["a.txt"]}, "OVERRIDE", ("a.txt",)),
    ],
)
async def test_answer_to_a_named_task_counts(
    agent: Agent, words: str, data: Any, verdict: str, exclude: tuple[str, ...]
) -> None:
    async with agent.client() as client:
        asked = await send(client, message("approve this"))
        assert answer_of(await send(client, message(words, data=data, task=asked.id))) == verdict
    assert agent.worker.decided[-1].exclude == exclude


@pytest.mark.parametrize("words", ["perhaps", "approve 00000000", "approve except 3", "approve 9f2c9f2c maybe"])
async def test_unclear_answer_is_refused_with_the_accepted_forms(agent: Agent, words: str) -> None:
    async with agent.client() as client:
        asked = await send(client, message("approve this"))
        with pytest.raises(InvalidParamsError, match="Reply “approve 9f2c9f2c9f2c9f2c”"):
            await send(client, message(words, task=asked.id))
        assert await client.get_task(GetTaskRequest(id=asked.id)) == asked


@pytest.mark.parametrize(
    ("words", "data"),
    [
        ("perhaps", None),
        ("approve 00000000", None),
        (f"approve {DIGEST[:16]} except 7", None),
        ("", {"verdict": "override", "digest": DIGEST}),
        ("", {"approve": True, "digest": "00000000"}),
    ],
)
@pytest.mark.parametrize("by", ["task", "context"])
async def test_refused_answer_leaves_the_question_open(agent: Agent, by: str, words: str, data: Any) -> None:
    async with agent.client() as client, agent.client(streaming=True) as other:
        asked = await send(client, message("approve this", context="mine"))
        place = {"task": asked.id} if by == "task" else {"context": "mine"}
        for each in (client, other):
            with pytest.raises(InvalidParamsError):
                await streamed(each, message(words, data=data, **place))
        assert await client.get_task(GetTaskRequest(id=asked.id)) == asked
        assert state_of(await send(client, message(f"approve {DIGEST}", context="mine"))) == "completed"


async def test_words_without_a_digest_answer_only_the_first_question(agent: Agent) -> None:
    """The client may have been shown an earlier one."""
    async with agent.client() as client:
        asked = await send(client, message("approve twice"))
        again = await send(client, message("yes", task=asked.id))
        for unbound in (message("yes", task=asked.id), message(data={"approve": True}, task=asked.id)):
            with pytest.raises(InvalidParamsError, match="names no question"):
                await send(client, unbound)
        assert await client.get_task(GetTaskRequest(id=asked.id)) == again


async def test_digest_in_a_context_answers_its_open_approval(agent: Agent) -> None:
    async with agent.client() as client:
        asked = await send(client, message("approve this"))
        sent = message("approve 9f2c9f2c9f2c9f2c except 1", context=asked.context_id)
        done = await send(client, sent)
        assert await send(client, sent) == done
        assert [task.id for task in (await client.list_tasks(ListTasksRequest())).tasks] == [asked.id]
    assert (done.id, answer_of(done)) == (asked.id, "OVERRIDE")


@pytest.mark.parametrize("words", ["yes", "list the files", "approve 00000000"])
async def test_context_that_waits_for_an_approval_starts_no_task(agent: Agent, words: str) -> None:
    async with agent.client() as client:
        asked = await send(client, message("approve this"))
        with pytest.raises(InvalidParamsError, match="Reply “approve 9f2c9f2c9f2c9f2c”"):
            await send(client, message(words, context=asked.context_id))
        assert [task.id for task in (await client.list_tasks(ListTasksRequest())).tasks] == [asked.id]


async def test_late_digest_in_a_context_starts_no_task(agent: Agent) -> None:
    async with agent.client() as client:
        asked = await send(client, message("approve this"))
        await send(client, message("approve 9f2c9f2c9f2c9f2c", task=asked.id))
        with pytest.raises(InvalidParamsError, match="waits for no approval"):
            await send(client, message("approve 9f2c9f2c9f2c9f2c", context=asked.context_id))
        assert [task.id for task in (await client.list_tasks(ListTasksRequest())).tasks] == [asked.id]


async def test_refused_option_names_its_reason(agent: Agent) -> None:
    async with agent.client() as client:
        for options, reason in (({"root": "home"}, "root: String should match"), ({"attachments": 5}, "is a list")):
            with pytest.raises(InvalidParamsError, match=reason):
                await send(client, message("hello", metadata={TURN: options}))


async def test_options_of_the_request_count(agent: Agent) -> None:
    async with agent.client() as client, agent.http() as http:
        about = SendMessageRequest(message=message("hello"), metadata={TURN: {"title": "Papers", "root": "/srv"}})
        about.message.metadata.update({TURN: {"title": "Mine"}})
        (answer,) = [response async for response in client.send_message(about)]
        session = (await http.get(f"/v1/sessions/{answer.task.context_id}")).json()
    assert (session["title"], session["root"]) == ("Mine", "/srv")


@pytest.mark.parametrize("context", ["", "mine"])
async def test_content_of_a_file_part_becomes_an_upload(agent: Agent, context: str) -> None:
    sent = message("look", context=context)
    sent.parts.add(raw=b"three bikes", filename="notes.md", media_type="text/markdown")
    sent.parts.add(raw=b"x")
    async with agent.client() as client, agent.http() as http:
        task = await send(client, sent)
        assert (await send(client, sent)).id == task.id
        ((session,),) = await agent.gateway.rows("select session_id from gateway.turns where turn_id = $1", task.id)
        events = (await http.get(f"/v1/sessions/{session}/events?stream=false")).json()["events"]
        (said,) = [event["data"] for event in events if event["type"] == "message.accepted"]
        content = await http.get(f"/v1/assets/{said['attachments'][0]['asset_id']}")
    assert [file["filename"] for file in said["attachments"]] == ["notes.md", "file.bin"]
    assert (said["text"], content.content) == ("look", b"three bikes")


async def test_file_by_address_is_refused_by_its_own_error(agent: Agent) -> None:
    async with agent.client() as client:
        sent = message("look")
        sent.parts.add(url="https://example.org/a.png", media_type="image/png")
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
            assert (await send(other, message("hello", context=task.context_id))).id != task.id


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


async def test_list_and_get_return_the_same_task(agent: Agent) -> None:
    async with agent.client() as client:
        waiting = await send(client, message("approve this"))
        asking = await send(client, message("which one"))
        asked = await send(client, message("which one"))
        done = await send(client, message("the red one", task=asked.id))
        listed = (await client.list_tasks(ListTasksRequest(include_artifacts=True))).tasks
    assert [len(task.history) for task in (done, asking, waiting)] == [3, 2, 1]
    assert list(listed) == [done, asking, waiting]


async def test_list_has_artifacts_and_history_only_on_request(agent: Agent) -> None:
    async with agent.http(**V1) as http, agent.client() as client:
        done = await send(client, message("hello"))
        (plain,) = (await http.get("/a2a/v1/tasks?historyLength=0")).json()["tasks"]
        (full,) = (await http.get("/a2a/v1/tasks?includeArtifacts=true")).json()["tasks"]
    assert "artifacts" not in plain
    assert not plain.get("history")
    assert full["artifacts"][-1]["parts"][0]["text"] == answer_of(done)
    assert full["history"][0]["parts"][0]["text"] == "hello"
