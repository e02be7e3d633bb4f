"""The history of a folder is shown, pruned when it is due, and purged on demand."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from libs.clients.calls import call
from libs.database import Dsns
from libs.errors import Denied
from libs.events import ToolFailed, ToolSucceeded
from libs.events.topics import EXECUTOR
from libs.events.values import Hitl
from libs.workspace.errors import NoSpace
from services.tool_executor.settings import Settings
from services.tool_executor.workspaces import Workspaces
from tests.libs.workspace.mounts import take_inodes
from tests.support.platform import TENANT, WHO, WITHIN, RunningPlatform, plan, run_platform, scripted_model

REMOVE = plan(
    ("manage-files.list", {"path": ".", "include": ["a.txt"]}),
    ("manage-files.delete", {"paths": "$step(1).nodes"}),
)


async def logged(at: RunningPlatform, root: Path) -> list[dict[str, Any]]:
    """The folder's commits."""
    params = {"root": str(root)}
    found = await call(at.platform, EXECUTOR, "GET", "/internal/v1/history", tenant=TENANT, params=params)
    commits: list[dict[str, Any]] = found["commits"]
    return commits


async def purged(at: RunningPlatform, root: Path, *, scopes: tuple[str, ...] = ("files:write",), before: float) -> Any:
    body = {"root": str(root), "before": before, "principal": WHO, "scopes": scopes}
    return await call(at.platform, EXECUTOR, "PUT", "/internal/v1/history/purge", tenant=TENANT, json=body)


async def committed(at: RunningPlatform, root: Path, *, session: str = "s") -> str:
    """The id of a commit that deleted `a.txt`."""
    turn = await at.say("delete a", session=session, root=root, hitl=Hitl.BYPASS)
    ended = await at.finish(turn, session=session)
    assert ended.state == "completed", ended
    done = [e for e in await at.logged(session) if isinstance(e, ToolSucceeded) and e.commit_id]
    return str(done[-1].commit_id)


async def freed(at: RunningPlatform, root: Path) -> dict[str, Any]:
    """The folder's newest commit, once it can no longer be undone."""
    async with asyncio.timeout(WITHIN):
        while (commit := (await logged(at, root))[0])["undoable"]:
            await at.platform.bus.waiting()
    return commit


async def aged(at: RunningPlatform, root: Path) -> None:
    """The folder's commits are old, once each waits for its time."""
    pool = await at.platform.database.bus()
    async with asyncio.timeout(WITHIN):
        while await pool.fetchval(
            "select count(*) from bus.leases where kind = 'history' and (input ->> 'n')::int = 1"
        ):
            await at.platform.bus.waiting()
    for intent in (root / ".suma" / "history").glob("*/intent"):
        os.utime(intent, (0, 0))


async def test_history_log_shows_contents_and_expiry_of_a_commit(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE)) as at:
        id = await committed(at, root := at.folder("a.txt", "b.txt"))
        (commit,) = await logged(at, root)
        assert (commit["commit_id"], commit["session_id"], commit["state"]) == (id, "s", "committed")
        assert (commit["changes"]["deleted"], commit["undoable"], commit["bytes"] > 0) == (1, True, True)
        assert commit["undo_until"] > commit["at"]
        await at.finish(await at.roll_back(session="s", commit_id=id), session="s")
        (commit,) = await logged(at, root)
        assert (commit["state"], commit["undoable"], commit["redoable"]) == ("rolled_back", False, True)
        await at.finish(await at.roll_back(session="s", commit_id=id, redo=True), session="s")
        (commit,) = await logged(at, root)
        assert (commit["state"], commit["undoable"], commit["redoable"]) == ("committed", True, False)
        assert commit["changes"]["deleted"] == 1


async def test_a_change_left_out_of_a_rollback_stays_undoable(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE)) as at:
        id = await committed(at, root := at.folder("a.txt", "b.txt"))
        await at.finish(await at.roll_back(session="s", commit_id=id, exclude=("a.txt",)), session="s")
        (commit,) = await logged(at, root)
        assert (commit["state"], commit["undoable"]) == ("committed", True)


async def test_a_commit_is_pruned_when_its_time_is_over(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE)) as at:
        id = await committed(at, root := at.folder("a.txt"))
        await aged(at, root)
        await at.later(31 * 24 * 3600)
        await freed(at, root)
        turn = await at.roll_back(session="s", commit_id=id)
        await at.ended(turn, session="s")
        (failed,) = [e for e in await at.logged("s") if isinstance(e, ToolFailed)]
        assert failed.code == "HISTORY_GONE"
        assert failed.error.startswith("This commit can no longer be undone: its history was removed")


async def test_history_beyond_its_size_is_pruned_after_the_commit(home: Dsns, tmp_path: Path) -> None:
    settings = {"tool_executor": {"history_bytes_most": 0}}
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE), settings=settings) as at:
        await committed(at, root := at.folder("a.txt"))
        assert (await freed(at, root))["bytes"] == 0
        assert list((root / ".suma" / "history").iterdir()) == []


async def test_a_folder_that_was_away_is_pruned_at_its_opening(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE)) as at:
        await committed(at, root := at.folder("a.txt"))
        await aged(at, root)
    async with run_platform(home, tmp_path) as at:
        assert (await logged(at, root))[0]["undoable"]
        params = {"root": str(root)}
        await call(at.platform, EXECUTOR, "GET", "/internal/v1/sessions/s/diff", tenant=TENANT, params=params)
        await freed(at, root)


async def unplanned(at: RunningPlatform) -> None:
    """Return when no removal of history is planned."""
    pool = await at.platform.database.bus()
    async with asyncio.timeout(WITHIN):
        while await pool.fetchval("select count(*) from bus.leases where kind = 'history'"):
            await at.platform.bus.waiting()


async def test_history_of_a_deleted_folder_is_not_retried(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE)) as at:
        await committed(at, root := at.folder("a.txt"))
        await aged(at, root)
        shutil.rmtree(root)
        await at.later(31 * 24 * 3600)
        await unplanned(at)


async def test_a_folder_that_comes_back_is_pruned_again(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE)) as at:
        await committed(at, root := at.folder("a.txt"))
        await aged(at, root)
        away = root.rename(tmp_path / "away")
        await at.later(31 * 24 * 3600)
        await unplanned(at)
        away.rename(root)
        params = {"root": str(root)}
        await call(at.platform, EXECUTOR, "GET", "/internal/v1/sessions/s/diff", tenant=TENANT, params=params)
        await freed(at, root)


async def test_purge_removes_older_history_and_is_recorded(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE)) as at:
        id = await committed(at, root := at.folder("a.txt"))
        assert (await purged(at, root, before=0.0))["commits"] == []
        done = await purged(at, root, before=time.time() + 1)
        assert (done["state"], done["commits"], done["bytes"] > 0) == ("done", [id], True)
        assert not (await logged(at, root))[0]["undoable"]
        told = [(r.phase, r.verdict) for r in await at.audited(WHO) if r.action == "workspace.purge"]
        assert told == [("decision", "allow"), ("intent", "begin"), ("outcome", "succeeded")] * 2


async def test_a_reader_purges_nothing(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE)) as at:
        await committed(at, root := at.folder("a.txt"))
        with pytest.raises(Denied):
            await purged(at, root, scopes=("chat", "files:read"), before=time.time() + 1)
        assert (await logged(at, root))[0]["undoable"]
        assert [r.verdict for r in await at.audited(WHO) if r.action == "workspace.purge"] == ["deny"]


async def test_a_removed_journal_says_that_undo_is_over(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE)) as at:
        id = await committed(at, root := at.folder("a.txt"))
        subprocess.run(["rm", "-rf", root / ".suma"], check=True)
        await at.ended(await at.roll_back(session="s", commit_id=id), session="s")
        (failed,) = [e for e in await at.logged("s") if isinstance(e, ToolFailed)]
        assert failed.code == "HISTORY_GONE"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MB and 200 inodes."""
    disk = tmp_path / "root"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,nr_inodes=200", "none", disk], check=True)
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
async def test_a_full_disk_takes_old_history_and_tries_again(home: Dsns, tmp_path: Path, small: Path) -> None:
    copy = plan(
        ("manage-files.list", {"path": ".", "include": ["b.txt"]}),
        ("manage-files.copy", {"source": "$step(1).nodes", "target": "copies"}),
    )
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE, copy)) as at:
        root = at.folder()
        (root / "a.txt").write_bytes(bytes(4_000_000))
        (root / "b.txt").write_bytes(bytes(2_500_000))
        first = await committed(at, root)
        await aged(at, root)
        await committed(at, root, session="t")
        assert (root / "copies" / "b.txt").stat().st_size == 2_500_000
        (warned,) = [e for e in await at.logged("t") if isinstance(e, ToolSucceeded) and e.commit_id]
        assert "The disk was full: the history of 1 older commit was removed (4.0 MB)" in warned.warnings[0]
        commits = {commit["commit_id"]: commit["undoable"] for commit in await logged(at, root)}
        assert commits.pop(first) is False
        assert list(commits.values()) == [True]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
async def test_old_history_gives_its_inodes_to_a_commit(home: Dsns, tmp_path: Path, small: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE, REMOVE)) as at:
        first = await committed(at, root := at.folder("a.txt", "b.txt"))
        await aged(at, root)
        (root / "a.txt").touch()
        take_inodes(small)
        second = await committed(at, root, session="t")
        assert {commit["commit_id"]: commit["undoable"] for commit in await logged(at, root)} == {
            first: False,
            second: True,
        }


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
async def test_settling_a_commit_reports_a_full_disk(home: Dsns, tmp_path: Path, small: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(REMOVE)) as at:
        await committed(at, root := at.folder("a.txt"))
        (root / ".suma/txn/interrupted.1").mkdir()
        take_inodes(small)
        on = at.platform
        workspaces = Workspaces(on.database, on.objects, on.keys, Settings(), data_dir=on.data_dir)
        with pytest.raises(NoSpace):
            await workspaces.settle(root)
