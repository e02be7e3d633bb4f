"""Repositories, dependencies, system files and odd names: how the tree holds them, and what a stage refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from libs.errors import Rejected
from libs.workspace.commit import commit
from libs.workspace.errors import AlreadyExists, BadRoot, Holding, OutsideWorkspace, WrongKind
from libs.workspace.operations import AnyOperation, Batch, Copy, Create, Delete, Move, Rename
from libs.workspace.rollback import rollback
from libs.workspace.roots import check_root
from libs.workspace.stage import Stage
from libs.workspace.tree import ROOT, Tree
from tests.libs.workspace.trees import Fact, grow, manifest, owner, staged

WORK = {
    "app/.git/config": "[core]",
    "app/.git/objects/3c/aa": "object",
    "app/main.py": "print()",
    "linked/.git": "gitdir: ../app/.git/worktrees/linked",
    "hg/.hg/store": "",
    "svn/.svn/wc.db": "",
    "mirror/HEAD": "ref: refs/heads/main",
    "mirror/objects/x": "",
    "mirror/refs/y": "",
    "site/node_modules/a/index.js": "x",
    "site/index.js": "x",
    "env/pyvenv.cfg": "",
    "env/lib/x.py": "",
    "Notes.app/Contents/x": "",
    "__pycache__/x.pyc": "",
    ".DS_Store": "store",
    "report.docx": "x",
    "~$report.docx": "lock",
}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return grow(tmp_path / "work", dict(WORK))


def kinds(root: Path) -> dict[str, str]:
    tree = Tree.scan(root)
    return {tree.path(node): tree.kind(node) for node in tree.beneath(ROOT) if node}


def test_repository_of_any_kind_is_one_node(work: Path) -> None:
    found = kinds(work)
    assert [path for path, kind in found.items() if kind == "repository"] == ["app", "hg", "linked", "mirror", "svn"]
    assert not [path for path in found if path.startswith(("app/", "hg/", "linked/", "mirror/", "svn/"))]


def test_dependencies_caches_and_applications_are_one_node(work: Path) -> None:
    found = kinds(work)
    bundles = [path for path, kind in found.items() if kind == "bundle"]
    assert bundles == ["Notes.app", "__pycache__", "env", "site/node_modules"]
    assert not [path for path in found if path.startswith(("Notes.app/", "__pycache__/", "env/", "site/node_modules/"))]


def test_a_root_that_is_a_repository_is_worked_in(tmp_path: Path) -> None:
    root = grow(tmp_path / "app", {".git/config": "", "main.py": "x", "vendor/lib/.git": "gitdir: x"})
    assert kinds(root) == {"main.py": "file", "vendor": "directory", "vendor/lib": "repository"}


@pytest.mark.parametrize("path", [".git", "app/.git/config", "site/.hg", ".suma/history", "site/.suma"])
def test_no_operation_reaches_repository_data(work: Path, path: str) -> None:
    stage = Stage(Tree.scan(work))
    for operation in (Create(path=path), Delete(path=path), Move(path="report.docx", target=path)):
        with pytest.raises(OutsideWorkspace):
            stage.apply(operation)


def test_nothing_is_renamed_to_repository_data(work: Path) -> None:
    with pytest.raises(OutsideWorkspace):
        Stage(Tree.scan(work)).apply(Rename(path="site", new_name=".git"))


@pytest.mark.parametrize(
    ("operation", "error"),
    [
        (Create(path="app/new.txt"), WrongKind),
        (Move(path="report.docx", target="app"), AlreadyExists),
        (Copy(path="app", target="twin"), WrongKind),
        (Copy(path="site", target="twin"), WrongKind),
    ],
    ids=["create in it", "move into it", "copy it", "copy what holds dependencies"],
)
def test_operation_that_splits_a_whole_folder_is_refused(
    work: Path, operation: AnyOperation, error: type[Rejected]
) -> None:
    stage = Stage(Tree.scan(work))
    with pytest.raises(error):
        stage.apply(operation)
    assert not stage.version


@pytest.mark.parametrize("path", ["app", "site/node_modules"])
def test_a_whole_folder_moves_whole_and_comes_back(work: Path, path: str) -> None:
    before = manifest(work)
    stage = staged(work, Create(path="Moved", directory=True), Move(path=path, target="Moved"))
    commit(work, stage, commit_id="c", fence=owner)
    assert _below(manifest(work), f"Moved/{path.split('/')[-1]}") == _below(before, path)
    rollback(work, "c", fence=owner)
    assert manifest(work) == before


def _below(found: dict[bytes, Fact], path: str) -> dict[bytes, Fact]:
    top = f"/{path}".encode()
    return {name[len(top) :]: fact for name, fact in found.items() if name.startswith(top + b"/")}


@pytest.mark.parametrize("path", ["app", "site/node_modules", "site"])
def test_a_named_whole_folder_is_deleted_and_comes_back(work: Path, path: str) -> None:
    before, stage = manifest(work), Stage(Tree.scan(work))
    stage.apply(Delete(path=path))
    entry = stage.diff().entries[0]
    assert (entry.path, entry.kind, entry.files) == (path, "directory", sum(key.startswith(f"{path}/") for key in WORK))
    commit(work, stage, commit_id="c", fence=owner)
    assert not (work / path).exists()
    rollback(work, "c", fence=owner)
    assert manifest(work) == before


def test_a_deletion_of_a_whole_folder_can_be_taken_back(work: Path) -> None:
    stage = Stage(Tree.scan(work))
    before = [(node.path, node.kind) for node in stage.walk(".")]
    stage.apply(Delete(path="app"))
    stage.rollback(0)
    assert [(node.path, node.kind) for node in stage.walk(".")] == before
    assert len(stage.diff()) == 0


def test_folder_with_a_repository_is_not_deleted(tmp_path: Path) -> None:
    root = grow(tmp_path / "work", {"code/app/.git/config": "", "code/x": "", "old/.suma/history/x": ""})
    stage = Stage(Tree.scan(root))
    for path in ("code", "old"):
        with pytest.raises(Holding, match=r"code/app|old/\.suma"):
            stage.apply(Batch(operations=(Delete(path=path),)))


@pytest.mark.parametrize("raw", [b"new\nline", b"esc\x1b[31m", "c1\x9b".encode(), "\u202ecod.exe".encode(), b"Icon\r"])
def test_unprintable_name_excludes_only_its_own_file(tmp_path: Path, raw: bytes) -> None:
    root = grow(tmp_path / "work", {"a.txt": "", "b.txt": ""})
    Path(os.fsdecode(os.fsencode(root) + b"/" + raw)).touch()
    tree = Tree.scan(root)
    assert {tree.name(node) for node in tree.inside(ROOT)} == {"a.txt", "b.txt"}
    assert set(tree.absent(ROOT).values()) == {"odd"}


@pytest.mark.parametrize("name", ["new\nline", "\x1b[31m", "\u202ecod.exe"])
def test_no_operation_makes_an_odd_name(work: Path, name: str) -> None:
    stage = Stage(Tree.scan(work))
    for operation in (Create(path=name), Rename(path="report.docx", new_name=name)):
        with pytest.raises(Rejected):
            stage.apply(operation)


def test_ignored_name_counts_as_taken(tmp_path: Path) -> None:
    root = grow(tmp_path / "work", {".sumaignore": "build\n", "build/x": "", "a.txt": ""})
    with pytest.raises(AlreadyExists):
        Stage(Tree.scan(root)).apply(Rename(path="a.txt", new_name="build"))


@pytest.mark.parametrize("inner", [".git", ".git/hooks", ".hg"])
def test_repository_data_is_no_root(tmp_path: Path, inner: str) -> None:
    (tmp_path / "app" / inner).mkdir(parents=True)
    with pytest.raises(BadRoot, match="repository's own data"):
        check_root(tmp_path / "app" / inner, tmp_path / "data", tmp_path / "home")
