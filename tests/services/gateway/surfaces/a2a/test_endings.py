"""Each way to answer a task's approval against each way that it ends: all views agree, and the client can go on."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, ListTasksRequest, Message, Task
from a2a.utils.errors import InvalidParamsError, UnsupportedOperationError
from google.protobuf.json_format import MessageToDict

from tests.services.gateway.surfaces.a2a.agent import DIGEST, Agent, message, send, state_of, streamed
from tests.services.gateway.surfaces.a2a.test_streams import Reading, states

WAYS = ("data", "words", "digest", "context", "data in context")
ENDINGS = {
    "approved": "completed",
    "denied": "completed",
    "failed": "failed",
    "cancelled": "canceled",
    "closed elsewhere": "completed",
    "expired": "completed",
}
"""The state of a task after each ending of its approval."""
LATE = ("cancelled", "closed elsewhere", "expired")
"""Endings before the answer arrives."""


def answer(way: str, asked: Task, verdict: str) -> Message:
    """Return an answer to a task's approval."""
    match way:
        case "data":
            return message(data={"verdict": verdict, "digest": DIGEST}, task=asked.id)
        case "words":
            return message(verdict, task=asked.id)
        case "digest":
            return message(f"{verdict} {DIGEST[:16]}", task=asked.id)
        case "context":
            return message(f"{verdict} {DIGEST[:16]}", context=asked.context_id)
        case _:
            return message(data={"approve": verdict == "approve", "digest": DIGEST}, context=asked.context_id)


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("way", WAYS)
async def test_client_goes_on_after_each_ending(agent: Agent, way: str, ending: str, streaming: bool) -> None:
    async with agent.client() as client, agent.client(streaming=True) as other:
        asked = await send(client, message(f"approve {ending}", context="mine"))
        await _end(agent, client, asked, ending)
        said = answer(way, asked, "deny" if ending == "denied" else "approve")
        if ending in LATE:
            # It says why in the protocol's words, and starts no task.
            with pytest.raises((InvalidParamsError, UnsupportedOperationError)):
                await (streamed(other, said) if streaming else send(client, said))
        else:
            ended = states(await streamed(other, said))[-1] if streaming else state_of(await send(client, said))
            assert ended == ENDINGS[ending]
        await _agree(client, asked.id, ENDINGS[ending])
        assert state_of(await send(client, message("hello", context="mine"))) == "completed"


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
        await _agree(client, asked.id, "input_required")
        assert (await Reading(other, asked.id).begun()).task == asked
        assert state_of(await send(client, answer("context", asked, "approve"))) == "completed"


async def _end(agent: Agent, client: Client, asked: Task, ending: str) -> None:
    """End a task's approval before its client answers, if it is to end so."""
    shown = MessageToDict(asked.status.message.parts[1].data)
    async with agent.http() as http:
        turn = (await http.get(f"/v1/turns/{asked.id}")).json()
        match ending:
            case "cancelled":
                await client.cancel_task(CancelTaskRequest(id=asked.id))
            case "closed elsewhere":
                done = await http.post(
                    f"/v1/approvals/{shown['approval_id']}", json={"verdict": "approve", "digest": DIGEST}
                )
                assert done.status_code == 200
                await agent.gateway.seen(turn["session_id"], lambda event: event.type == "turn.ended")
            case "expired":
                await agent.expire(turn["session_id"], asked.id, shown["approval_id"])


async def _agree(client: Client, id: str, state: str) -> None:
    """Check that get and list return the same task, in this state."""
    got = await client.get_task(GetTaskRequest(id=id))
    listed = (await client.list_tasks(ListTasksRequest(context_id="mine", include_artifacts=True))).tasks
    assert (state_of(got), list(listed)) == (state, [got])
