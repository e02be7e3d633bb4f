"""A rollback restores every byte, name, mode and mtime, also of folders, and nothing of another program's."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.workspace.commit import commit, outcome
from libs.workspace.errors import CannotExclude, CommitConflict, NoSuchCommit
from libs.workspace.operations import AnyOperation, Copy, Create, Delete, Move, Rename, Write
from libs.workspace.rollback import redo, rollback
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from tests.libs.workspace.actions import ACTIONS, Action, act
from tests.libs.workspace.conftest import DOWNLOADS
from tests.libs.workspace.trees import aged, copied, grow, manifest, owner, shape, staged, text
from tests.support.examples import examples

Outside = Callable[[Path], object]

MIXED: list[AnyOperation] = [
    Create(path="new", directory=True),
    Create(path="new/file", content=text("made")),
    Write(path="README", content=text("ours")),
    Write(path="binary.bin", content=text("")),
    Delete(path="empty.txt"),
    Move(path="docs/old", target="new/old"),
    Write(path="new/old/invoice.txt", content=text("more")),
    Delete(path="docs"),
    Rename(path="photos/a.jpg", new_name="t"),
    Rename(path="photos/b.jpg", new_name="a.jpg"),
    Rename(path="photos/t", new_name="b.jpg"),
    Rename(path="\u00e9t\u00e9.txt", new_name="summer.txt"),
    Copy(path="new", target="copy"),
    Delete(path="link"),
]


def done(root: Path, *operations: AnyOperation, id: str = "c") -> None:
    commit(root, staged(root, *operations), commit_id=id, fence=owner)


def made(root: Path, content: str) -> Path:
    """Return the file with this content that a rollback took out."""
    slots = (root / ".suma/history").glob("c.*/n*")
    return next(slot for slot in slots if slot.is_file() and slot.read_text() == content)


@pytest.mark.requirement("A24", "S4-21", "S0-24")
@pytest.mark.parametrize("place", ["memory", "disk"])
def test_rollback_restores_everything(tmp_path: Path, disk: Path, place: str) -> None:
    root = grow((disk if place == "disk" else tmp_path) / "work", DOWNLOADS)
    os.setxattr(root / "empty.txt", "user.tag", b"kept")
    (root / "empty.txt").chmod(0o4751)
    before = manifest(aged(root))
    done(root, *MIXED)
    assert manifest(root) != before
    result = rollback(root, "c", fence=owner)
    assert manifest(root) == before
    assert (result.rollback_id, outcome(root, "c~1")) == ("c~1", "committed")


@pytest.mark.requirement("A28", "S4-48", "S4-49", "A24")
def test_worked_example_rolls_back_to_the_byte(tmp_path: Path) -> None:
    """Downloads hold three groups of duplicates; the person keeps one; two groups, three files, are deleted; all is
    undone.
    """
    unique: dict[str, bytes | str | None] = {f"f{number}": f"unique {number}" for number in range(37)}
    twins = {
        **dict.fromkeys(("report.pdf", "report (1).pdf", "report (2).pdf"), b"R" * 4_000),
        **dict.fromkeys(("photo.jpg", "photo (1).jpg"), b"P" * 3_000),
        **dict.fromkeys(("song.mp3", "song (1).mp3"), b"S" * 500),
    }
    root = grow(tmp_path / "Downloads", unique | twins | {"a/x": "1", "b/y": "2", "c": None})
    before = manifest(root)
    stage = Stage(Tree.scan(root))
    assert len(list(stage.walk("."))) == 37 + 7 + 5
    for group in stage.find_duplicates("."):
        for path in group.paths:
            if "(" in path:
                stage.apply(Delete(path=path, reason=f"the same as {group.paths[-1]}"))
    assert (stage.diff().counts["deleted"], stage.diff().bytes_freed) == (4, 11_500)

    result = commit(root, stage, commit_id="c", fence=owner, exclude=["song (1).mp3"])

    assert (result.operations, result.diff.counts["deleted"], result.diff.bytes_freed) == (3, 3, 11_000)
    assert [group.paths for group in Stage(Tree.scan(root)).find_duplicates(".")] == [("song (1).mp3", "song.mp3")]
    rollback(root, "c", fence=owner)
    assert manifest(root) == before


@pytest.mark.requirement("A24", "S0-24")
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(commits=st.lists(st.lists(ACTIONS, max_size=12), min_size=1, max_size=3))
def test_commits_rolled_back_in_turn_lead_to_each_manifest_before(root: Path, commits: list[list[Action]]) -> None:
    work = copied(root)
    manifests = []
    for number, actions in enumerate(commits):
        manifests.append(manifest(work))
        stage = Stage(Tree.scan(work))
        for action in actions:
            act(stage, action)
        commit(work, stage, commit_id=f"c{number}", fence=owner)
    for number, before in reversed(list(enumerate(manifests))):
        rollback(work, f"c{number}", fence=owner)
        assert manifest(work) == before


@pytest.mark.requirement("A26")
@pytest.mark.parametrize(
    ("outside", "path"),
    [
        (lambda root: (root / "README").write_text("theirs"), "README"),
        (lambda root: (root / "new/file").write_text("theirs"), "new/file"),
        (lambda root: (root / "new/theirs").write_text("x"), "new/theirs"),
        (lambda root: (root / "empty.txt").write_text("theirs"), "empty.txt"),
        (lambda root: (root / "summer.txt").write_text("theirs"), "summer.txt"),
        (lambda root: next((root / ".suma/history").glob("c.*/o*/letter.txt")).write_text("late"), "docs"),
    ],
    ids=["edit", "edit of created", "new in created folder", "in the place of deleted", "edit of moved", "late writer"],
)
def test_foreign_change_stops_the_rollback_and_is_named(root: Path, outside: Outside, path: str) -> None:
    done(root, *MIXED)
    outside(root)
    before = manifest(root)
    with pytest.raises(CommitConflict) as conflict:
        rollback(root, "c", fence=owner)
    assert conflict.value.paths == (path,)
    assert manifest(root) == before


@pytest.mark.requirement("A26", "A28")
def test_excluding_a_foreign_change_rolls_back_the_rest(root: Path) -> None:
    before = shape(root)
    done(root, Write(path="README", content=text("ours")), Delete(path="docs"), Delete(path="empty.txt"))
    (root / "README").write_text("theirs")
    result = rollback(root, "c", fence=owner, exclude=["README"])
    assert (root / "README").read_text() == "theirs"
    assert shape(root) | {"README": before["README"]} == before
    assert result.operations == 2


@pytest.mark.requirement("A26")
def test_folder_with_an_excluded_foreign_file_stays(root: Path) -> None:
    done(root, Create(path="new", directory=True), Create(path="new/ours"), Delete(path="README"))
    (root / "new/theirs").write_text("x")
    rollback(root, "c", fence=owner, exclude=["new/theirs"])
    assert sorted(path.name for path in (root / "new").iterdir()) == ["theirs"]
    assert (root / "README").exists()


@pytest.mark.requirement("A26")
def test_excluded_change_can_be_rolled_back_later(root: Path) -> None:
    done(root, Delete(path="README"), Delete(path="empty.txt"))
    rollback(root, "c", fence=owner, exclude=["README"])
    before = shape(root)
    assert "README" not in before
    assert rollback(root, "c", fence=owner).operations == 1
    assert (root / "README").read_text() == "read me"


def test_change_that_others_need_cannot_be_excluded(root: Path) -> None:
    a, b, c = "photos/a.jpg", "photos/b.jpg", "photos/raw/c.jpg"
    done(root, Move(path=a, target="t"), Move(path=b, target=a), Move(path=c, target=b), Move(path="t", target=c))
    before = manifest(root)
    with pytest.raises(CannotExclude):
        rollback(root, "c", fence=owner, exclude=[a])
    assert manifest(root) == before


@pytest.mark.requirement("A25")
def test_a_rollback_that_comes_again_does_nothing(root: Path) -> None:
    done(root, *MIXED)
    rollback(root, "c", fence=owner)
    (root / "new").mkdir()
    before = manifest(root)
    assert rollback(root, "c", fence=owner).operations == 0
    assert manifest(root) == before


@pytest.mark.requirement("A26")
def test_older_commit_conflicts_until_the_newer_is_rolled_back(root: Path) -> None:
    before = manifest(root)
    done(root, Write(path="README", content=text("one")), id="c1")
    done(root, Write(path="README", content=text("two")), id="c2")
    with pytest.raises(CommitConflict):
        rollback(root, "c1", fence=owner)
    rollback(root, "c2", fence=owner)
    rollback(root, "c1", fence=owner)
    assert manifest(root) == before


@pytest.mark.requirement("A26")
def test_a_change_found_midway_undoes_the_rollback(root: Path) -> None:
    done(root, *MIXED)
    after = shape(root)

    def meddle(at: str) -> None:
        if at == "placing":
            (root / "README").write_text("theirs")

    with pytest.raises(CommitConflict):
        rollback(root, "c", fence=owner, step=meddle)
    assert shape(root) | {"README": after["README"]} == after
    assert outcome(root, "c~1") == "undone"


def test_folder_with_foreign_changes_keeps_its_new_mtime(root: Path) -> None:
    done(root, Delete(path="photos/a.jpg"))
    (root / "photos/theirs").write_text("x")
    now = (root / "photos").stat().st_mtime_ns
    rollback(root, "c", fence=owner)
    assert (root / "photos").stat().st_mtime_ns > now


@pytest.mark.parametrize("id", ["never", "c~1"])
def test_only_commits_can_be_rolled_back(root: Path, id: str) -> None:
    done(root, Delete(path="README"))
    with pytest.raises(NoSuchCommit):
        rollback(root, id, fence=owner)


@pytest.mark.requirement("A24", "A26")
def test_redo_restores_the_commit(root: Path) -> None:
    before = manifest(root)
    done(root, *MIXED)
    after = manifest(root)
    for number in (1, 3):
        rollback(root, "c", fence=owner)
        assert manifest(root) == before
        assert redo(root, "c", fence=owner).rollback_id == f"c~{number + 1}"
        assert manifest(root) == after


@pytest.mark.requirement("A24")
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(ACTIONS, min_size=1, max_size=12))
def test_rollbacks_and_redos_alternate_between_two_manifests(root: Path, actions: list[Action]) -> None:
    work, stage = copied(root), None
    before, stage = manifest(work), Stage(Tree.scan(work))
    for action in actions:
        act(stage, action)
    commit(work, stage, commit_id="c", fence=owner)
    after = manifest(work)
    for _ in range(2):
        rollback(work, "c", fence=owner)
        assert manifest(work) == before
        redo(work, "c", fence=owner)
        assert manifest(work) == after


@pytest.mark.requirement("A26")
@pytest.mark.parametrize(
    ("outside", "path"),
    [
        (lambda root: (root / "README").write_text("theirs"), "README"),
        (lambda root: (root / "empty.txt").write_text("theirs"), "empty.txt"),
        (lambda root: (root / "docs/theirs").write_text("x"), "docs/theirs"),
        (lambda root: (root / "summer.txt").write_text("theirs"), "summer.txt"),
        (lambda root: made(root, "ours").write_text("late"), "README"),
    ],
    ids=["edit", "edit of deleted", "new in deleted folder", "in the place of moved", "late writer"],
)
def test_changes_after_the_rollback_stop_its_redo(root: Path, outside: Outside, path: str) -> None:
    done(root, *MIXED)
    rollback(root, "c", fence=owner)
    outside(root)
    before = manifest(root)
    with pytest.raises(CommitConflict) as conflict:
        redo(root, "c", fence=owner)
    assert path in conflict.value.paths
    assert manifest(root) == before


@pytest.mark.requirement("A26", "S4-48")
def test_redo_keeps_a_duplicate_whose_twin_has_changed(tmp_path: Path) -> None:
    root = grow(tmp_path / "work", {"one": "same", "two": "same", "kept": None})
    done(root, Delete(path="two", same_as="one"), Move(path="one", target="kept/one"))
    rollback(root, "c", fence=owner)
    (root / "one").unlink()
    (root / "one").write_text("else")
    with pytest.raises(CommitConflict):
        redo(root, "c", fence=owner)
    (root / "one").write_text("same")
    with pytest.raises(CommitConflict) as conflict:
        redo(root, "c", fence=owner)
    assert conflict.value.paths == ("one",)
    assert redo(root, "c", fence=owner, exclude=["one"]).operations == 1
    assert [path.name for path in root.glob("*") if path.is_file()] == ["one"]


@pytest.mark.requirement("A26")
def test_redo_restores_a_partial_rollback(root: Path) -> None:
    done(root, Delete(path="empty.txt"), Delete(path="README"))
    after = shape(root)
    assert redo(root, "c", fence=owner).operations == 0
    rollback(root, "c", fence=owner, exclude=["README"])
    assert redo(root, "c", fence=owner).operations == 1
    assert shape(root) == after
