"""Reading returns the disk as the stage would leave it, and only content unchanged since the scan."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.workspace.blob_cache import BlobCache
from libs.workspace.errors import Changed, NoSuchPath, OutsideWorkspace, WrongKind
from libs.workspace.operations import Create, Delete, Move, Write
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from tests.libs.workspace.trees import staged, text


@pytest.mark.requirement("S4-14")
def test_children_are_the_staged_ones_in_order_of_name(root: Path) -> None:
    stage = staged(root, Delete(path="photos/a.jpg"), Create(path="photos/0.jpg"))
    assert [node.name for node in stage.get_children("photos")] == ["0.jpg", "b.jpg", "raw"]


@pytest.mark.requirement("S4-14", "S4-24")
def test_metadata_has_the_kind_and_size_of_a_file(root: Path) -> None:
    node = Stage(Tree.scan(root)).get_metadata("docs/old/report.pdf")
    assert (node.name, node.extension, node.kind, node.size) == ("report.pdf", ".pdf", "file", 550)
    assert node.modified_at is not None
    assert node.modified_at.timestamp() == pytest.approx((root / "docs/old/report.pdf").stat().st_mtime)


def test_the_root_is_a_dot(root: Path) -> None:
    stage = Stage(Tree.scan(root))
    assert stage.get_metadata(".").path == stage.get_metadata(str(root)).path == "."


def test_content_follows_a_file_that_was_moved(root: Path) -> None:
    stage = staged(root, Move(path="docs", target="papers"))
    assert stage.read_content("papers/letter.txt").data == b"dear"


def test_content_is_the_last_staged_one(root: Path) -> None:
    stage = staged(root, Write(path="README", content=text("other")))
    assert stage.read_content("README").data == b"other"


def test_blob_is_read_from_the_cache(root: Path, tmp_path: Path) -> None:
    stage = Stage(Tree.scan(root), BlobCache(tmp_path / "blob_caches"))
    with stage.blob_cache.drafting() as draft:
        draft.write(b"from the store")
        stage.apply(Create(path="new", content=stage.blob_cache.put(draft)))
    assert stage.read_content("new").data == b"from the store"


def test_limit_truncates_and_reports_it(root: Path) -> None:
    excerpt = Stage(Tree.scan(root)).read_content("binary.bin", limit=10)
    assert (excerpt.data, excerpt.size, excerpt.truncated) == (bytes(range(10)), 256, True)


@pytest.mark.requirement("S4-29", "A5")
@pytest.mark.parametrize("path", ["link/letter.txt", "../other/README", "/etc/passwd", "/data-evil/x", ".suma/lock"])
def test_no_read_leaves_the_workspace(root: Path, path: str) -> None:
    with pytest.raises(OutsideWorkspace):
        Stage(Tree.scan(root)).read_content(path)


@pytest.mark.requirement("S4-29", "A5")
def test_a_sibling_with_the_same_prefix_is_outside(root: Path) -> None:
    with pytest.raises(OutsideWorkspace):
        Stage(Tree.scan(root)).get_children(f"{root}-evil")


@pytest.mark.parametrize("path", ["link", "docs"])
def test_only_files_have_content(root: Path, path: str) -> None:
    with pytest.raises(WrongKind):
        Stage(Tree.scan(root)).read_content(path)


def test_deleted_folder_is_not_found(root: Path) -> None:
    with pytest.raises(NoSuchPath):
        staged(root, Delete(path="docs")).get_metadata("docs/letter.txt")


@pytest.mark.requirement("A26")
def test_file_changed_since_the_scan_is_not_returned(root: Path) -> None:
    stage = Stage(Tree.scan(root))
    (root / "README").write_text("changed")
    with pytest.raises(Changed):
        stage.read_content("README")


@pytest.mark.requirement("A5")
def test_folder_replaced_by_a_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    stage = Stage(Tree.scan(root))
    (root / "docs").rename(tmp_path / "elsewhere")
    (root / "docs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Changed):
        stage.read_content("docs/letter.txt")
