"""The end of a turn that changed something: committed, dropped, stopped by someone else's change, rolled back."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from libs.database import Dsns
from libs.errors import Unavailable
from libs.events import ApprovalRequested, ToolCancelRequested, ToolRequested, TurnEnded, WorkspaceChanged
from libs.events.values import Hitl
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model


def rename(old: str, new: str) -> tuple[str, dict[str, str]]:
    return "manage-files.rename", {"path": old, "new_name": new}


LOOK = ("manage-files.list", {"path": "."})
CANCELS_HEARD = """
select count(*) = 2 from bus.inbox join bus.log on log.event_id = inbox.id
where log.type = any ('{suma.turn.cancel_requested.v1,suma.tool.cancel_requested.v1}')
"""
TWO = plan(rename("a", "A"), rename("b", "B"))


def names(at: RunningPlatform) -> set[str]:
    return {path.name for path in (at.root / "work").iterdir() if path.is_file()}


async def to_commit(at: RunningPlatform, session: str = "s") -> tuple[str, ApprovalRequested]:
    turn = await at.say("rename", session=session, root=at.folder("a", "b"), hitl=Hitl.BYPASS)
    return turn, await at.asked(session=session)


@pytest.mark.requirement("A26")
async def test_file_changed_by_others_stops_the_commit_until_excluded(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TWO)) as at:
        turn, commit = await to_commit(at)
        (at.root / "work" / "a").write_text("by someone else")
        await at.decide(commit, session="s")
        again = await at.asked(session="s")
        assert {"id": "a", "conflict": True} in again.items
        assert names(at) == {"a", "b"}
        await at.decide(again, session="s", exclude=("a",))
        assert (await at.ended(turn, session="s")).state == "completed"
        assert names(at) == {"a", "B"}
        assert (at.root / "work" / "a").read_text() == "by someone else"


@pytest.mark.requirement("A26")
async def test_rollback_stops_at_files_changed_by_others_until_excluded(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TWO)) as at:
        turn, commit = await to_commit(at)
        await at.decide(commit, session="s")
        await at.ended(turn, session="s")
        (at.root / "work" / "A").write_text("by someone else")
        refused = await at.ended(await at.roll_back(session="s"), session="s")
        assert (refused.state, refused.reason) == ("failed", "CONFLICT")
        assert names(at) == {"A", "B"}
        rest = await at.ended(await at.roll_back(session="s", exclude=("A",)), session="s")
        assert rest.state == "completed"
        assert names(at) == {"A", "b"}


@pytest.mark.requirement("A26")
async def test_partial_rollback_leaves_the_rest_to_a_later_one(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TWO)) as at:
        turn, commit = await to_commit(at)
        await at.decide(commit, session="s")
        await at.ended(turn, session="s")
        await at.ended(await at.roll_back(session="s", exclude=("A",)), session="s")
        assert names(at) == {"A", "b"}
        await at.ended(await at.roll_back(session="s"), session="s")
        assert names(at) == {"a", "b"}
        back = [e for e in await at.logged("s") if isinstance(e, WorkspaceChanged) and e.change == "rolled_back"]
        assert [e.whole for e in back] == [False, True]


@pytest.mark.requirement("A24", "A26")
async def test_a_rollback_can_be_redone_and_undone_again(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TWO)) as at:
        turn, commit = await to_commit(at)
        await at.decide(commit, session="s")
        await at.ended(turn, session="s")
        for redo, there in ((False, {"a", "b"}), (True, {"A", "B"}), (False, {"a", "b"})):
            assert (await at.ended(await at.roll_back(session="s", redo=redo), session="s")).state == "completed"
            assert names(at) == there
        changes = [e for e in await at.logged("s") if isinstance(e, WorkspaceChanged)]
        assert [e.change for e in changes] == ["committed", "rolled_back"] * 2
        assert len({e.commit_id for e in changes}) == 1


@pytest.mark.requirement("A26")
async def test_redo_stops_at_files_changed_by_others_until_excluded(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TWO)) as at:
        turn, commit = await to_commit(at)
        await at.decide(commit, session="s")
        await at.ended(turn, session="s")
        nothing = await at.ended(await at.roll_back(session="s", redo=True), session="s")
        assert (nothing.state, nothing.reason) == ("refused", "NOTHING_TO_REDO")
        await at.ended(await at.roll_back(session="s"), session="s")
        (at.root / "work" / "a").write_text("by someone else")
        refused = await at.ended(await at.roll_back(session="s", redo=True), session="s")
        assert (refused.state, refused.reason) == ("failed", "CONFLICT")
        rest = await at.ended(await at.roll_back(session="s", redo=True, exclude=("a",)), session="s")
        assert (rest.state, names(at)) == ("completed", {"a", "B"})


@pytest.mark.requirement("A25")
async def test_resumed_rollback_reports_its_earlier_work(home: Dsns, tmp_path: Path) -> None:
    archived: list[str] = []

    def failing(point: str) -> None:
        if point == "tool_executor:files:archived":
            archived.append(point)
            # First the commit, then the rollback: its files are done, and its result is lost.
            if len(archived) == 2:
                raise Unavailable("interrupted")

    async with run_platform(home, tmp_path, model=scripted_model(TWO), point=failing) as at:
        turn, commit = await to_commit(at)
        await at.decide(commit, session="s")
        await at.ended(turn, session="s")
        await at.ended(await at.roll_back(session="s"), session="s")
        assert names(at) == {"a", "b"}
        (back,) = [e for e in await at.logged("s") if isinstance(e, WorkspaceChanged) and e.change == "rolled_back"]
        assert (back.operations, len(archived)) == (2, 2)


@pytest.mark.requirement("S4-21")
async def test_a_denied_diff_leaves_every_file_alone(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TWO)) as at:
        turn, commit = await to_commit(at)
        await at.decide(commit, "deny", session="s")
        assert (await at.ended(turn, session="s")).state == "completed"
        assert names(at) == {"a", "b"}
        changed = [e.change for e in await at.logged("s") if isinstance(e, WorkspaceChanged)]
        assert changed == ["dropped"]


async def test_a_cancelled_turn_leaves_no_stage_behind(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TWO, plan(LOOK))) as at:
        turn, _ = await to_commit(at)
        await at.cancel(turn, session="s")
        assert (await at.ended(turn, session="s")).state == "cancelled"
        await at.finish(await at.say("look", session="s"), session="s")
        assert names(at) == {"a", "b"}
        await at.quiet()


async def test_stage_that_could_not_be_dropped_is_not_committed_later(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TWO, plan(rename("b", "C")))) as at:
        turn, _ = await to_commit(at)
        at.judge.silent.add("workspace.commit")
        await at.cancel(turn, session="s")
        while at.judge.asked.count("workspace.commit") < 2:
            await at.platform.bus.waiting()
        await at.later(61)
        await at.ended(turn, session="s")
        at.judge.silent.clear()
        second, commit = await to_commit(at)
        assert commit.diff is not None
        assert [entry.path for entry in commit.diff.entries] == ["C"]
        await at.decide(commit, session="s")
        await at.ended(second, session="s")
        assert names(at) == {"a", "C"}


async def test_cancel_before_its_message_is_applied(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TWO)) as at:
        await at.cancel("t-1", session="s")
        turn = await at.say("rename", session="s", root=at.folder("a", "b"), turn="t-1")
        assert (await at.ended(turn, session="s")).state == "cancelled"


async def test_cancel_after_the_commit_began_reports_the_result(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TWO)) as at:
        turn, commit = await to_commit(at)
        await at.decide(commit, session="s")
        await at.until(ToolRequested, session="s", where=lambda e: e.tool == "workspace.commit")
        await at.cancel(turn, session="s")
        await at.publish(ToolCancelRequested(turn_id=turn), session="s")
        end = await at.ended(turn, session="s")
        assert end.state in ("completed", "cancelled")
        assert names(at) in ({"A", "B"}, {"a", "b"})
        assert end.state != "completed" or names(at) == {"A", "B"}
        await at.quiet()


@pytest.mark.requirement("A29", "A26")
async def test_sessions_in_one_folder_do_not_share_a_stage(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TWO, plan(rename("a", "Z")))) as at:
        first, one = await to_commit(at, "s1")
        second, other = await to_commit(at, "s2")
        assert one.diff is not None
        assert other.diff is not None
        assert [{e.path for e in diff.entries} for diff in (one.diff, other.diff)] == [{"A", "B"}, {"Z"}]
        await at.decide(one, session="s1")
        await at.ended(first, session="s1")
        await at.decide(other, session="s2")
        again = await at.asked(session="s2")
        assert [item["id"] for item in again.items if item.get("conflict")] == ["a"]
        await at.decide(again, "deny", session="s2")
        await at.ended(second, session="s2")
        assert names(at) == {"A", "B"}


@pytest.mark.requirement("S4-21")
async def test_rollback_without_a_commit_ends_with_its_reason(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model()) as at:
        end = await at.until(TurnEnded, session="s") if await at.roll_back(session="s") else None
        assert end is not None
        assert end.reason == "NOTHING_TO_ROLL_BACK"


@pytest.mark.requirement("A23", "A25")
async def test_cancel_during_a_commit_waits_and_reports_its_completion(home: Dsns, tmp_path: Path) -> None:
    begun, released = threading.Event(), threading.Event()

    def halfway(point: str) -> None:
        if point == "tool_executor:files:detach" and not begun.is_set():
            begun.set()
            released.wait(20)

    async with run_platform(home, tmp_path, model=scripted_model(TWO), point=halfway) as at:
        turn, commit = await to_commit(at)
        await at.decide(commit, session="s")
        await asyncio.to_thread(begun.wait, 20)
        await at.cancel(turn, session="s")
        await at.publish(ToolCancelRequested(turn_id=turn), session="s")
        while not await (await at.platform.database.bus()).fetchval(CANCELS_HEARD):
            await at.platform.bus.waiting()
        released.set()
        end = await at.ended(turn, session="s")
        assert (end.state, "was finished" in end.detail) == ("cancelled", True)
        assert names(at) == {"A", "B"}
        await at.quiet()
