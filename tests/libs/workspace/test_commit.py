"""A commit makes the disk match the stage, all of it or nothing, and never overwrites another program's change."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.errors import Rejected
from libs.workspace import names
from libs.workspace.commit import commit, committed, outcome, without_excluded
from libs.workspace.diff import Entry
from libs.workspace.engine import Step
from libs.workspace.errors import (
    AlreadyCommitted,
    BadContent,
    CannotExclude,
    CommitConflict,
    NoSpace,
    NotPermitted,
    OutsideWorkspace,
    Sealed,
    Unfinished,
)
from libs.workspace.exclusion import Excluded
from libs.workspace.operations import AnyOperation, Blob, Copy, Create, Delete, Move, Rename, Write
from libs.workspace.rollback import rollback
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from tests.libs.workspace.actions import ACTIONS, Action, act
from tests.libs.workspace.mounts import apart, bound, mounted, take_inodes
from tests.libs.workspace.trees import (
    Counted,
    copied,
    find,
    forked,
    grow,
    manifest,
    owner,
    shape,
    staged,
    staged_shape,
    text,
)
from tests.support.examples import examples

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount and become another user")
NEEDED = 8
"""Inodes that a commit of one new folder takes: its own folder, five markers, the intent, the new folder."""
Outside = Callable[[Path], object]


def done(root: Path, *operations: AnyOperation, exclude: tuple[str, ...] = ()) -> None:
    commit(root, staged(root, *operations), commit_id="c", fence=owner, exclude=exclude)


def done_with(root: Path, step: Step, *operations: AnyOperation) -> None:
    commit(root, staged(root, *operations), commit_id="c", fence=owner, step=step)


@pytest.mark.requirement("S4-20", "S4-25", "A24")
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(ACTIONS, max_size=20))
def test_commit_makes_the_disk_match_the_stage(root: Path, actions: list[Action]) -> None:
    work = copied(root)
    stage = Stage(Tree.scan(work))
    for action in actions:
        act(stage, action)
    shown = staged_shape(stage)
    commit(work, stage, commit_id="c", fence=owner)
    assert shape(work) == shown


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([Rename(path="README", new_name="t"), Rename(path="empty.txt", new_name="README"),
          Rename(path="t", new_name="empty.txt")],
         {"README": "", "empty.txt": "read me"}),
        ([Move(path="photos/a.jpg", target="t"), Move(path="photos/b.jpg", target="photos/a.jpg"),
          Move(path="photos/raw/c.jpg", target="photos/b.jpg"), Move(path="t", target="photos/raw/c.jpg")],
         {"photos/a.jpg": "bbbb", "photos/b.jpg": "cc", "photos/raw/c.jpg": "aaaa"}),
        ([Rename(path="README", new_name="readme")], {"readme": "read me"}),
        ([Move(path="docs/old", target="old"), Move(path="docs", target="old/docs")],
         {"old/docs/letter.txt": "dear", "old/invoice.txt": "invoice"}),
        ([Move(path="\u00e9t\u00e9.txt", target="t"), Move(path="e\u0301te\u0301.txt", target="\u00e9t\u00e9.txt"),
          Move(path="t", target="e\u0301te\u0301.txt")],
         {"\u00e9t\u00e9.txt": "NFD", "e\u0301te\u0301.txt": "NFC"}),
        ([Delete(path="README"), Create(path="README", directory=True), Move(path="empty.txt", target="README")],
         {"README/empty.txt": ""}),
        ([Move(path="docs", target="d"), Write(path="d/letter.txt", content=text("x")), Copy(path="d", target="e")],
         {"d/letter.txt": "x", "e/letter.txt": "x", "e/old/invoice.txt": "invoice"}),
        ([Move(path="README", target="docs"), Write(path="docs/README", content=text("moved and written"))],
         {"docs/README": "moved and written"}),
    ],
    ids=["swap", "cycle of three", "case only", "inversion", "twins", "file to folder", "inside a move", "both"],
)  # fmt: skip
@pytest.mark.requirement("S4-20")
def test_crossing_renames_are_committed(root: Path, operations: list[AnyOperation], expected: dict[str, str]) -> None:
    done(root, *operations)
    assert {path: (root / path).read_text() for path in expected} == expected


@pytest.mark.requirement("S4-20")
def test_bytes_names_links_and_long_paths_are_committed(tmp_path: Path) -> None:
    root, long = grow(tmp_path / "work", {"link": "-> /etc"}), "/".join(["d" * 200] * 25)
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9")).write_text("latin")
    folders = [Create(path=long[: 201 * number - 1], directory=True) for number in range(1, 26)]
    done(root, *folders, Move(path="caf\\xe9", target=f"{long}/caf\\xe9\\xff"), Move(path="link", target="moved"))
    tree = Tree.scan(root)
    assert find(tree, f"{long}/caf\\xe9\\xff") is not None
    assert (root / "moved").readlink() == Path("/etc")


def test_content_comes_from_the_store_and_is_checked(root: Path) -> None:
    name = hashlib.sha256(b"blob").hexdigest()
    stage = staged(root, Create(path="new", content=Blob(sha256=name, size=4)))
    before = manifest(root)
    stage.blobs = lambda sha256: BytesIO(b"evil")
    with pytest.raises(BadContent):
        commit(root, stage, commit_id="c", fence=owner)
    assert (manifest(root), outcome(root, "c")) == (before, "absent")
    stage.blobs = lambda sha256: BytesIO(b"blob")
    commit(root, stage, commit_id="c", fence=owner)
    assert (root / "new").read_bytes() == b"blob"


def test_write_keeps_mode_owner_attributes_but_not_setuid(root: Path) -> None:
    os.setxattr(root / "README", "user.tag", b"kept")
    (root / "README").chmod(0o4750)
    done(root, Write(path="README", content=text("new")))
    assert (root / "README").stat().st_mode & 0o7777 == 0o750
    assert os.getxattr(root / "README", "user.tag") == b"kept"


def test_a_hard_link_is_warned_of(root: Path) -> None:
    os.link(root / "README", root / "twin")
    result = commit(root, staged(root, Write(path="README", content=text("new"))), commit_id="c", fence=owner)
    assert "README has other names" in result.warnings[0]
    assert (root / "twin").read_text() == "read me"


@pytest.mark.requirement("A26")
@pytest.mark.parametrize(
    ("outside", "path"),
    [
        (lambda root: (root / "README").write_text("theirs!!"), "README"),
        (lambda root: (root / "README").unlink(), "README"),
        (lambda root: (root / "new").write_text("theirs"), "new"),
        (lambda root: (root / "photos/raw/theirs").write_text("x"), "photos/raw/theirs"),
        (lambda root: (root / "photos/b.jpg").write_text("theirs"), "photos/b.jpg"),
        (lambda root: (root / "photos/b.jpg").unlink(), "photos/b.jpg"),
        (lambda root: (root / "docs").rename(root / "gone"), "docs/letter.txt"),
        (lambda root: (root / "README").chmod(0o600), "README"),
        (lambda root: ((root / "docs").rename(root / "gone"), (root / "docs").symlink_to("gone")), "docs/letter.txt"),
    ],
    ids=["edit", "delete", "create at target", "new in deleted folder", "edit in deleted folder",
         "delete in deleted folder", "folder gone", "mode", "folder became a link"],
)  # fmt: skip
def test_foreign_change_stops_the_commit_and_is_named(root: Path, outside: Outside, path: str) -> None:
    stage = staged(
        root,
        Write(path="README", content=text("ours")),
        Create(path="new", content=text("ours")),
        Delete(path="photos"),
        Move(path="docs/letter.txt", target="letter.txt"),
    )
    outside(root)
    before = manifest(root)
    with pytest.raises(CommitConflict) as conflict:
        commit(root, stage, commit_id="c", fence=owner)
    assert conflict.value.paths == (path,)
    assert (manifest(root), outcome(root, "c")) == (before, "absent")


@pytest.mark.requirement("A26")
@pytest.mark.parametrize(
    ("outside", "path"),
    [
        (lambda root: (root / "README").write_text("theirs!!"), "README"),
        (lambda root: (root / "new").write_text("theirs"), "new"),
        (lambda root: (root / "photos/theirs").write_text("x"), "photos/theirs"),
        (lambda root: (root / "docs/letter.txt").write_text("x"), "docs/letter.txt"),
    ],
    ids=["edit", "create at target", "new in deleted folder", "edit of moved"],
)
def test_excluding_a_foreign_change_commits_the_rest(root: Path, outside: Outside, path: str) -> None:
    stage = staged(
        root,
        Write(path="README", content=text("ours")),
        Create(path="new", content=text("ours")),
        Delete(path="photos"),
        Move(path="docs/letter.txt", target="letter.txt"),
    )
    outside(root)
    theirs = (root / path).read_text()
    result = commit(root, stage, commit_id="c", fence=owner, exclude=[path])
    assert (root / path).read_text() == theirs
    assert not (root / "photos/a.jpg").exists()
    assert len([name for name in ("README", "new", "letter.txt") if _ours(root / name)]) == (
        3 if "photos" in path else 2
    )
    assert path not in [entry.path for entry in result.diff.entries]


@pytest.mark.requirement("A26", "A28", "S4-49")
def test_folder_is_deleted_except_for_excluded_files(root: Path) -> None:
    result = commit(
        root, staged(root, Delete(path="docs")), commit_id="c", fence=owner, exclude=["docs/old/invoice.txt"]
    )
    assert sorted(path for path in shape(root) if path.startswith("docs")) == [
        "docs",
        "docs/old",
        "docs/old/invoice.txt",
    ]
    assert sorted(entry.path for entry in result.diff.entries) == ["docs/letter.txt", "docs/old/report.pdf"]


@pytest.mark.requirement("A26")
@pytest.mark.parametrize(
    ("operations", "exclude"),
    [
        ([Rename(path="README", new_name="t"), Rename(path="empty.txt", new_name="README")], "t"),
        ([Delete(path="docs"), Create(path="docs", content=text("a file now"))], "docs/old"),
    ],
    ids=["its place", "a folder that stays"],
)
def test_change_that_others_need_cannot_be_excluded(root: Path, operations: list[AnyOperation], exclude: str) -> None:
    before = manifest(root)
    with pytest.raises(CannotExclude):
        done(root, *operations, exclude=(exclude,))
    assert manifest(root) == before


@pytest.mark.requirement("A26", "A24")
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(ACTIONS, max_size=15), chosen=st.lists(st.integers(0, 99), min_size=1, max_size=3))
def test_excluded_paths_stay_and_the_rest_rolls_back(root: Path, actions: list[Action], chosen: list[int]) -> None:
    work = copied(root)
    before, files = manifest(work), shape(work)
    stage = Stage(Tree.scan(work))
    for action in actions:
        act(stage, action)
    entries = [replace(entry, source=None) if entry.change == "created" else entry for entry in stage.diff().entries]
    touched = {path for entry in entries for path in (entry.path, entry.source) if path in files}
    excluded = [sorted(touched or files)[number % len(touched or files)] for number in chosen]
    try:
        promised = without_excluded(stage, excluded)
        made = commit(work, stage, commit_id="c", fence=owner, exclude=excluded).diff
    except (CannotExclude, CommitConflict):
        assert manifest(work) == before
        return
    assert made == promised
    assert not [entry.path for entry in made.entries if Excluded.of(work, excluded).covers(entry.path)]
    after = shape(work)
    moved = {entry.source: entry.path for entry in committed_diff(work) if entry.source and entry.change == "moved"}
    for path in excluded:
        assert after[_followed(path, moved)] == files[path]
    rollback(work, "c", fence=owner)
    assert manifest(work) == before


@pytest.mark.requirement("A26")
@pytest.mark.parametrize("path", ["READMEE", "photos/nothing"])
def test_excluding_a_path_outside_the_change_fails(root: Path, path: str) -> None:
    with pytest.raises(CannotExclude):
        done(root, Delete(path="README"), exclude=(path,))
    assert (root / "README").exists()


@pytest.mark.requirement("A5")
def test_exclusion_accepts_paths_as_operations_do(root: Path) -> None:
    done(root, Delete(path="README"), Delete(path="docs"), exclude=(f"{root}/README",))
    assert ((root / "README").exists(), (root / "docs").exists()) == (True, False)
    with pytest.raises(OutsideWorkspace):
        commit(root, staged(root, Delete(path="README")), commit_id="d", fence=owner, exclude=["../README"])


@pytest.mark.requirement("A26")
def test_copy_of_a_changed_file_conflicts_at_the_copy(root: Path) -> None:
    stage = staged(root, Copy(path="README", target="copy"), Delete(path="empty.txt"))
    (root / "README").write_text("theirs")
    with pytest.raises(CommitConflict) as conflict:
        commit(root, stage, commit_id="c", fence=owner)
    assert conflict.value.paths == ("copy",)
    commit(root, stage, commit_id="c", fence=owner, exclude=["copy"])
    assert not (root / "empty.txt").exists()


@pytest.mark.requirement("A26")
@pytest.mark.parametrize(
    ("source", "changed"), [("README", "README"), ("docs", "docs/old/invoice.txt"), ("docs", "docs/new")]
)
def test_excluding_a_changed_file_excludes_its_copies(root: Path, source: str, changed: str) -> None:
    operations = (Copy(path=source, target="copy"), Copy(path="copy", target="second"), Delete(path="empty.txt"))
    first = Stage(Tree.scan(root))
    log = [first.apply(operation).operation for operation in operations]
    (root / changed).write_text("theirs")
    stage = Stage.replay(Tree.scan(root), log)
    with pytest.raises(CommitConflict) as conflict:
        commit(root, stage, commit_id="c", fence=owner)
    assert conflict.value.paths == (source,)
    commit(root, stage, commit_id="c", fence=owner, exclude=[source])
    assert [(root / name).exists() for name in ("copy", "second", "empty.txt", changed)] == [False, False, False, True]


@pytest.mark.requirement("A26")
def test_excluding_a_new_folder_excludes_its_contents(root: Path) -> None:
    before = manifest(root)
    done(root, Create(path="d", directory=True), Move(path="README", target="d"), exclude=("d",))
    assert manifest(root) == before


@pytest.mark.requirement("A26")
@pytest.mark.parametrize("point", ["staged", "intent", "detach", "placing", "attach"])
def test_a_change_found_midway_undoes_the_commit(root: Path, point: str) -> None:
    stage = staged(
        root,
        Move(path="docs", target="papers"),
        Delete(path="photos/a.jpg"),
        Write(path="README", content=text("ours")),
    )
    before = shape(root)

    def meddle(at: str) -> None:
        if at.startswith(point):
            (root / "README").write_text("theirs!!")

    with pytest.raises(CommitConflict) as conflict:
        commit(root, stage, commit_id="c", fence=owner, step=meddle)
    assert conflict.value.paths == ("README",)
    assert (root / "README").read_text() == "theirs!!"
    assert shape(root) | {"README": before["README"]} == before
    assert outcome(root, "c") == "undone"


@pytest.mark.requirement("A26")
def test_file_added_to_a_folder_during_removal_undoes_commit(root: Path) -> None:
    def meddle(at: str) -> None:
        if at == "intent":
            (root / "photos/raw/theirs").write_text("x")

    with pytest.raises(CommitConflict) as conflict:
        commit(root, staged(root, Delete(path="photos")), commit_id="c", fence=owner, step=meddle)
    assert conflict.value.paths == ("photos/raw/theirs",)
    assert (root / "photos/raw/theirs").read_text() == "x"


@pytest.mark.requirement("A26")
def test_undo_does_not_hide_a_foreign_change_by_mtime(root: Path) -> None:
    before = (root / "photos").stat().st_mtime_ns

    def meddle(at: str) -> None:
        if at == "intent":
            (root / "photos/a.jpg").unlink()

    with pytest.raises(CommitConflict):
        done_with(root, meddle, Delete(path="photos/b.jpg"), Delete(path="photos/a.jpg"))
    assert (root / "photos").stat().st_mtime_ns > before


def test_a_late_writer_is_reported_and_its_bytes_are_kept(root: Path) -> None:
    with open(root / "README", "a") as late:

        def write(at: str) -> None:
            if at == "placing":
                late.write(" LATE")
                late.flush()

        result = commit(root, staged(root, Delete(path="README")), commit_id="c", fence=owner, step=write)
    assert [conflict.path for conflict in result.late] == ["README"]
    kept = next((root / ".suma/history").glob("c.*/o*"))
    assert kept.read_text() == "read me LATE"


@pytest.mark.requirement("A25")
def test_a_commit_that_comes_again_is_answered_not_repeated(root: Path) -> None:
    stage = staged(root, Delete(path="README"))
    first = commit(root, stage, commit_id="c", fence=owner)
    (root / "README").write_text("new life")
    with pytest.raises(AlreadyCommitted):
        commit(root, staged(root, Delete(path="README")), commit_id="c", fence=owner)
    assert (root / "README").read_text() == "new life"
    assert outcome(root, "c") == "committed"
    assert committed(root, "c") == first


def test_undone_commit_may_be_repeated(root: Path) -> None:
    def meddle(at: str) -> None:
        (root / "README").touch()

    stage = staged(root, Delete(path="README"))
    with pytest.raises(CommitConflict):
        commit(root, stage, commit_id="c", fence=owner, step=meddle)
    assert outcome(root, "c") == "undone"
    commit(root, staged(root, Delete(path="README")), commit_id="c", fence=owner)
    assert outcome(root, "c") == "committed"


def test_reading_an_outcome_creates_no_folder(root: Path) -> None:
    assert outcome(root, "c") == "absent"
    assert not (root / ".suma").exists()


def test_interrupted_commit_blocks_the_next(root: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        commit(root, staged(root, Delete(path="README")), commit_id="c", fence=owner, step=_interrupt)
    for asking in (lambda: outcome(root, "c"), lambda: done(root, Delete(path="docs"))):
        with pytest.raises(Unfinished):
            asking()


@pytest.mark.parametrize("id", ["", "../x", "a/b", ".x", "a~1", "a\n", "x" * 200])
def test_invalid_commit_id_is_refused(root: Path, id: str) -> None:
    with pytest.raises(Rejected):
        commit(root, staged(root), commit_id=id, fence=owner)


def test_a_stage_of_another_folder_is_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(Rejected):
        commit(grow(tmp_path / "other", {}), staged(root), commit_id="c", fence=owner)


@pytest.mark.requirement("A26")
def test_replayed_stage_does_not_overwrite_changes_before_the_rescan(root: Path) -> None:
    stage = Stage(Tree.scan(root))
    log = [stage.apply(Write(path="README", content=text("ours"))).operation]
    (root / "README").write_text("theirs")
    again = Stage.replay(Tree.scan(root), log)
    with pytest.raises(CommitConflict) as conflict:
        commit(root, again, commit_id="c", fence=owner)
    assert conflict.value.paths == ("README",)


def test_commit_passes_its_points_in_order(root: Path) -> None:
    seen = Counted()
    commit(root, staged(root, Move(path="README", target="docs"), Write(path="empty.txt", content=text("x"))),
           commit_id="c", fence=owner, step=seen)  # fmt: skip
    assert [point.partition(":")[0] for point in seen.points] == [
        "checked", "write", "staged", "intent", "detach", "sync", "placing", "attach", "swap", "sync", "committed",
        "archived",
    ]  # fmt: skip


@as_root
def test_a_folder_that_we_may_not_change_undoes_the_commit(root: Path) -> None:
    for path in [root.parent, *root.parent.parents]:
        path.chmod(path.stat().st_mode | 0o011)
    for path in [root, *root.rglob("*")]:
        os.chown(path, 65534, 65534, follow_symlinks=False)
    (root / "photos").chmod(0o555)

    def as_nobody() -> None:
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        before = manifest(root)
        with pytest.raises(NotPermitted):
            done(root, Delete(path="photos/a.jpg"), Delete(path="docs"), Move(path="README", target="hollow"))
        assert manifest(root) == before

    assert forked(as_nobody) == 0


@as_root
@pytest.mark.parametrize("point", ["", "intent"])
def test_a_full_disk_leaves_everything_or_nothing(tmp_path: Path, point: str) -> None:
    def on_a_small_disk() -> None:
        apart()
        mounted("tmpfs", tmp_path, "tmpfs", "size=512k")
        root = grow(tmp_path / "work", {"a": "a", "b/c": "c"})
        before = manifest(root)
        size = 40_000 if point else 1_000_000
        big = Blob(sha256=hashlib.sha256(bytes(size)).hexdigest(), size=size)
        stage = staged(root, Create(path="big", content=big), Delete(path="a"), Move(path="b/c", target="c"))
        stage.blobs = lambda sha256: BytesIO(bytes(size))
        try:
            commit(
                root,
                stage,
                commit_id="c",
                fence=owner,
                step=lambda at: _fill(tmp_path) if at == point else None,
            )
        except NoSpace:
            assert manifest(root) == before
        else:
            assert point
            assert sorted(shape(root)) == ["b", "big", "c"]

    assert forked(on_a_small_disk) == 0


@as_root
@pytest.mark.parametrize("free", range(NEEDED + 1))
def test_a_disk_without_free_inodes_leaves_everything_or_nothing(tmp_path: Path, free: int) -> None:
    def on_a_small_disk() -> None:
        apart()
        mounted("tmpfs", tmp_path, "tmpfs", "nr_inodes=80")
        root = grow(tmp_path / "work", {"a": "a", "b/c": "c"})
        done(root, Delete(path="a"))
        before = manifest(root)
        take_inodes(tmp_path, but=free)
        stage = staged(root, Move(path="b/c", target="."), Create(path="d"))
        try:
            commit(root, stage, commit_id="second", fence=owner)
        except NoSpace:
            assert free < NEEDED
            assert manifest(root) == before
        else:
            assert free >= NEEDED
            assert sorted(shape(root)) == ["b", "c", "d"]
        assert list((root / ".suma/txn").iterdir()) == []

    assert forked(on_a_small_disk) == 0


@as_root
@pytest.mark.parametrize("limit", ["size=512k", "nr_inodes=80"])
def test_a_commit_is_undone_to_its_end_without_space(tmp_path: Path, limit: str) -> None:
    def on_a_small_disk() -> None:
        apart()
        mounted("tmpfs", tmp_path, "tmpfs", limit)
        root = grow(tmp_path / "work", {"a": "a", "b/c": "c"})

        def meddle(at: str) -> None:
            if at == "intent":
                _fill(tmp_path) if "size" in limit else take_inodes(tmp_path)
            if at == "placing":
                (root / "d").rename(root / "c")

        (root / "d").write_text("d")
        with pytest.raises(CommitConflict):
            done_with(root, meddle, Move(path="b/c", target="."), Delete(path="a"))
        assert sorted(shape(root)) == ["a", "b", "b/c", "c"]
        assert outcome(root, "c") == "undone"
        assert list((root / ".suma/txn").iterdir()) == []

    assert forked(on_a_small_disk) == 0


@as_root
@pytest.mark.requirement("S4-29")
def test_another_mount_below_is_neither_moved_nor_entered(root: Path, tmp_path: Path) -> None:
    def with_a_mount() -> None:
        apart()
        stage = staged(root, Create(path="docs/old/new"), Delete(path="README"))
        bound(grow(tmp_path / "elsewhere", {"x": "x"}), root / "docs/old")
        with pytest.raises(CommitConflict):
            commit(root, stage, commit_id="c", fence=owner)
        with pytest.raises(Sealed):
            staged(root, Move(path="docs", target="papers"))
        assert (root / "README").exists()

    assert forked(with_a_mount) == 0


def committed_diff(root: Path) -> tuple[Entry, ...]:
    result = committed(root, "c")
    assert result is not None
    return result.diff.entries


def _followed(path: str, moved: dict[str, str]) -> str:
    """Return the path of an untouched file after the folder above it has moved."""
    above = next((above for above in names.lineage(path) if above in moved), None)
    return path if above is None else moved[above] + path[len(above) :]


def _ours(path: Path) -> bool:
    return path.exists() and (path.read_text() in ("ours", "dear"))


def _interrupt(at: str) -> None:
    if at == "placing":
        raise KeyboardInterrupt


def _fill(folder: Path) -> None:
    with open(folder / "filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            return
