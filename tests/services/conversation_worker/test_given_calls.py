"""A turn of one given call: no model plans or answers, and every check of a planned call applies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.events import (
    ApprovalRequested,
    MessageCompleted,
    PlanRejected,
    RememberRequested,
    StepChanged,
    ToolRequested,
    TurnEnded,
)
from libs.events.values import StepState, ToolCall
from tests import infrastructure
from tests.support import platform
from tests.support.platform import RunningPlatform, run_platform
from tests.support.scripted import Scripted


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def database(server: Postgres) -> AsyncIterator[Dsns]:
    async with infrastructure.fresh_database(server, await platform.template(server)) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(database: Dsns, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningPlatform]:
    """A platform whose model only reviews: it has no plan and no answer."""
    model = Scripted(plans=[], reviews=['{"approved": true}'] * 5, answers=[])
    async with run_platform(database, tmp_path_factory.mktemp("given"), model=model) as made:
        yield made


async def call(running: RunningPlatform, session: str, tool: str, **args: object) -> TurnEnded:
    folder = running.folder("a.txt", "b/c.txt", at=session)
    asked = ToolCall(tool=tool, args=args)
    turn = await running.say(f"call {tool}", session=session, root=folder, call=asked)
    return await running.finish(turn, session=session)


async def test_given_call_runs_without_a_model(running: RunningPlatform) -> None:
    ended = await call(running, "reads", "manage-files.list", path=".")
    assert ended.state == "completed"
    events = await running.logged("reads")
    done = [event for event in events if isinstance(event, StepChanged) and event.state is StepState.SUCCEEDED]
    assert done[0].data["count"] == 2
    assert [event.text for event in events if isinstance(event, MessageCompleted)] == [done[0].summary]
    assert not [event for event in events if isinstance(event, RememberRequested)]


@pytest.mark.requirement("P4")
async def test_given_change_waits_for_approval_and_commit(running: RunningPlatform) -> None:
    ended = await call(running, "moves", "manage-files.move", source="a.txt", target="b/a.txt")
    assert ended.state == "completed", ended
    assert (Path(running.root) / "moves" / "b" / "a.txt").exists()
    events = await running.logged("moves")
    assert [event.kind for event in events if isinstance(event, ApprovalRequested)][-1] == "commit"
    assert "committee.review" in {record.action for record in await running.audited("moves")}


@pytest.mark.requirement("P4")
@pytest.mark.parametrize(
    ("session", "tool", "args"),
    [
        ("unknown", "manage-files.explode", {}),
        ("outside", "manage-files.list", {"path": "../elsewhere"}),
        ("unread", "manage-files.delete", {"paths": ["a.txt"]}),
        ("misfit", "manage-files.list", {"paths": 3}),
    ],
)
async def test_given_call_that_fails_a_check_never_runs(
    running: RunningPlatform, session: str, tool: str, args: dict[str, object]
) -> None:
    ended = await call(running, session, tool, **args)
    assert (ended.state, ended.reason) == ("refused", "COMMITTEE_REJECTED")
    events = await running.logged(session)
    assert [event for event in events if isinstance(event, PlanRejected)]
    assert not [event for event in events if isinstance(event, ToolRequested)]
