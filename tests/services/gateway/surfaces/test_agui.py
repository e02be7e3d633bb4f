"""AG-UI, as its own client sees it: it checks every event's shape and order."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio
from ag_ui.core import RunFinishedEvent

from deploy.local.cache import Unprovided
from services.gateway.sessions.store import Numbered
from services.gateway.surfaces.agui.events import Run
from tests.infrastructure import agui
from tests.services.gateway.surfaces.clients import DUPLICATES, Thread, names
from tests.support.stack import Stack

Json = Any
LOOK = "what is in this folder?"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def client() -> AsyncIterator[agui.Client]:
    try:
        async with agui.client() as made:
            yield made
    except Unprovided as reason:
        pytest.skip(str(reason))


def outcome(seen: agui.Seen) -> str:
    """Return how a run ended; no run ends with an error here."""
    assert seen.error is None, seen.error
    return str(seen.events[-1]["outcome"]["type"])


async def test_run_shows_text_tools_steps_and_state(client: agui.Client, stack: Stack) -> None:
    thread = Thread(client, stack, "shows", root=str(stack.folder("shows", a_txt="12345")))
    seen = await thread.say(LOOK)
    assert outcome(seen) == "success"
    assert (seen.types[:2], seen.types[-1]) == (["RUN_STARTED", "STATE_SNAPSHOT"], "RUN_FINISHED")
    # Partial text may overtake the events of the step before it.
    assert set(seen.types[2:-1]) == {
        *("STATE_DELTA", "STEP_STARTED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"),
        *("STEP_FINISHED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"),
    }
    assert seen.events[0]["protocolVersion"] == "1.0"
    assert seen.text.startswith("1 file (5 bytes).")
    assert (seen.state["status"], seen.state["steps"]["1"]["state"]) == ("completed", "succeeded")
    assert (await thread.say(LOOK)).state["session_id"] == seen.state["session_id"]


async def test_interrupt_takes_an_approval_without_a_part(client: agui.Client, stack: Stack) -> None:
    folder = stack.folder("interrupt", **DUPLICATES)
    thread = Thread(client, stack, "interrupt", root=str(folder))
    step = await thread.say("remove duplicates")
    assert outcome(step) == "interrupt"
    (first, _) = step.interrupts[0]["metadata"]["question"]["items"]
    commit = await thread.resume(step, {"approve": True, "exclude": [first["id"]]})
    assert [item["id"] for item in commit.interrupts[0]["metadata"]["question"]["items"]] == ["a.txt"]
    done = await thread.resume(commit, {"approve": True})
    assert (outcome(done), done.interrupts) == ("success", [])
    assert set(done.state["steps"]) == {"1", "2"}
    assert names(folder) == ["b.txt", "c.txt", "d.txt", "kept.txt"]
    calls = [call["id"] for message in done.messages for call in message.get("toolCalls", ())]
    results = [message["toolCallId"] for message in done.messages if message["role"] == "tool"]
    assert sorted(calls) == sorted(results)


async def test_interrupt_takes_a_clarification(client: agui.Client, stack: Stack) -> None:
    thread = Thread(client, stack, "unclear", root=str(stack.folder("unclear", a_txt="12345")))
    asked = await thread.say("frobnicate it")
    assert (outcome(asked), asked.interrupts[0]["reason"]) == ("interrupt", "clarification")
    assert (await thread.resume(asked, {"text": LOOK})).text.startswith("1 file")


async def test_abandoned_interrupt_cancels_the_turn(client: agui.Client, stack: Stack) -> None:
    folder = stack.folder("abandoned", **DUPLICATES)
    thread = Thread(client, stack, "abandoned", root=str(folder))
    asked = await thread.say("remove duplicates")
    assert outcome(await thread.resume(asked, status="cancelled")) == "cancelled"
    assert len(names(folder)) == 5
    # The question is closed: resuming it tells what came of it, and the thread goes on.
    assert outcome(await thread.resume(asked, {"approve": True})) == "cancelled"
    assert outcome(await thread.resume(asked, status="cancelled")) == "cancelled"
    assert (await thread.say(LOOK)).text.startswith("5 files")


async def test_question_closed_elsewhere_leaves_the_thread_usable(client: agui.Client, stack: Stack) -> None:
    thread = Thread(client, stack, "elsewhere", root=str(stack.folder("elsewhere", **DUPLICATES)))
    asked = await thread.say("remove duplicates")
    async with stack.api() as api:
        (question,) = [
            each
            for each in (await api.get("/v1/approvals")).json()["approvals"]
            if each["turn_id"] == asked.interrupts[0]["id"].partition("_")[0]
        ]
        denied = {"verdict": "deny", "digest": question["digest"]}
        assert (await api.post(f"/v1/approvals/{question['approval_id']}", json=denied)).is_success
    assert outcome(await thread.resume(asked, {"approve": True})) == "success"
    assert (await thread.say(LOOK)).text.startswith("5 files")


async def test_client_without_a_version_gets_outcomes_that_it_knows(stack: Stack) -> None:
    run = Run("thread", "run", "https://suma.example", versioned=False)
    ended = Numbered(1, "turn.ended", "t", datetime.now(UTC), '{"turn_id": "t", "state": "cancelled"}', None)
    (*_, finished) = run.take(ended)
    assert isinstance(finished, RunFinishedEvent)
    assert finished.outcome is not None
    assert finished.outcome.type == "success"


@pytest.mark.requirement("A22b")
async def test_run_goes_on_without_its_client(client: agui.Client, stack: Stack) -> None:
    thread = Thread(client, stack, "left", root=str(stack.folder("left", a_txt="12345")))
    left = await thread.say(LOOK, runId="run-1", leaveAt="STATE_SNAPSHOT")
    assert "RUN_FINISHED" not in left.types
    again = await thread.say(LOOK, runId="run-1")
    assert (outcome(again), again.state["turn_id"]) == ("success", left.events[1]["snapshot"]["turn_id"])
    assert again.text.startswith("1 file")


@pytest.mark.requirement("A22b")
@pytest.mark.parametrize("left_at", ["TOOL_CALL_ARGS", "TOOL_CALL_RESULT", "TEXT_MESSAGE_CONTENT"])
async def test_rejoined_run_sends_only_missing_events(client: agui.Client, stack: Stack, left_at: str) -> None:
    thread = Thread(client, stack, f"left at {left_at}", root=str(stack.folder(left_at, a_txt="12345")))
    await thread.say(LOOK, runId=left_at, leaveAt=left_at)
    await thread.say(LOOK, runId=left_at)
    whole = await thread.say(LOOK, runId=left_at)
    assert (outcome(whole), whole.text.count("1 file")) == ("success", 1)
    (call,) = (call for message in whole.messages for call in message.get("toolCalls", ()))
    assert set(json.loads(call["function"]["arguments"])) >= {"path"}
    assert [message["toolCallId"] for message in whole.messages if message["role"] == "tool"] == [call["id"]]


async def test_thread_and_interrupt_of_another_tenant_are_hidden(client: agui.Client, stack: Stack) -> None:
    theirs = await Thread(client, stack, "shared name").say("frobnicate it")
    stranger = Thread(client, stack, "shared name", await stack.stranger())
    assert "404" in str((await stranger.resume(theirs, {"text": LOOK})).error)
    own = await stranger.say("frobnicate that")
    assert own.state["session_id"] != theirs.state["session_id"]
    named = Thread(client, stack, theirs.state["session_id"], await stack.stranger())
    assert (await named.say("frobnicate")).state["session_id"] != theirs.state["session_id"]


async def test_inline_images_are_attached_and_remote_ones_refused(client: agui.Client, stack: Stack) -> None:
    thread = Thread(client, stack, "images")
    text = {"type": "text", "text": "frobnicate this"}
    image = {"type": "image", "source": {"type": "data", "value": "iVBORw0KGgo=", "mimeType": "image/png"}}
    seen = await thread.say([text, image])
    async with stack.api() as api:
        path = f"/v1/sessions/{seen.state['session_id']}/events"
        (message, *_) = (await api.get(path, params={"stream": "false"})).json()["events"]
    assert [file["media_type"] for file in message["data"]["attachments"]] == ["image/png"]
    remote = {"type": "image", "source": {"type": "url", "value": "https://example.com/cat.png"}}
    assert "REMOTE_FILE" in str((await Thread(client, stack, "remote").say([text, remote])).error)


async def test_file_of_another_tenant_is_not_attached(client: agui.Client, stack: Stack) -> None:
    text = {"type": "text", "text": "frobnicate this"}
    image = {"type": "image", "source": {"type": "data", "value": "iVBORw0KGgo=", "mimeType": "image/png"}}
    seen = await Thread(client, stack, "theirs").say([text, image])
    async with stack.api() as api:
        path = f"/v1/sessions/{seen.state['session_id']}/events"
        (message, *_) = (await api.get(path, params={"stream": "false"})).json()["events"]
    stranger = await stack.stranger()
    refused = []
    for id in (message["data"]["attachments"][0]["asset_id"], "none"):
        file = {"type": "image", "source": {"type": "file", "value": id, "mimeType": "image/png"}}
        refused.append((await Thread(client, stack, f"takes {id}", stranger).say([text, file])).error)
    assert "422" in str(refused[0])
    assert refused[0] == refused[1]


async def test_limit_is_a_429_with_a_wait(client: agui.Client, stack: Stack) -> None:
    key = await stack.stranger("limited")
    async with stack.api(key) as api:
        for _ in range(60):
            assert (await api.post("/agui", json={})).status_code == 422
        limited = await api.post("/agui", json={})
    assert limited.status_code == 429
    assert int(limited.headers["Retry-After"]) >= 1
    assert "ROUTE_RATE_LIMITED" in str((await Thread(client, stack, "limited", key).say(LOOK)).error)
