"""The blob cache holds content too large for its operation, and is removed with its stage."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from libs.workspace.blob_cache import PREFIX, STALE, BlobCache
from libs.workspace.errors import BadContent
from libs.workspace.operations import Blob


def put(cache: BlobCache, content: bytes) -> Blob:
    with cache.drafting() as draft:
        draft.write(content)
        return cache.put(draft)


def test_cached_blob_is_found_by_its_sha256(tmp_path: Path) -> None:
    cache = BlobCache(tmp_path / "home")
    blob = put(cache, b"content")
    assert (cache.path(blob.sha256).read_bytes(), blob.size) == (b"content", 7)
    assert put(cache, b"content") == blob
    assert cache.unsaved == {blob.sha256: blob}


def test_a_draft_that_is_not_put_leaves_nothing(tmp_path: Path) -> None:
    cache = BlobCache(tmp_path)
    with cache.drafting() as draft:
        draft.write(b"half of it")
    assert list(tmp_path.glob("*/*")) == []


def test_lookup_of_a_missing_blob_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadContent):
        BlobCache(tmp_path / "home").path("0" * 64)
    assert not (tmp_path / "home").exists()


def test_unreferenced_blobs_are_pruned(tmp_path: Path) -> None:
    cache = BlobCache(tmp_path)
    kept, gone = put(cache, b"kept"), put(cache, b"gone")
    cache.prune([kept])
    assert (cache.holds(kept.sha256), cache.holds(gone.sha256)) == (True, False)
    assert cache.unsaved == {kept.sha256: kept}


def test_cache_is_removed_with_its_owner(tmp_path: Path) -> None:
    cache = BlobCache(tmp_path)
    put(cache, b"content")
    del cache
    assert list(tmp_path.iterdir()) == []


def test_cache_of_a_killed_process_is_removed_after_a_day(tmp_path: Path) -> None:
    litter, fresh = tmp_path / f"{PREFIX}old", tmp_path / f"{PREFIX}new"
    for folder in (litter, fresh):
        folder.mkdir()
    os.utime(litter, (time.time() - STALE - 60,) * 2)
    put(BlobCache(tmp_path), b"content")
    assert (litter.exists(), fresh.exists()) == (False, True)


def test_swept_cache_can_be_filled_again(tmp_path: Path) -> None:
    cache = BlobCache(tmp_path)
    blob = put(cache, b"content")
    for folder in tmp_path.iterdir():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    assert not cache.holds(blob.sha256)
    assert put(cache, b"content") == blob
