"""Old inodes are kept for a time and up to a size; outcomes of commits are kept longer."""

from __future__ import annotations

import os
import shutil
import signal
import stat
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from libs.workspace.commit import commit, outcome
from libs.workspace.errors import HistoryGone
from libs.workspace.history import kept, make_room, prune
from libs.workspace.operations import AnyOperation, Delete
from libs.workspace.recovery import recover
from libs.workspace.rollback import rollback
from tests.libs.workspace.mounts import apart, mounted, take_inodes
from tests.libs.workspace.trees import Killed, forked, grow, manifest, owner, staged

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount and become another user")


def done(root: Path, *operations: AnyOperation, id: str = "c") -> None:
    commit(root, staged(root, *operations), commit_id=id, fence=owner)


@pytest.mark.requirement("A24")
def test_history_is_pruned_by_age_and_its_outcome_is_remembered(root: Path) -> None:
    done(root, Delete(path="README"))
    finished = kept(root)[0].finished_at
    assert prune(root, now=finished + timedelta(days=29).total_seconds()).commits == ()
    assert prune(root, now=finished + timedelta(days=31).total_seconds()).commits == ("c",)
    assert outcome(root, "c") == "committed"
    with pytest.raises(HistoryGone):
        rollback(root, "c", fence=owner)


def test_history_is_pruned_by_size_oldest_first(root: Path) -> None:
    for number, name in enumerate(("report.pdf", "report copy.pdf", "binary.bin")):
        done(root, Delete(path=name), id=f"c{number}")
    rollback(root, "c0", fence=owner)
    sizes = {entry.commit_id: entry.size for entry in kept(root)}
    assert prune(root, max_bytes=sizes["c1"] + sizes["c2"]).commits == ("c0",)
    assert [(entry.commit_id, entry.undoable) for entry in kept(root)] == [("c1", True), ("c2", True)]
    assert (root / "report.pdf").exists()
    assert list((root / ".suma/trash").iterdir()) == []


@pytest.mark.requirement("A24")
def test_kill_during_a_prune_leaves_commits_whole_or_removed(root: Path, tmp_path: Path) -> None:
    code, at = -signal.SIGKILL, 0
    while code == -signal.SIGKILL:
        at += 1
        here = tmp_path / f"trial{at}"
        shutil.copytree(root, here, symlinks=True)
        before = manifest(here)
        for number, name in enumerate(("report.pdf", "report copy.pdf")):
            done(here, Delete(path=name), Delete(path=f"docs/{'old' if number else 'letter.txt'}"), id=f"c{number}")
        rollback(here, "c0", fence=owner, exclude=["report.pdf"])
        code = forked(partial(prune, here, max_bytes=0, step=Killed(at)))
        left = [entry.commit_id for entry in kept(here)]
        assert left in (["c0", "c1"], ["c1"], [])
        for id in reversed(left):
            rollback(here, id, fence=owner)
        if left == ["c0", "c1"]:
            assert {path: fact.content for path, fact in manifest(here).items()} == {
                path: fact.content for path, fact in before.items()
            }
        prune(here, max_bytes=0)
        assert [path for room in ("history", "trash") for path in (here / ".suma" / room).iterdir()] == []
    assert at > 5


def test_commit_with_an_interrupted_rollback_is_not_pruned(root: Path) -> None:
    before = manifest(root)
    done(root, Delete(path="report.pdf"))

    def killed(point: str) -> None:
        if point == "placing":
            os.kill(os.getpid(), signal.SIGKILL)

    assert forked(lambda: rollback(root, "c", fence=owner, step=killed)) == -signal.SIGKILL
    assert prune(root, max_bytes=0).commits == ()
    recover(root, "finish")
    assert manifest(root) == before


def test_prune_keeps_spared_commits_and_deletes_others(root: Path) -> None:
    for number, name in enumerate(("report.pdf", "report copy.pdf")):
        done(root, Delete(path=name), id=f"c{number}")
    assert prune(root, max_bytes=0, spare={"c0"}).commits == ("c1",)
    assert [entry.commit_id for entry in kept(root)] == ["c0"]


def test_a_prune_that_lost_its_lease_puts_the_commit_back(root: Path) -> None:
    before = manifest(root)
    done(root, Delete(path="report.pdf"))
    asked = []

    def fence() -> None:
        asked.append(True)
        if len(asked) > 1:
            raise LookupError

    with pytest.raises(LookupError):
        prune(root, max_bytes=0, fence=fence)
    rollback(root, "c", fence=owner)
    assert manifest(root) == before


def test_a_full_disk_takes_nothing_younger_than_a_day(root: Path) -> None:
    for number, name in enumerate(("report.pdf", "report copy.pdf")):
        done(root, Delete(path=name), id=f"c{number}")
    [intent] = (root / ".suma/history").glob("c0.*/intent")
    os.utime(intent, (0, 0))
    assert make_room(root, 0).commits == ()
    assert make_room(root, 1 << 60).commits == ("c0",)


@pytest.fixture
def lent(root: Path) -> Path:
    """A workspace of an ordinary user, whom `as_nobody` runs as."""
    for path in [root.parent, *root.parent.parents]:
        path.chmod(path.stat().st_mode | 0o011)
    for path in [root, *root.rglob("*")]:
        os.chown(path, 65534, 65534, follow_symlinks=False)
    return root


def as_nobody(act: Callable[[], object]) -> int:
    def dropped() -> None:
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        act()

    return forked(dropped)


@as_root
def test_read_only_folders_are_removed_with_their_commit(lent: Path) -> None:
    (lent / "docs/old/link").symlink_to(lent / "hollow")
    for folder in ("photos/raw", "docs/old", "hollow"):
        (lent / folder).chmod(0o555)

    def pruned() -> None:
        done(lent, Delete(path="docs"), Delete(path="photos"))
        assert prune(lent, max_bytes=0).commits == ("c",)
        assert list((lent / ".suma/trash").iterdir()) == []
        assert stat.S_IMODE((lent / "hollow").stat().st_mode) == 0o555

    assert as_nobody(pruned) == 0


@as_root
def test_files_that_cannot_be_removed_are_not_freed(lent: Path) -> None:
    (lent / "photos/raw/large").write_bytes(bytes(1_000_000))
    os.chown(lent / "photos/raw", 0, 0)

    def pruned() -> None:
        done(lent, Delete(path="photos"))
        before = kept(lent)[0].size
        assert 0 < prune(lent, max_bytes=0).size <= before - 1_000_000
        assert kept(lent) == ()

    assert as_nobody(pruned) == 0


@as_root
def test_room_is_made_on_a_disk_without_free_inodes(tmp_path: Path) -> None:
    def on_a_small_disk() -> None:
        apart()
        mounted("tmpfs", tmp_path, "tmpfs", "nr_inodes=80")
        root = grow(tmp_path / "work", {"old/a": "a", "old/b": "b"})
        done(root, Delete(path="old"))
        [intent] = (root / ".suma/history").glob("c.*/intent")
        os.utime(intent, (0, 0))
        take_inodes(root)
        assert make_room(root, 0).commits == ("c",)
        assert os.statvfs(root).f_favail > 3
        assert outcome(root, "c") == "committed"

    assert forked(on_a_small_disk) == 0


def test_reading_history_creates_no_folder(root: Path) -> None:
    assert kept(root) == ()
    assert prune(root, max_bytes=0).commits == ()
    assert not (root / ".suma").exists()
