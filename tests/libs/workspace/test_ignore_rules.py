"""`.sumaignore` has the meaning of gitignore, and no line in it stops a scan."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from libs.workspace.tree import ROOT, Tree
from tests.libs.workspace.trees import find, grow

FILES = {
    "a.log": "", "keep.log": "", "build/x.o": "", "src/build/y.o": "", "src/main.c": "", "src/deep/a.log": "",
    "src/deep/keep.log": "", "docs/a.tmp": "", "docs/notes/b.tmp": "", "private/x": "", "private/y/z": "", "#hash": "",
}  # fmt: skip
RULES = [
    {"": "*.log\n!keep.log\n"},
    {"": "/build/\n"},
    {"": "build\n# a comment\n\\#hash\n"},
    {"": "docs/**/*.tmp\n", "docs": "!a.tmp\n"},
    {"": "private/*\n!private/y\n"},
    {"": "private\n!private/x\n"},
    {"": "*.log\n", "src/deep": "!*.log\n"},
    {"src": "/deep\n", "docs": "notes/\n"},
]


def seen(root: Path) -> set[str]:
    tree = Tree.scan(root)
    return {tree.path(node) for node in tree.beneath(ROOT) if tree.kind(node) == "file"} - {".sumaignore"}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")
@pytest.mark.parametrize("rules", RULES, ids=map(str, range(len(RULES))))
def test_the_same_files_are_ignored_as_git_ignores(tmp_path: Path, rules: dict[str, str]) -> None:
    ours, theirs = grow(tmp_path / "ours", dict(FILES)), grow(tmp_path / "theirs", dict(FILES))
    for folder, text in rules.items():
        (ours / folder / ".sumaignore").write_text(text)
        (theirs / folder / ".gitignore").write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=theirs, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "-z"], cwd=theirs, check=True, capture_output=True
    )
    wanted = {name for name in listed.stdout.decode().split("\0") if name and not name.endswith(".gitignore")}
    assert {path for path in seen(ours) if not path.endswith(".sumaignore")} == wanted


def test_an_ignored_folder_is_not_read(tmp_path: Path) -> None:
    root = grow(tmp_path / "work", {".sumaignore": "big/\n", "big/x": "", "a": ""})
    (root / "big").chmod(0)
    tree = Tree.scan(root)
    assert (tree.sealed, tree.base.absent) == ({}, {ROOT: {"big": "ignored"}})
    (root / "big").chmod(0o700)


def test_broken_lines_are_skipped_and_reported(tmp_path: Path) -> None:
    root = grow(tmp_path / "work", {".sumaignore": "*.tmp\n[z-a]\n!\n*.bak\n", "x.tmp": "", "x.bak": "", "y": ""})
    tree = Tree.scan(root)
    assert {tree.name(node) for node in tree.inside(ROOT)} == {".sumaignore", "y"}
    assert [problem.partition(":")[0] for problem in tree.base.problems] == [f".sumaignore, line {n}" for n in (2, 3)]


def test_only_the_first_64_kib_are_followed(tmp_path: Path) -> None:
    text = "a\n" + "#" * 70_000 + "\nb\n"
    tree = Tree.scan(grow(tmp_path / "work", {".sumaignore": text, "a": "", "b": ""}))
    assert {tree.name(node) for node in tree.inside(ROOT)} == {".sumaignore", "b"}
    assert "64 KiB" in tree.base.problems[0]


@pytest.mark.parametrize(
    "make", [lambda path: os.mkfifo(path), lambda path: path.symlink_to("a"), lambda path: path.mkdir()]
)
def test_an_ignore_file_that_is_no_file_is_reported(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    root = grow(tmp_path / "work", {"a": "a\n"})
    make(root / ".sumaignore")
    tree = Tree.scan(root)
    assert find(tree, "a")
    assert "was ignored" in tree.base.problems[0]


HOSTILE = [
    "*a*a*a*a*a*a*a*a*b",
    "**/a/**/a/**/a/**/a/**/b",
    "a*" * 100 + "b",
    "[a-z]*" * 50 + "!",
    "*" + "a" * 40 + "*b",
]


def test_hostile_patterns_do_not_hold_a_scan(tmp_path: Path) -> None:
    names = {"a" * 250 + f"{number}": "" for number in range(100)}
    root = grow(tmp_path / "work", {".sumaignore": "\n".join(HOSTILE * 200), **names})
    began = time.process_time()
    Tree.scan(root)
    assert time.process_time() - began < 2


def test_rules_of_nested_folders_have_one_limit(tmp_path: Path) -> None:
    rules = "\n".join(f"nothing{number}" for number in range(400))
    files = {f"{'d/' * depth}.sumaignore": f"{rules}\nhidden{depth}" for depth in range(5)}
    root = grow(tmp_path / "work", {**files, "d/d/d/hidden1": "", "d/d/d/hidden4": ""})
    tree = Tree.scan(root)
    assert [problem for problem in tree.base.problems if "too many rules" in problem]
    assert find(tree, "d/d/d/hidden1") is None
    assert find(tree, "d/d/d/hidden4") is not None
