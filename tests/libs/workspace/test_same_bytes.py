"""A file with changed bytes is a conflict, even if its size and mtime are unchanged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from libs.workspace.commit import commit, outcome
from libs.workspace.errors import CommitConflict, WrongKind
from libs.workspace.operations import AnyOperation, Delete, Move, Operation, Write
from libs.workspace.recovery import recover
from libs.workspace.rollback import rollback
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from tests.libs.workspace.trees import Killed, forked, grow, manifest, owner, staged, text

CHANGES: list[AnyOperation] = [
    Delete(path="a"),
    Move(path="a", target="b"),
    Write(path="a", content=text("x")),
    Delete(path="folder"),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return grow(tmp_path / "work", {"a": "AAAA", "folder/a": "AAAA", "same": "CCCC", "twin": "CCCC"})


def rewritten(path: Path, content: bytes = b"BBBB") -> None:
    """Write other bytes of the same length in place and restore the mtime."""
    before = path.stat()
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.requirement("A26")
@pytest.mark.parametrize("operation", CHANGES, ids=["delete", "move", "write", "folder"])
def test_bytes_changed_behind_size_and_mtime_are_a_conflict(root: Path, operation: AnyOperation) -> None:
    stage = staged(root, operation)
    for name in ("a", "folder/a"):
        rewritten(root / name)
    with pytest.raises(CommitConflict):
        commit(root, stage, commit_id="c", fence=owner)
    assert ((root / "a").read_text(), outcome(root, "c")) == ("BBBB", "absent")


@pytest.mark.requirement("A26")
def test_bytes_changed_before_a_replay_are_a_conflict(root: Path) -> None:
    logged = [Stage(Tree.scan(root)).apply(operation).operation for operation in CHANGES]
    for name in ("a", "folder/a"):
        rewritten(root / name)
    for operation in logged:
        with pytest.raises(CommitConflict):
            commit(root, Stage.replay(Tree.scan(root), [operation]), commit_id="c", fence=owner)


@pytest.mark.requirement("A26")
@pytest.mark.parametrize("changed", ["same", "twin"])
def test_a_duplicate_is_compared_again_at_the_commit(root: Path, changed: str) -> None:
    rewritten(root / changed, b"DDDD")
    stage = staged(root, Delete(path="twin", same_as="same"))
    with pytest.raises(CommitConflict, match="no longer has the same bytes") as conflict:
        commit(root, stage, commit_id="c", fence=owner)
    assert (conflict.value.paths, (root / "twin").exists()) == (("twin",), True)


def test_a_duplicate_with_the_same_bytes_goes(root: Path) -> None:
    commit(root, staged(root, Delete(path="twin", same_as="same")), commit_id="c", fence=owner)
    assert not (root / "twin").exists()


def test_a_duplicate_goes_while_the_file_that_stays_moves(root: Path) -> None:
    stage = staged(root, Delete(path="twin", same_as="same"), Move(path="same", target="folder"))
    commit(root, stage, commit_id="c", fence=owner)
    assert (root / "folder/same").read_text() == "CCCC"


def test_a_changed_duplicate_can_be_left_out(root: Path) -> None:
    stage = staged(root, Delete(path="twin", same_as="a"), Delete(path="folder"))
    commit(root, stage, commit_id="c", fence=owner, exclude=["twin"])
    assert (root / "twin").exists()
    assert not (root / "folder").exists()


@pytest.mark.parametrize("other", ["folder", "twin"])
def test_file_is_no_duplicate_of_itself_or_a_folder(root: Path, other: str) -> None:
    with pytest.raises(WrongKind):
        Stage(Tree.scan(root)).apply(Delete(path="twin", same_as=other))


@pytest.mark.requirement("A25")
@pytest.mark.parametrize("times", [1, 2])
def test_killed_and_undone_commit_can_be_repeated(root: Path, times: int) -> None:
    before, stage, log = manifest(root), Stage(Tree.scan(root)), list[Operation]()
    for operation in (Move(path="a", target="b"), Write(path="same", content=text("x")), Delete(path="twin")):
        log.append(stage.apply(operation).operation)
    for _ in range(times):
        assert forked(lambda: _killed(root, log)) != 0
        assert [found.outcome for found in recover(root, "undo")] == ["undone"]
        assert manifest(root) == before
    commit(root, Stage.replay(Tree.scan(root), log), commit_id="c", fence=owner)
    assert (root / "b").read_text() == "AAAA"
    rollback(root, "c", fence=owner)
    assert manifest(root) == before


def _killed(root: Path, log: list[Operation]) -> None:
    points: list[str] = []

    def step(point: str) -> None:
        points.append(point)
        if point.startswith("swap:"):
            Killed(1)(point)

    commit(root, Stage.replay(Tree.scan(root), log), commit_id="c", fence=owner, step=step)


def test_two_names_of_one_file_can_move_together(root: Path) -> None:
    os.link(root / "a", root / "link")
    before = manifest(root)
    stage = staged(root, Move(path="a", target="b"), Move(path="link", target="folder"), Delete(path="twin"))
    commit(root, stage, commit_id="c", fence=owner)
    rollback(root, "c", fence=owner)
    assert manifest(root) == before
