"""Agents of the settings: each has its tools and its role, and a message chooses one."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import PlanRejected, PlanRequested, StepState, ToolCall, ToolRequested, TurnEnded, TurnStarted
from libs.runtime import Agent
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

READ = ("edit-files.read", {"path": "a.txt"})
AGENTS = {"reader": Agent(tools=("edit-files.read",), role="reads", prompt="Quote what you read.")}
CALL = ToolCall(tool="edit-files.write", args={"path": "b.txt", "content": "b"})


async def call(at: RunningPlatform, agent: str | None) -> TurnEnded:
    turn = await at.say("write it", session="s", root=at.folder("a.txt"), call=CALL, agent=agent)
    return await at.finish(turn, session="s")


@pytest.mark.requirement("S1-22", "S0-10", "P4")
async def test_agent_may_use_only_its_own_tools(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(), agents=AGENTS) as at:
        ended = await call(at, "reader")
        (rejected,) = [event for event in await at.logged("s") if isinstance(event, PlanRejected)]
        assert (ended.state, "edit-files.write" in rejected.reason) == ("refused", True)
        assert not (at.root / "work" / "b.txt").exists()
        assert not [event for event in await at.logged("s") if isinstance(event, ToolRequested)]


@pytest.mark.requirement("S1-22", "S0-10", "S0-08")
async def test_agent_reaches_planner_policy_and_grant(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ)), agents=AGENTS) as at:
        turn = await at.say("read it", session="s", root=at.folder("a.txt"), agent="reader")
        assert (await at.finish(turn, session="s")).state == "completed"
        events = await at.logged("s")
        (task,) = [event.task for event in events if isinstance(event, PlanRequested)]
        assert task.agent is not None
        assert (task.tools, task.agent.id, task.agent.prompt) == (READ[:1], "reader", "Quote what you read.")
        assert [event.agent for event in events if isinstance(event, TurnStarted)] == ["reader"]
        assert [event.allowed for event in events if isinstance(event, ToolRequested)] == [READ[:1]]
        lists = [facts["allowed_tools"] for action, facts in at.judge.told if action == "tool.execute"]
        assert lists == [[READ[0]]] * 2


async def test_later_messages_keep_the_agent(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ)), agents=AGENTS) as at:
        turn = await at.say("read it", session="s", root=at.folder("a.txt"), agent="reader")
        await at.finish(turn, session="s")
        assert (await call(at, None)).state == "refused"


@pytest.mark.parametrize("agent", ["nobody", ""])
async def test_unknown_agent_is_refused(home: Dsns, tmp_path: Path, agent: str) -> None:
    async with run_platform(home, tmp_path, agents=AGENTS) as at:
        turn = await at.say("read it", session="s", root=at.folder("a.txt"), agent=agent)
        ended = await at.ended(turn, session="s")
        assert (ended.state, ended.reason) == ("refused", "UNKNOWN_AGENT")


async def test_agent_gone_from_the_settings_does_nothing(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ)), agents=AGENTS) as at:
        turn = await at.say("read it", session="s", root=at.folder("a.txt"), agent="reader")
        await at.finish(turn, session="s")
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ))) as at:
        turn = await at.say("read it", session="s")
        assert (await at.ended(turn, session="s")).reason == "UNKNOWN_AGENT"


async def test_message_without_an_agent_keeps_the_default(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ)), agents=AGENTS) as at:
        ended = await call(at, None)
        assert ended.state == "completed"
        assert set((await at.steps("s")).values()) == {StepState.SUCCEEDED}
