"""Walking, duplicates and statistics over the staged view."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from libs.workspace.operations import Copy, Delete, Move, Write
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from tests.libs.workspace.trees import shape, staged, text

PDFS = ("docs/old/report.pdf", "report copy.pdf", "report.pdf")


@pytest.mark.requirement("S4-48")
def test_files_of_the_same_bytes_are_one_group(root: Path) -> None:
    found = Stage(Tree.scan(root)).find_duplicates(".")
    assert [group.paths for group in found] == [PDFS]


def test_files_of_equal_size_with_other_content_are_no_duplicates(root: Path) -> None:
    sizes = [(root / name).stat().st_size for name in ("photos/a.jpg", "photos/b.jpg")]
    assert sizes[0] == sizes[1]
    assert not list(Stage(Tree.scan(root)).find_duplicates("photos"))


def test_duplicates_are_those_of_the_staged_view(root: Path) -> None:
    stage = staged(
        root,
        Delete(path="report.pdf"),
        Move(path="docs", target="papers"),
        Copy(path="README", target="README 2"),
        Write(path="photos/a.jpg", content=text("bbbb")),
    )
    assert {group.paths for group in stage.find_duplicates(".")} == {
        ("papers/old/report.pdf", "report copy.pdf"),
        ("README", "README 2"),
        ("photos/a.jpg", "photos/b.jpg"),
    }


def test_hard_links_are_no_duplicates(root: Path) -> None:
    os.link(root / "README", root / "README.link")
    assert "README" not in str(list(Stage(Tree.scan(root)).find_duplicates(".")))


def test_a_file_that_changed_is_named_and_not_compared(root: Path) -> None:
    stage = Stage(Tree.scan(root))
    (root / "report.pdf").write_bytes(b"%PDF changed")
    found = stage.find_duplicates(".")
    assert found.unreadable == ("report.pdf",)
    assert [group.paths for group in found] == [PDFS[:2]]


def test_a_walk_finds_everything_folders_first(root: Path) -> None:
    paths = [node.path for node in Stage(Tree.scan(root)).walk(".")]
    assert sorted(paths) == sorted(shape(root))
    assert paths.index("docs") < paths.index("docs/letter.txt")


@pytest.mark.requirement("S4-48")
def test_totals_count_the_staged_view(root: Path) -> None:
    stage = staged(root, Delete(path="photos/raw"), Write(path="README", content=text("longer than before")))
    counted, files = stage.totals("."), [node for node in stage.walk(".") if node.kind == "file"]
    assert (counted.files, counted.directories, counted.size) == (12, 4, sum(node.size for node in files))
    assert counted.extensions == {node.extension for node in files}


def test_totals_count_hard_links_once_and_skip_reserved_files(root: Path) -> None:
    before = Stage(Tree.scan(root)).totals(".")
    os.link(root / "README", root / "README.link")
    (root / ".DS_Store").write_text("x")
    (root / "node_modules").mkdir()
    after = Stage(Tree.scan(root)).totals(".")
    assert (after.files, after.directories, after.size) == (before.files + 1, before.directories, before.size)


def test_a_changed_hard_link_has_a_size_of_its_own(root: Path) -> None:
    os.link(root / "README", root / "README.link")
    size = (root / "README").stat().st_size
    before, stage = Stage(Tree.scan(root)).totals("."), staged(root, Write(path="README", content=text("new")))
    assert stage.totals(".").size == before.size + len("new")
    assert size in {node.size for node in stage.walk(".")}
