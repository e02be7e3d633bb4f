"""Archives through the whole house: planned, approved, staged beside the log, committed, rolled back."""

from __future__ import annotations

import zipfile
from pathlib import Path
from random import Random

import pytest

from libs.database import Dsns
from libs.events import StepChanged, ToolFailed, ToolSucceeded
from libs.events.values import Hitl, StepState
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

LIST = ("manage-files.list", {"path": ".", "exclude": ["*.zip"]})
PACK = ("archive-files.pack", {"paths": "$step(1).nodes", "archive": "all.zip", "remove": True})
UNPACK = ("archive-files.unpack", {"path": "all.zip"})
LARGE = Random(1).randbytes(300_000)


def grown(at: RunningPlatform) -> Path:
    folder = at.folder("a.txt", "Sub/ü.txt")
    (folder / "large.bin").write_bytes(LARGE)
    return folder


def seen(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".suma" not in path.parts)
    return {str(path.relative_to(folder)): _facts(path) for path in files}


def _facts(path: Path) -> tuple[int, int, bytes]:
    found = path.stat()
    return found.st_mode, found.st_mtime_ns, path.read_bytes()


@pytest.mark.requirement("S4-59", "A24")
async def test_folder_moved_into_an_archive_rolls_back_bit_for_bit(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST, PACK))) as at:
        folder = grown(at)
        before = seen(folder)
        turn = await at.say("zip all", session="s", root=folder)
        assert (await at.finish(turn, session="s")).state == "completed"
        assert list(seen(folder)) == ["all.zip"]
        with zipfile.ZipFile(folder / "all.zip") as packed:
            assert packed.read("large.bin") == LARGE
        done = next(e for e in await at.logged("s") if isinstance(e, ToolSucceeded) and e.commit_id)
        back = await at.roll_back(session="s", commit_id=done.commit_id)
        await at.finish(back, session="s")
        assert seen(folder) == before


@pytest.mark.requirement("S4-59", "S4-25")
async def test_stage_opened_by_another_executor_has_the_staged_contents(home: Dsns, tmp_path: Path) -> None:
    every = {"tool_executor": {"rescan_seconds": 0, "workspaces_bytes_most": 0}}
    contents = ("archive-files.contents", {"path": "all.zip"})
    async with run_platform(
        home, tmp_path, model=scripted_model(plan(LIST, PACK, contents, UNPACK)), settings=every
    ) as at:
        folder = grown(at)
        turn = await at.say("zip and unzip all", session="s", root=folder, hitl=Hitl.BYPASS)
        assert (await at.finish(turn, session="s")).state == "completed"
        assert (folder / "all" / "large.bin").read_bytes() == LARGE
        assert list(at.platform.data_dir.glob("shelves/*/*")) == []


def stored(at: RunningPlatform) -> list[int]:
    """Return the sizes of the large contents in the object store."""
    found = [path.stat().st_size for path in at.platform.data_dir.glob("objects/**/*") if path.is_file()]
    return [size for size in found if size >= len(LARGE)]


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize("verdict", ["approve", "deny"])
async def test_staged_contents_are_deleted_when_the_stage_ends(home: Dsns, tmp_path: Path, verdict: str) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST, PACK))) as at:
        folder = grown(at)
        turn = await at.say("zip all", session="s", root=folder)
        await at.decide(await at.asked(session="s"), session="s")
        commit = await at.asked(session="s")
        assert len(stored(at)) == 1
        await at.decide(commit, verdict, session="s")
        await at.ended(turn, session="s")
        await at.quiet()
        assert stored(at) == []


@pytest.mark.requirement("S4-59")
async def test_archive_beyond_the_bounds_fails_its_step_and_changes_nothing(home: Dsns, tmp_path: Path) -> None:
    bound = {"tool_executor": {"archive_bytes_most": 1000}}
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST, PACK)), settings=bound) as at:
        folder = grown(at)
        before = seen(folder)
        turn = await at.say("zip all", session="s", root=folder)
        await at.finish(turn, session="s")
        assert (await at.steps("s"))[2] is StepState.FAILED
        failed = next(e for e in await at.logged("s") if isinstance(e, ToolFailed))
        assert (failed.code, seen(folder)) == ("TOO_MUCH", before)


@pytest.mark.requirement("S4-59", "S0-14")
async def test_question_shows_packed_files_as_deleted(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST, PACK))) as at:
        await at.say("zip all", session="s", root=grown(at))
        asked = await at.asked(session="s")
        assert (asked.tool, asked.args["archive"]) == ("archive-files.pack", "all.zip")
        assert asked.undo.startswith("Only staged: no file changes until you")
        assert [item["id"] for item in asked.items] == ["a.txt", "large.bin", "Sub"]


@pytest.mark.requirement("S4-59")
async def test_batch_of_renames_is_in_the_diff_before_the_commit(home: Dsns, tmp_path: Path) -> None:
    rename = ("batch-rename.rename", {"paths": "$step(1).nodes", "prefix": "2024 "})
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST, rename))) as at:
        folder = at.folder("a.txt", "b.txt")
        turn = await at.say("rename all", session="s", root=folder, hitl=Hitl.BYPASS)
        asked = await at.asked(session="s")
        assert asked.diff is not None
        assert {(entry.source, entry.path) for entry in asked.diff.entries} == {
            ("a.txt", "2024 a.txt"),
            ("b.txt", "2024 b.txt"),
        }
        await at.decide(asked, session="s")
        await at.ended(turn, session="s")
        assert sorted(seen(folder)) == ["2024 a.txt", "2024 b.txt"]


@pytest.mark.requirement("S4-59")
async def test_hostile_file_fails_its_step_and_the_turn_continues(home: Dsns, tmp_path: Path) -> None:
    bomb = ("parse-content.parse", {"path": "a.xml"})
    async with run_platform(home, tmp_path, model=scripted_model(plan(bomb, LIST))) as at:
        folder = at.folder()
        (folder / "a.xml").write_text('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>')
        turn = await at.say("read a.xml", session="s", root=folder)
        assert (await at.finish(turn, session="s")).state == "completed"
        assert await at.steps("s") == {1: StepState.FAILED, 2: StepState.SUCCEEDED}
        told = [e for e in await at.logged("s") if isinstance(e, StepChanged) and e.error]
        assert "DTD" in str(told[0].error)
