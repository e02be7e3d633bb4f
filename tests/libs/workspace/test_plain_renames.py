"""Drives whose file system takes no flags of renameat2: all or nothing there too, or a refusal that names it."""

from __future__ import annotations

import errno
import signal
from pathlib import Path

import pytest

from libs.workspace.commit import commit
from libs.workspace.errors import CommitConflict, Unsupported
from libs.workspace.operations import Move
from libs.workspace.ownership import check, own
from libs.workspace.recovery import Decision, recover
from libs.workspace.rollback import rollback
from libs.workspace.safe_dir import SafeDir, place
from tests.libs.workspace.syscalls import KNOWN, killed_by_unlinking, without_hard_links, without_rename_flags
from tests.libs.workspace.test_recovery import OPERATIONS, SMALL
from tests.libs.workspace.trees import forked, grow, manifest, owner, shape, staged

pytestmark = [
    pytest.mark.requirement("A25", "A26"),
    pytest.mark.skipif(not KNOWN, reason="the numbers of system calls are unknown for this machine"),
]
SECRET = b"o" * 32


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return grow(tmp_path / "work", SMALL)


def names(root: Path) -> dict[Path, int]:
    """Return every name of a file, also in `.suma`, with the count of its hard links."""
    return {path: path.lstat().st_nlink for path in root.rglob("*") if not path.is_dir()}


def test_a_commit_and_its_rollback_work_without_flags(root: Path) -> None:
    expected = shape(committed(grow(root.parent / "usual", SMALL)))
    before = manifest(root)

    def act() -> None:
        without_rename_flags()
        own(root, SECRET)
        assert shape(committed(root)) == expected
        rollback(root, "c", fence=owner)
        assert manifest(root) == before
        assert set(names(root).values()) == {1}

    assert forked(act) == 0
    assert check(root, SECRET) is None
    assert not list(root.glob(".suma/.owner*"))


def committed(root: Path) -> Path:
    commit(root, staged(root, *OPERATIONS), commit_id="c", fence=owner)
    return root


@pytest.mark.parametrize("point", ["intent", "placing"])
@pytest.mark.parametrize("decide", ["undo", "finish"])
def test_kill_between_two_names_is_all_or_nothing(root: Path, point: str, decide: Decision) -> None:
    before, after = manifest(root), shape(committed(grow(root.parent / "usual", SMALL)))

    def killed() -> None:
        without_rename_flags()
        stage = staged(root, *OPERATIONS)
        commit(root, stage, commit_id="c", fence=owner, step=lambda at: killed_by_unlinking() if at == point else None)

    def recovered() -> None:
        without_rename_flags()
        (found,) = recover(root, decide)
        assert (shape(root) == after) if decide == "finish" else (manifest(root) == before)
        assert (found.unrestored, set(names(root).values())) == ((), {1})

    assert forked(killed) == -signal.SIGSYS
    assert 2 in names(root).values()
    assert forked(recovered) == 0


def test_a_taken_name_is_never_replaced_without_flags(root: Path) -> None:
    def meanwhile(point: str) -> None:
        if point == "checked":
            (root / "docs/b").write_text("of another program")

    def act() -> None:
        without_rename_flags()
        with pytest.raises(CommitConflict):
            commit(root, staged(root, Move(path="b", target="docs")), commit_id="c", fence=owner, step=meanwhile)
        with SafeDir.open(root) as at, pytest.raises(FileExistsError):
            place(at.fd, "docs/old", at.fd, "docs/x")

    assert forked(act) == 0
    assert ((root / "docs/b").read_text(), (root / "b").read_text()) == ("of another program", "bb")


def test_a_drive_without_links_is_refused_by_its_name(root: Path) -> None:
    before = manifest(root)

    def act() -> None:
        without_rename_flags()
        without_hard_links()
        with pytest.raises(Unsupported, match=r"the file system \(\w+\) can neither") as refused:
            commit(root, staged(root, Move(path="b", target="docs")), commit_id="c", fence=owner)
        assert "Nothing was changed" in str(refused.value)
        with pytest.raises(OSError, match="can neither") as failed:
            own(root, SECRET)
        assert failed.value.errno == errno.EOPNOTSUPP

    assert forked(act) == 0
    assert manifest(root) == before
    assert not list(root.glob(".suma/.owner*"))
