"""Walking, duplicates and statistics over the staged view."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from libs.workspace.operations import Copy, Delete, Move, Write
from libs.workspace.queries import Filters
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from tests.libs.workspace.trees import shape, staged, text

PDFS = ("docs/old/report.pdf", "report copy.pdf", "report.pdf")


@pytest.mark.requirement("S4-48")
def test_files_of_the_same_bytes_are_one_group(root: Path) -> None:
    found = Stage(Tree.scan(root)).find_duplicates(".")
    assert [group.paths for group in found] == [PDFS]


def test_the_same_size_is_not_the_same_content(root: Path) -> None:
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


def test_hard_links_waste_nothing(root: Path) -> None:
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


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(extensions=frozenset({".jpg"})), {"photos/a.jpg", "photos/b.jpg", "photos/raw/c.jpg"}),
        (Filters(pattern="*.jpg", max_depth=2), {"photos/a.jpg", "photos/b.jpg"}),
        (Filters(kinds=frozenset({"symlink"})), {"link"}),
        (Filters(kinds=frozenset({"file"}), max_size=2), {"empty.txt", "photos/raw/c.jpg"}),
        (Filters(min_size=500, kinds=frozenset({"file"})), set(PDFS)),
    ],
    ids=["extension", "depth", "kind", "small", "large"],
)
def test_filters_narrow_a_walk(root: Path, filters: Filters, expected: set[str]) -> None:
    assert {node.path for node in Stage(Tree.scan(root)).walk(".", filters)} == expected


@pytest.mark.requirement("S4-48")
def test_statistics_count_what_is_there(root: Path) -> None:
    counted = Stage(Tree.scan(root)).statistics(".")
    assert (counted.files, counted.directories, counted.symlinks) == (13, 5, 1)
    assert counted.extensions[".pdf"].count == 3
    assert counted.categories["images"].size == 10
    assert counted.largest[0].size == 550
    assert counted.empty_files == ("empty.txt",)
    assert counted.empty_directories == ("hollow",)
    assert counted.likely_duplicates == 10
    assert counted.oldest is not None
    assert counted.newest is not None
    assert counted.size == sum(node.size for node in Stage(Tree.scan(root)).walk(".") if node.kind == "file")


def test_totals_agree_with_statistics(root: Path) -> None:
    stage = staged(root, Delete(path="photos/raw"), Write(path="README", content=text("longer than before")))
    counted, found = stage.totals("."), stage.statistics(".")
    assert (counted.files, counted.directories, counted.size) == (found.files, found.directories, found.size)
    assert counted.extensions == set(found.extensions)
