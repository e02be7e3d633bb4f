"""The directory adapter: crashes, full disks and access by other users. The port's contract is tested elsewhere."""

import asyncio
import hashlib
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from libs.errors import Unavailable
from libs.objects import BlobTooLarge
from libs.objects.filesystem import STALE, FilesystemObjects

MAX_BYTES = 1024 * 1024


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "objects"


@pytest.fixture
def objects(root: Path) -> FilesystemObjects:
    return FilesystemObjects(root, max_bytes=MAX_BYTES)


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


async def streamed(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def test_nothing_is_made_before_the_first_blob(root: Path, objects: FilesystemObjects) -> None:
    assert not root.exists()


async def test_equal_content_is_one_file_per_tenant(root: Path, objects: FilesystemObjects) -> None:
    for content in (b"content", streamed(b"content")):
        await objects.put("acme", content)
    assert len(files(root)) == 1
    await objects.put("other", b"content")
    assert len(files(root)) == 2


@pytest.mark.parametrize("tenant", ["..", "/etc", "a/../../b", "a\x00b", "~root", "x" * 500, "Ä"])
async def test_no_tenants_name_leads_out_of_the_root(root: Path, objects: FilesystemObjects, tenant: str) -> None:
    await objects.put(tenant, b"content")
    assert [path.name for path in root.parent.iterdir()] == ["objects"]
    (stored,) = files(root)
    assert len(stored.relative_to(root).parts) == 3


async def test_others_on_the_machine_can_read_nothing(root: Path, objects: FilesystemObjects) -> None:
    await objects.put("acme", b"content")
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in (root, *root.rglob("*")))


async def test_refused_content_leaves_no_file(root: Path, objects: FilesystemObjects) -> None:
    for content in (bytes(MAX_BYTES + 1), streamed(bytes(MAX_BYTES), b"x")):
        with pytest.raises(BlobTooLarge):
            await objects.put("acme", content)
    assert files(root) == []


@pytest.mark.parametrize("turns", range(0, 60, 3))
async def test_cancelled_put_leaves_a_whole_blob_or_none(root: Path, objects: FilesystemObjects, turns: int) -> None:
    content = bytes(range(256)) * 4000
    putting = [asyncio.create_task(objects.put("acme", each)) for each in (content, streamed(content, b"x"))]
    for _ in range(turns):
        await asyncio.sleep(0)
    for each in putting:
        each.cancel()
    await asyncio.wait(putting)
    assert all(hashlib.sha256(path.read_bytes()).hexdigest() == path.name for path in files(root))


async def test_old_leftovers_of_a_crash_are_deleted(root: Path, objects: FilesystemObjects) -> None:
    await objects.put("acme", b"content")
    (stored,) = files(root)
    old, young = root / ".incoming" / "old", root / ".incoming" / "young"
    for leftover, age in ((old, STALE + 60), (young, STALE - 60)):
        leftover.write_bytes(b"half")
        os.utime(leftover, (stored.stat().st_mtime - age,) * 2)
    await FilesystemObjects(root, max_bytes=MAX_BYTES).put("acme", b"more")
    assert (old.exists(), young.exists(), stored.exists()) == (False, True, True)


async def test_a_disk_that_refuses_is_unavailable(root: Path, objects: FilesystemObjects) -> None:
    root.write_bytes(b"a file where the directory should be")
    with pytest.raises(Unavailable):
        await objects.put("acme", b"content")
