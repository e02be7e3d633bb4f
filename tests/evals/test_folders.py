"""Folders and trees: what cases describe is what is made, on whatever day, and changes lead where they say."""

from __future__ import annotations

import os
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from services.cli.evals import folders, trees
from services.cli.evals.folders import FolderSpec
from services.cli.evals.trees import Changes, Unfit

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MESSY = {
    "a.pdf": {"size": "1.5 MB", "age": 20},
    "a copy.pdf": {"same": "a.pdf", "age": 1},
    "b.pdf": {"size": "1.5 MB", "age": 0},
    "old.txt": {"text": "Grüße\n", "date": "-1-08-20"},
    "two.zip": {"archive": {"x.txt": "x", "y.txt": "y"}, "age": 2},
    "in/c.pdf": {"size": "10 B", "age": 3},
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folders.make(FolderSpec.model_validate({"files": MESSY, "folders": ["empty/deep"]}), tmp_path, NOON)
    return tmp_path


def after(root: Path, **changes: Any) -> list[str]:
    """The files that there should be."""
    tree = next(trees.ought(trees.seen(root), Changes.model_validate(changes)))
    return sorted(path for path, node in tree.items() if not node.folder)


def test_files_have_sizes_and_texts_and_differ(root: Path) -> None:
    seen = trees.seen(root)
    assert (root / "a.pdf").stat().st_size == 1_500_000
    assert (root / "old.txt").read_text("utf-8") == "Grüße\n"
    assert seen["a.pdf"].content == seen["a copy.pdf"].content != seen["b.pdf"].content
    assert seen["empty/deep"].folder
    assert zipfile.ZipFile(root / "two.zip").namelist() == ["x.txt", "y.txt"]


def test_bulk_file_is_sparse(root: Path) -> None:
    assert (root / "a.pdf").stat().st_blocks * 512 < 100_000


@pytest.mark.parametrize("now", [NOON, NOON.replace(hour=0, second=1), NOON.replace(hour=23, minute=59)])
def test_ages_hold_at_any_hour_of_any_day(tmp_path: Path, now: datetime) -> None:
    folders.make(FolderSpec.model_validate({"files": MESSY}), tmp_path, now)
    when = {name: datetime.fromtimestamp((tmp_path / name).stat().st_mtime, UTC) for name in os.listdir(tmp_path)}
    assert when["b.pdf"].date() == now.date()
    assert when["b.pdf"] <= now
    assert when["a.pdf"] == now - timedelta(days=20)
    assert when["old.txt"].date().isoformat() == "2025-08-20"


def test_single_star_matches_one_folder_and_double_star_all(root: Path) -> None:
    assert after(root, deleted=["*.pdf"]) == ["in/c.pdf", "old.txt", "two.zip"]
    assert after(root, deleted=["**.pdf"]) == ["old.txt", "two.zip"]


def test_moved_file_gets_folder_or_dated_name(root: Path) -> None:
    moved = {"a.pdf": "new/", "b.pdf": "b2.pdf", "old.txt": "{date} old.txt"}
    assert {"new/a.pdf", "b2.pdf", "2025-08-20 old.txt"} <= set(after(root, moved=moved))
    assert "2025/2025-08/old.txt" in after(root, moved={"old.txt": "{year}/{month}/"})


def test_folder_moves_with_its_contents(root: Path) -> None:
    assert "out/in/c.pdf" in after(root, moved={"in/": "out/"})


def test_numbers_may_be_given_in_any_order(root: Path) -> None:
    numbered = Changes.model_validate({"numbered": {"*.pdf": "n{n:02}.pdf"}})
    contents = {tree["n01.pdf"].content + tree["n02.pdf"].content for tree in trees.ought(trees.seen(root), numbered)}
    assert len(contents) == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"deleted": ["gone.txt"]},
        {"deleted": ["*.docx"]},
        {"deleted": ["a.pdf", "*.pdf"]},
        {"moved": {"a.pdf": "b.pdf"}},
        {"deleted": ["a.pdf"], "moved": {"a.pdf": "new/"}},
        {"written": {"a.pdf": "text"}},
    ],
)
def test_changes_that_cannot_be_are_refused(root: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(Unfit):
        after(root, **changes)


def test_archives_compare_by_entries_and_texts_by_words(root: Path) -> None:
    before = trees.seen(root)
    wanted = next(
        trees.ought(before, Changes.model_validate({"packed": {"p.zip": ["x", "y"]}, "written": {"t.md": "hi"}}))
    )
    with zipfile.ZipFile(root / "p.zip", "w") as packed:
        packed.writestr("deep/x", "1")
        packed.writestr("deep/y", "2")
    (root / "t.md").write_text("hi\n")
    assert trees.equal(wanted, root, trees.seen(root))
    (root / "t.md").write_text("ho\n")
    assert not trees.equal(wanted, root, trees.seen(root))


def test_suma_folder_is_not_part_of_the_tree(root: Path) -> None:
    before = trees.seen(root)
    (root / ".suma").mkdir()
    (root / ".suma" / "kept").write_text("old")
    assert trees.seen(root) == before
