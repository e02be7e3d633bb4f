"""Another agent's whole job, with the A2A SDK's client: questions, an exclusion, a cancel, and a server that dies."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, SubscribeToTaskRequest

from tests.journeys.a2a import answer, connected, last, message, said, shown, state, whole
from tests.journeys.installation import Installation, installation
from tests.journeys.test_command import mess, names

UNCLEAR = "tidy it up somehow"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def agent(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Installation]:
    async with installation(tmp_path_factory.mktemp("suma")) as made:
        await made.start()
        yield made


@pytest.mark.requirement("A22b")
async def test_job_with_exclusion_survives_a_killed_agent(agent: Installation) -> None:
    folder = mess(agent.folder / "job")
    async with connected(agent) as client:
        task, asked = await said(client, message("sort by type", folder))
        verdict = {"verdict": "override", "digest": shown(asked)["digest"], "exclude": ["song.mp3"]}
        _, asked = await said(client, message("", task=task, data=verdict))
    assert (state(asked), shown(asked)["kind"]) == ("input_required", "commit")

    await agent.end(signal.SIGKILL)
    await agent.start()

    async with connected(agent, "HTTP+JSON") as client:
        updates = client.subscribe(SubscribeToTaskRequest(id=task))
        first = await anext(updates)
        assert first.task.status == asked
        _, done = await said(client, message(f"approve {shown(asked)['digest'][:16]}", task=task))
        _, seen = last([first, *await whole(updates)])
        assert [state(done), state(seen)] == ["completed", "completed"]
        assert answer(await client.get_task(GetTaskRequest(id=task)))
    assert names(folder) == {"Documents/a.txt", "Documents/b.txt", "song.mp3", "Images/pic.jpg"}


async def test_question_is_answered_and_the_task_cancelled(agent: Installation) -> None:
    folder = mess(agent.folder / "questions")
    async with connected(agent) as client:
        task, asked = await said(client, message(UNCLEAR, folder))
        assert (state(asked), shown(asked)["type"]) == ("input_required", "clarification")
        _, asked = await said(client, message("sort by type", task=task))
        assert (state(asked), shown(asked)["type"]) == ("input_required", "approval")
        assert state((await client.cancel_task(CancelTaskRequest(id=task))).status) == "canceled"
    assert names(folder) == {"a.txt", "b.txt", "song.mp3", "pic.jpg"}
