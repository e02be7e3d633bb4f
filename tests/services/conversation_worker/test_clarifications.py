"""Answers to a clarification: each names the turn that asked, and goes on with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import (
    ClarificationReplied,
    ClarificationRequested,
    PlanRequested,
    ToolCall,
    TurnEnded,
    TurnStarted,
)
from libs.models.ports import ClarificationNeeded
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

LOOK = plan(("manage-files.list", {"path": "."}))


@pytest.fixture
async def at(home: Dsns, tmp_path: Path) -> AsyncIterator[RunningPlatform]:
    model = scripted_model(ClarificationNeeded("Which?"), LOOK, LOOK)
    async with run_platform(home, tmp_path, model=model) as running:
        yield running


async def asking(at: RunningPlatform) -> str:
    """Begin a turn that asks; return its id."""
    turn = await at.say("find them", session="s", root=at.folder("a.tmp"))
    await at.until(ClarificationRequested, session="s")
    return turn


async def test_reply_continues_the_turn_and_begins_none(at: RunningPlatform) -> None:
    turn = await asking(at)
    await at.say("the tmp files", session="s", answers=turn, skill="manage-files")
    assert (await at.ended(turn, session="s")).state == "completed"
    events = await at.logged("s")
    assert [event.turn_id for event in events if isinstance(event, TurnStarted | TurnEnded)] == [turn, turn]
    task = [event.task for event in events if isinstance(event, PlanRequested)][-1]
    assert (task.text, task.clarification, task.skill) == ("find them", "the tmp files", "manage-files")


async def test_message_that_names_no_question_waits_behind_it(at: RunningPlatform) -> None:
    turn = await asking(at)
    next = await at.say("look", session="s")
    await at.say("the tmp files", session="s", answers=turn)
    await at.ended(next, session="s")
    begun = [event.turn_id for event in await at.logged("s") if isinstance(event, TurnStarted)]
    assert begun == [turn, next]


async def test_given_call_is_refused_while_a_question_is_open(at: RunningPlatform) -> None:
    await asking(at)
    call = ToolCall(tool="manage-files.list", args={"path": "."})
    refused = await at.ended(await at.say("list", session="s", call=call), session="s")
    assert (refused.state, refused.reason) == ("refused", "BUSY")


async def test_late_reply_begins_a_turn_of_its_own(at: RunningPlatform) -> None:
    turn = await asking(at)
    await at.cancel(turn, session="s")
    late = await at.say("the tmp files", session="s", answers=turn)
    assert (await at.ended(late, session="s")).state == "completed"
    (replied,) = [event for event in await at.logged("s") if isinstance(event, ClarificationReplied)]
    assert (replied.turn_id, replied.instead, replied.text) == (turn, late, "the tmp files")


async def test_refused_reply_leaves_the_question_open(at: RunningPlatform) -> None:
    turn = await asking(at)
    refused = await at.ended(await at.say("\x01" * 40_000, session="s", answers=turn), session="s")
    assert (refused.state, refused.reason) == ("refused", "MESSAGE_TOO_LARGE")
    await at.say("the tmp files", session="s", answers=turn)
    assert (await at.ended(turn, session="s")).state == "completed"
    replied = [event for event in await at.logged("s") if isinstance(event, ClarificationReplied)]
    assert [event.instead for event in replied] == [refused.turn_id, None]
