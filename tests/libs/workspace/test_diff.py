"""A diff is the net change, in the words of the operations that made it."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.workspace.diff import Entry
from libs.workspace.operations import Create, Delete, Move, Rename, Write
from tests.libs.workspace.trees import staged, text


@pytest.mark.requirement("S4-48")
def test_deletion_entry_has_its_reason_and_size(root: Path) -> None:
    diff = staged(root, Delete(path="report copy.pdf", reason="the same as report.pdf")).diff()
    assert diff.entries == (Entry("deleted", "report copy.pdf", None, "file", 550, "the same as report.pdf"),)
    assert diff.bytes_freed == 550


def test_deleted_folder_is_one_entry_that_counts_its_contents(root: Path) -> None:
    diff = staged(root, Delete(path="docs")).diff()
    assert [(entry.path, entry.items, entry.size) for entry in diff.entries] == [("docs", 5, 4 + 7 + 550)]
    assert diff.counts["deleted"] == 5


def test_file_moved_out_of_a_deleted_folder_counts_as_moved(root: Path) -> None:
    diff = staged(root, Move(path="docs/old/report.pdf", target="kept.pdf"), Delete(path="docs")).diff()
    assert [(entry.change, entry.path, entry.source) for entry in diff.entries] == [
        ("deleted", "docs", None),
        ("moved", "kept.pdf", "docs/old/report.pdf"),
    ]
    assert diff.bytes_freed == 4 + 7


@pytest.mark.parametrize(
    "operations",
    [
        (Create(path="x"), Delete(path="x")),
        (Rename(path="README", new_name="x"), Rename(path="x", new_name="README")),
        (
            Create(path="d", directory=True),
            Move(path="README", target="d"),
            Move(path="d/README", target="."),
            Delete(path="d"),
        ),
    ],
    ids=["made and deleted", "there and back", "through a folder"],
)
def test_operations_that_cancel_out_are_not_in_the_diff(
    root: Path, operations: tuple[Create | Delete | Move | Rename, ...]
) -> None:
    assert len(staged(root, *operations).diff()) == 0


def test_two_moves_of_a_file_are_one_diff_entry(root: Path) -> None:
    diff = staged(
        root, Move(path="README", target="docs"), Rename(path="docs/README", new_name="readme", reason="b")
    ).diff()
    assert diff.entries == (Entry("moved", "docs/readme", "README", "file", 7, "b"),)


def test_a_file_inside_a_moved_folder_is_not_itself_moved(root: Path) -> None:
    diff = staged(
        root, Move(path="docs", target="papers"), Write(path="papers/letter.txt", content=text("dear you"))
    ).diff()
    assert [(entry.change, entry.path, entry.size) for entry in diff.entries] == [
        ("changed", "papers/letter.txt", 8),
        ("moved", "papers", 0),
    ]


def test_moved_or_deleted_folder_reports_its_file_count(root: Path) -> None:
    held = sum(path.is_file() for path in (root / "docs").rglob("*"))
    moved = staged(root, Move(path="docs", target="papers")).diff()
    gone = staged(root, Delete(path="docs")).diff()
    assert [(found.entries[0].change, found.entries[0].files) for found in (moved, gone)] == [
        ("moved", held),
        ("deleted", held),
    ]


def test_the_counts_are_by_kind_of_change(root: Path) -> None:
    diff = staged(root, Create(path="x"), Write(path="README", content=text("")), Move(path="docs", target="d")).diff()
    assert (diff.counts, diff.version) == (
        {"deleted": 0, "overwritten": 0, "changed": 1, "moved": 1, "created": 1},
        3,
    )


def test_numbers_in_names_are_in_their_order(root: Path) -> None:
    names = ["page 10.md", "page 2.md", "docs/page 1.md", "Page 1.md"]
    diff = staged(root, *(Create(path=name) for name in names)).diff()
    assert [entry.path for entry in diff.entries] == ["docs/page 1.md", "Page 1.md", "page 2.md", "page 10.md"]
