"""Gates in the chain of a turn, and observers behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from libs.database import Dsns
from libs.errors import Unavailable
from libs.events import EventDeadLettered, StepState, ToolRequested
from libs.hooks import Action, BadHook, Gates, Hook, Observed, Point
from services import observers, wiring
from services.settings import BadSettings, everything
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

WRITE = ("edit-files.write", {"path": "b.txt", "content": "b"})
READ = ("edit-files.read", {"path": "a.txt"})


def gate(point: Point, ask: Callable[[Action], Awaitable[Any]], seconds: float = 5.0) -> Gates:
    return Gates([Hook(point, "acme:gate", ask, "d" * 64)], seconds=seconds)


async def no(action: Action) -> str:
    return f"not on Fridays: {action.point}"


async def verdicts(at: RunningPlatform) -> list[tuple[str, str, str, str]]:
    """Return the audited decisions of hooks."""
    found = [record for record in await at.audited("s") if record.action == "hook"]
    return [(record.verdict, record.resource, record.rule, record.revision[:1]) for record in found]


@pytest.mark.parametrize("point", [Point.TASK_START, Point.PLAN_APPROVED])
@pytest.mark.requirement("S0-35", "P4", "P6")
async def test_refused_task_or_plan_does_nothing(home: Dsns, tmp_path: Path, point: Point) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(WRITE)), gates=gate(point, no)) as at:
        turn = await at.say("write it", session="s", root=at.folder("a.txt"))
        ended = await at.ended(turn, session="s")
        assert (ended.state, ended.reason) == ("refused", "HOOK_REFUSED")
        assert ended.detail == f"acme:gate: not on Fridays: {point}"
        assert await verdicts(at) == [("deny", "acme:gate", point.value, "d")]
        assert not [event for event in await at.logged("s") if isinstance(event, ToolRequested)]


@pytest.mark.requirement("S0-35", "P4", "P6")
async def test_refused_call_fails_its_step_with_the_reason(home: Dsns, tmp_path: Path) -> None:
    async def no_writes(action: Action) -> str | None:
        return "only reading" if "changes" in action.risks else None

    gates = gate(Point.TOOL_CALL, no_writes)
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ, WRITE)), gates=gates) as at:
        turn = await at.say("write it", session="s", root=at.folder("a.txt"))
        assert (await at.finish(turn, session="s")).state == "completed"
        assert await at.steps("s") == {1: StepState.SUCCEEDED, 2: StepState.DENIED}
        assert await verdicts(at) == [
            ("allow", "acme:gate", "on_tool_call", "d"),
            ("deny", "acme:gate", "on_tool_call", "d"),
        ]


async def test_gate_sees_the_call_that_runs(home: Dsns, tmp_path: Path) -> None:
    seen: list[Action] = []

    async def look(action: Action) -> None:
        seen.append(action)

    gates = gate(Point.TOOL_CALL, look)
    async with run_platform(home, tmp_path, model=scripted_model(plan(WRITE)), gates=gates) as at:
        turn = await at.say("write it", session="s", root=at.folder("a.txt"))
        assert (await at.finish(turn, session="s")).state == "completed"
    call, commit = seen
    assert (call.tool, dict(call.args or {}), call.session) == (*WRITE, "s")
    assert (call.effect_class, call.risks) == ("staged", ("changes",))
    assert commit.tool == "workspace.commit"


async def test_gate_cannot_keep_a_stage_from_being_dropped(home: Dsns, tmp_path: Path) -> None:
    async def no_commit(action: Action) -> str | None:
        return "nothing is committed here" if action.tool.startswith("workspace.") else None

    gates = gate(Point.TOOL_CALL, no_commit)
    async with run_platform(home, tmp_path, model=scripted_model(plan(WRITE)), gates=gates) as at:
        turn = await at.say("write it", session="s", root=at.folder("a.txt"))
        ended = await at.finish(turn, session="s")
        assert ended.state == "refused"
        assert "nothing is committed here" in ended.detail
        assert not (at.root / "work" / "b.txt").exists()


@pytest.mark.requirement("S0-35")
async def test_unavailable_gate_is_asked_again(home: Dsns, tmp_path: Path) -> None:
    tries: list[Action] = []

    async def late(action: Action) -> None:
        tries.append(action)
        if len(tries) == 1:
            raise Unavailable("in a moment")

    gates = gate(Point.TOOL_CALL, late)
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ)), gates=gates) as at:
        turn = await at.say("read it", session="s", root=at.folder("a.txt"))
        assert (await at.finish(turn, session="s")).state == "completed"
        assert len(tries) == 2


@pytest.mark.requirement("S0-35")
async def test_observers_read_a_turn_in_order(home: Dsns, tmp_path: Path) -> None:
    seen: list[tuple[Point, str]] = []
    over = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def look(event: Observed) -> None:
        seen.append((event.point, event.data.get("tool") or event.data.get("state") or ""))
        if event.point is Point.TASK_COMPLETE:
            loop.call_soon_threadsafe(over.set)

    watching = observers.service([Hook(point, "acme:look", look) for point in Point], seconds=5.0)
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ)), others=[watching]) as at:
        turn = await at.say("read it", session="s", root=at.folder("a.txt"))
        await at.finish(turn, session="s")
        async with asyncio.timeout(30):
            await over.wait()
    assert seen == [
        (Point.TASK_START, ""),
        (Point.PLAN_CREATED, ""),
        (Point.PLAN_APPROVED, ""),
        (Point.TOOL_CALL, "edit-files.read"),
        (Point.TOOL_RESULT, "edit-files.read"),
        (Point.TASK_COMPLETE, "completed"),
    ]


@pytest.mark.requirement("S0-35", "P1")
async def test_failing_observer_dead_letters_and_disturbs_nothing(home: Dsns, tmp_path: Path) -> None:
    seen: list[str] = []

    async def fail(event: Observed) -> None:
        raise KeyError("broken")

    async def look(event: Observed) -> None:
        seen.append(event.id)

    hooks = [Hook(Point.TASK_START, "acme:fail", fail), Hook(Point.TASK_START, "acme:look", look)]
    watching = observers.service(hooks, seconds=5.0)
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ)), others=[watching]) as at:
        turn = await at.say("read it", session="s", root=at.folder("a.txt"))
        assert (await at.finish(turn, session="s")).state == "completed"
        dead = await at.until(EventDeadLettered, session="s")
        assert (dead.group, dead.event_type) == ("observers", "suma.turn.started.v1")
    assert len(seen) == 1


def test_gate_after_its_action_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMA_HOOKS__GATES", '{"on_tool_result": ["acme:gate"]}')
    with pytest.raises(BadSettings, match="on_tool_result is after its action"):
        everything()


@pytest.mark.parametrize(("kind", "service"), [("GATES", "tool_executor"), ("OBSERVERS", "gateway")])
async def test_unfit_hook_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, service: str
) -> None:
    monkeypatch.setenv("SUMA_DATA_DIR", str(tmp_path))
    monkeypatch.setenv(f"SUMA_HOOKS__{kind}", '{"on_task_start": ["acme_gone:gate"]}')
    with pytest.raises(BadHook, match="No module named 'acme_gone'"):
        await wiring.ports(everything(), [service])


async def test_group_without_observers_holds_no_records(home: Dsns, tmp_path: Path) -> None:
    count = "select count(*) from bus.partitions where grp = 'observers'"
    hooks = [Hook(Point.TASK_START, "acme:no", no)]
    for found, expected in (((hooks), 6), ([], 0)):
        async with run_platform(home, tmp_path, others=[observers.service(found, seconds=5.0)]) as at:
            pool = await at.platform.database.bus()
            assert await pool.fetchval(count) == expected
