"""The blob cache holds content too large for its operation, and is removed with its stage."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from libs.workspace.blob_cache import STALE, BlobCache
from libs.workspace.errors import BadContent
from libs.workspace.operations import Blob


def put(shelf: BlobCache, content: bytes) -> Blob:
    with shelf.drafting() as draft:
        draft.write(content)
        return shelf.put(draft)


def test_what_was_put_is_found_by_its_sha256(tmp_path: Path) -> None:
    shelf = BlobCache(tmp_path / "home")
    blob = put(shelf, b"content")
    assert (shelf.path(blob.sha256).read_bytes(), blob.size) == (b"content", 7)
    assert put(shelf, b"content") == blob
    assert shelf.unsaved == {blob.sha256: blob}


def test_a_draft_that_is_not_put_leaves_nothing(tmp_path: Path) -> None:
    shelf = BlobCache(tmp_path)
    with shelf.drafting() as draft:
        draft.write(b"half of it")
    assert list(tmp_path.glob("*/*")) == []


def test_lookup_of_a_missing_blob_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadContent):
        BlobCache(tmp_path / "home").path("0" * 64)
    assert not (tmp_path / "home").exists()


def test_what_no_operation_names_any_more_is_thrown_away(tmp_path: Path) -> None:
    shelf = BlobCache(tmp_path)
    kept, gone = put(shelf, b"kept"), put(shelf, b"gone")
    shelf.prune([kept])
    assert (shelf.holds(kept.sha256), shelf.holds(gone.sha256)) == (True, False)
    assert shelf.unsaved == {kept.sha256: kept}


def test_a_shelf_goes_with_whoever_held_it(tmp_path: Path) -> None:
    shelf = BlobCache(tmp_path)
    put(shelf, b"content")
    del shelf
    assert list(tmp_path.iterdir()) == []


def test_cache_of_a_killed_process_is_removed_after_a_day(tmp_path: Path) -> None:
    litter, fresh = tmp_path / "shelf-old", tmp_path / "shelf-new"
    for folder in (litter, fresh):
        folder.mkdir()
    os.utime(litter, (time.time() - STALE - 60,) * 2)
    put(BlobCache(tmp_path), b"content")
    assert (litter.exists(), fresh.exists()) == (False, True)


def test_a_shelf_that_was_swept_can_be_filled_again(tmp_path: Path) -> None:
    shelf = BlobCache(tmp_path)
    blob = put(shelf, b"content")
    for folder in tmp_path.iterdir():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    assert not shelf.holds(blob.sha256)
    assert put(shelf, b"content") == blob
