"""The scratch tree: a copy of the staged view, and what was changed there as operations for the stage."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.errors import Rejected
from libs.sandbox import Limits, Scratch
from libs.sandbox.scratch import TooLarge
from libs.workspace.blob_cache import BlobCache
from libs.workspace.operations import Copy, Create, Delete, Inline, Move, Write
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree

pytestmark = pytest.mark.requirement("S2-12", "S2-18")


class Bench:
    """A real folder, a stage on it, and a scratch tree of the stage."""

    def __init__(self, place: Path, limits: Limits | None = None) -> None:
        self.real, self.folder = place / "real", place / "scratch"
        self.real.mkdir()
        self.folder.mkdir()
        self.cache = BlobCache(place / "blobs")
        self.scratch = Scratch(self.folder, limits or Limits(), "a command")

    def scan(self) -> Stage:
        self.stage = Stage(Tree.scan(self.real), self.cache)
        return self.stage

    def bring(self) -> dict[str, str]:
        """Copy the view; return what is left out."""
        return {refusal.path: refusal.reason for refusal in self.scratch.bring(self.stage)}

    def take(self) -> tuple[list[str], dict[str, str]]:
        """Stage what was changed; return the kinds of the operations with their paths, and the refused paths."""
        changes = self.scratch.changes(self.cache)
        for operation in changes.operations:
            self.stage.apply(operation)
        return [f"{one.kind} {one.path}" for one in changes.operations if one.kind != "batch"], {
            refusal.path: refusal.reason for refusal in changes.refused
        }

    def staged(self) -> dict[str, tuple[int, bytes | None]]:
        """Return every path of the staged view with its mode, and the content of a file."""
        return {
            node.path: (node.mode & 0o777, None if node.is_folder else self.stage.read_content(node.path, 1 << 22).data)
            for node in self.stage.walk(".")
            if node.path != "."
        }

    def left(self) -> dict[str, tuple[int, bytes | None]]:
        """Return the same of the scratch folder."""
        return {
            str(path.relative_to(self.folder)): (
                path.stat().st_mode & 0o777,
                None if path.is_dir() else path.read_bytes(),
            )
            for path in self.folder.rglob("*")
        }


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    for name, text in {"a.txt": "a", "b.txt": "b", "sub/c.txt": "c", "sub/deep/d.txt": "d"}.items():
        (made.real / name).parent.mkdir(parents=True, exist_ok=True)
        (made.real / name).write_text(text)
    made.scan()
    return made


def test_staged_changes_are_in_the_copy_alone(bench: Bench) -> None:
    bench.stage.apply(Write(path="a.txt", content=Inline.of(b"staged")))
    bench.stage.apply(Move(path="sub/c.txt", target="moved.txt"))
    bench.stage.apply(Delete(path="b.txt"))
    assert bench.bring() == {}
    assert bench.left() == bench.staged()
    assert (bench.folder / "a.txt").read_text() == "staged"
    assert (bench.real / "a.txt").read_text() == "a"


def test_links_of_the_workspace_are_copied_as_links(bench: Bench) -> None:
    (bench.real / "link").symlink_to("a.txt")
    (bench.real / "out").symlink_to("/etc/passwd")
    bench.scan()
    bench.stage.apply(Copy(path="link", target="copied"))
    bench.stage.apply(Move(path="out", target="sub/out"))
    assert bench.bring() == {}
    links = {path.name: str(path.readlink()) for path in bench.folder.rglob("*") if path.is_symlink()}
    assert links == {"link": "a.txt", "copied": "a.txt", "out": "/etc/passwd"}
    assert bench.take() == ([], {})
    (bench.folder / "link").unlink()
    assert bench.take() == (["delete link"], {})


def test_untouched_copy_has_no_changes(bench: Bench) -> None:
    bench.bring()
    (bench.folder / "a.txt").touch()
    (bench.folder / "b.txt").write_text("b")
    assert bench.take() == ([], {})


def test_each_kind_of_change_becomes_its_operation(bench: Bench) -> None:
    bench.bring()
    (bench.folder / "a.txt").write_text("new")
    (bench.folder / "b.txt").unlink()
    (bench.folder / "sub/c.txt").rename(bench.folder / "sub/renamed.txt")
    (bench.folder / "made").mkdir()
    (bench.folder / "made/e.txt").write_text("e" * 100_000)
    (bench.folder / "sub/deep/d.txt").chmod(0o755)
    operations, refused = bench.take()
    assert sorted(operations) == [
        *("create made", "create made/e.txt", "delete b.txt", "move sub/c.txt", "write a.txt", "write sub/deep/d.txt"),
    ]
    assert refused == {}
    assert bench.staged() == bench.left()


def test_removed_folder_is_one_deletion_after_the_moves(bench: Bench) -> None:
    bench.bring()
    (bench.folder / "sub/deep/d.txt").rename(bench.folder / "d.txt")
    (bench.folder / "sub/deep").rmdir()
    (bench.folder / "sub/c.txt").unlink()
    (bench.folder / "sub").rmdir()
    assert bench.take()[0] == ["move sub/deep/d.txt", "delete sub"]
    assert bench.staged() == bench.left()


def test_file_that_became_a_folder_is_replaced(bench: Bench) -> None:
    bench.bring()
    (bench.folder / "a.txt").unlink()
    (bench.folder / "a.txt").mkdir()
    (bench.folder / "a.txt/inner").write_text("inner")
    assert bench.take()[0] == ["delete a.txt", "create a.txt", "create a.txt/inner"]
    assert bench.staged() == bench.left()


def _link(folder: Path, outside: Path) -> None:
    (folder / "x").symlink_to(outside)


def _replaced(folder: Path, outside: Path) -> None:
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(outside)


def _hard(folder: Path, outside: Path) -> None:
    (folder / "x").hardlink_to(folder / "a.txt")


def _outer(folder: Path, outside: Path) -> None:
    (folder / "x").hardlink_to(outside)


def _pipe(folder: Path, outside: Path) -> None:
    os.mkfifo(folder / "x")


def _socket(folder: Path, outside: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(folder / "x"))


def _setuid(folder: Path, outside: Path) -> None:
    (folder / "x").write_text("x")
    (folder / "x").chmod(0o4755)


def _sparse(folder: Path, outside: Path) -> None:
    with (folder / "x").open("wb") as file:
        file.truncate(1 << 40)


def _sparse_together(folder: Path, outside: Path) -> None:
    for name in ("w", "x"):
        with (folder / name).open("wb") as file:
            file.truncate(200 << 20)


def _folder_link(folder: Path, outside: Path) -> None:
    (folder / "sub").rename(folder / "away")
    (folder / "sub").symlink_to(outside.parent)


@pytest.mark.parametrize(
    "attempt",
    [_link, _replaced, _hard, _outer, _pipe, _socket, _setuid, _sparse, _sparse_together, _folder_link],
    ids=lambda one: one.__name__,
)
def test_no_special_file_is_staged(bench: Bench, tmp_path: Path, attempt: Callable[[Path, Path], None]) -> None:
    outside = tmp_path / "outside"
    outside.write_text("secret")
    bench.bring()
    attempt(bench.folder, outside)
    changes = bench.scratch.changes(bench.cache)
    assert {"x", "a.txt", "sub"} & {refusal.path for refusal in changes.refused}
    assert "secret" not in str(changes.operations)
    assert not any(isinstance(one, Create) and one.path == "x" for one in changes.operations)
    assert outside.read_text() == "secret"


@pytest.mark.parametrize(
    "name", [".git/hooks/post-commit", ".suma/skills/x/SKILL.md", ".envrc", ".vscode/tasks.json", "sub/.husky/pre-push"]
)
def test_settings_and_hooks_of_the_host_are_not_staged(bench: Bench, name: str) -> None:
    (bench.real / name).parent.mkdir(parents=True, exist_ok=True)
    (bench.real / name).write_text("own")
    bench.scan()
    bench.bring()
    assert not (bench.folder / name).exists()
    (bench.folder / name).parent.mkdir(parents=True, exist_ok=True)
    (bench.folder / name).write_text("evil")
    operations, refused = bench.take()
    assert operations == []
    assert "a command may not change it" in refused.values()
    assert (bench.real / name).read_text() == "own"


def test_caches_and_dependencies_stay_in_the_sandbox(bench: Bench) -> None:
    (bench.real / "node_modules/x").mkdir(parents=True)
    bench.scan()
    assert bench.bring() == {"node_modules": "a bundle is not copied into a sandbox"}
    for name in ("node_modules", "__pycache__"):
        (bench.folder / name).mkdir()
        (bench.folder / name / "file").write_text("file")
    assert bench.take() == (
        [],
        {"__pycache__": "it stays in the sandbox", "node_modules": "it stays in the sandbox"},
    )


def test_unprintable_name_is_refused_by_the_stage(bench: Bench) -> None:
    bench.bring()
    (bench.folder / "a\nb").write_text("x")
    (operation,) = bench.scratch.changes(bench.cache).operations
    with pytest.raises(Rejected):
        bench.stage.apply(operation)


def test_second_copy_writes_only_differences(bench: Bench) -> None:
    bench.bring()
    before = {path.name: path.stat().st_ino for path in bench.folder.rglob("*.txt")}
    (bench.folder / "refused").symlink_to("/etc/passwd")
    (bench.folder / "a.txt").write_text("new")
    bench.scratch.changes(bench.cache)
    bench.bring()
    after = {path.name: path.stat().st_ino for path in bench.folder.rglob("*.txt")}
    assert not (bench.folder / "refused").is_symlink()
    assert bench.left() == bench.staged()
    assert {name for name in after if after[name] == before[name]} >= {"b.txt", "c.txt", "d.txt"}


def test_folders_nested_too_deeply_are_refused_and_removed(bench: Bench) -> None:
    bench.bring()
    deep = bench.folder / "sub/deep"
    for _ in range(130):
        deep = deep / "d"
        deep.mkdir()
    operations, refused = bench.take()
    assert not [one for one in operations if one.startswith("delete")]
    assert list(refused.values()) == ["it is nested more than 128 levels deep"]
    bench.scan()
    bench.bring()
    assert bench.left() == bench.staged()


def test_workspace_larger_than_a_sandbox_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Limits(entries=2, disk=100))
    (bench.real / "a").write_text("x" * 101)
    bench.scan()
    with pytest.raises(TooLarge):
        bench.bring()


NAMES = st.sampled_from(["a", "b", "c", "d/a", "d/b", "d/e/a", "d/e", "d", "n", "d/n"])
EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, st.sampled_from(["x", "y", "z" * 70_000])),
        st.tuples(st.just("remove"), NAMES, st.just("")),
        st.tuples(st.just("mkdir"), NAMES, st.just("")),
        st.tuples(st.just("rename"), NAMES, NAMES),
        st.tuples(st.just("chmod"), NAMES, st.just("")),
    ),
    max_size=8,
)


def _edit(folder: Path, kind: str, name: str, more: str) -> None:
    path = folder / name
    try:
        match kind:
            case "write":
                path.write_text(more)
            case "remove":
                path.rmdir() if path.is_dir() else path.unlink()
            case "mkdir":
                path.mkdir()
            case "rename":
                path.rename(folder / more)
            case "chmod":
                path.chmod(0o755)
    except OSError:
        # A command, too, tries what cannot be done.
        return


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(rounds=st.lists(EDITS, min_size=1, max_size=3))
def test_any_edits_are_staged_exactly(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[tuple[str, str, str]]]
) -> None:
    bench = Bench(tmp_path_factory.mktemp("edits"))
    for name, text in {"a": "a", "b": "b", "d/a": "da", "d/e/a": "dea"}.items():
        (bench.real / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.real / name).write_text(text)
    bench.scan()
    for edits in rounds:
        bench.bring()
        for edit in edits:
            _edit(bench.folder, *edit)
        bench.take()
        assert bench.staged() == bench.left()
