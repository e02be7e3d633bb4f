"""The contract of the `Objects` port, for every adapter."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import httpx
import pytest

from libs.errors import NotFound
from libs.objects import STAGES, UPLOADS, Blob, BlobCorrupt, BlobMissing, BlobTooLarge, Objects, area
from libs.objects.content import disposition
from tests.conformance.objects.rigs import MAX_BYTES, Rig, name_of, put_without_end
from tests.support.processes import Child

LARGE = bytes(range(256)) * 10_000
"""More than a chunk of any adapter."""


async def streamed(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def read(chunks: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in chunks])


def pieces(content: bytes, size: int) -> Iterable[bytes]:
    return (content[at : at + size] for at in range(0, len(content), size))


@pytest.mark.parametrize("content", [b"", b"x", b"\x00\xff\n", LARGE])
async def test_stored_content_is_returned_by_its_hash(objects: Objects, content: bytes) -> None:
    blob = await objects.put("acme", content)
    assert blob == Blob(name_of(content), len(content))
    assert await objects.get("acme", blob.sha256) == content
    assert await objects.exists("acme", blob.sha256)


@pytest.mark.parametrize("size", [6_000_000, 8 << 20, (8 << 20) + 1, 17_000_000, MAX_BYTES])
async def test_content_of_every_size_comes_back_whole_and_in_parts(objects: Objects, size: int) -> None:
    content = (b"0123456789abcde" * (size // 15 + 1))[:size]
    blob = await objects.put("acme", streamed(*pieces(content, 1_000_003)))
    assert await objects.put("acme", content) == blob == Blob(name_of(content), size)
    assert await read(objects.open("acme", blob.sha256)) == content
    assert await read(objects.open("acme", blob.sha256, start=size - 5)) == content[-5:]


@pytest.mark.parametrize("size", [1000, 700_000, len(LARGE)])
async def test_a_stream_is_the_same_blob_as_its_bytes(objects: Objects, size: int) -> None:
    blob = await objects.put("acme", streamed(*pieces(LARGE, size)))
    assert blob == Blob(name_of(LARGE), len(LARGE))
    assert await objects.get("acme", blob.sha256) == LARGE


@pytest.mark.parametrize("chunks", [(), (b"",), (b"", b"a", b"", b"b")])
async def test_empty_chunks_and_empty_streams_are_content_too(objects: Objects, chunks: tuple[bytes, ...]) -> None:
    blob = await objects.put("acme", streamed(*chunks))
    assert await objects.get("acme", blob.sha256) == b"".join(chunks)


async def test_putting_again_changes_nothing(objects: Objects) -> None:
    once = await objects.put("acme", b"content")
    assert await objects.put("acme", b"content") == await objects.put("acme", streamed(b"content")) == once
    assert await objects.get("acme", once.sha256) == b"content"


async def test_concurrent_puts_of_equal_content_store_one_blob(objects: Objects) -> None:
    blobs = await asyncio.gather(
        *(objects.put("acme", LARGE) for _ in range(4)), *(objects.put("acme", streamed(LARGE)) for _ in range(4))
    )
    assert len(set(blobs)) == 1
    assert await objects.get("acme", blobs[0].sha256) == LARGE


@pytest.mark.requirement("A29")
@pytest.mark.parametrize("stranger", ["other", "acme2", "ACME", "acme/", "../acme", "acme\x00", "", "."])
async def test_a_tenants_blob_is_not_there_for_another(objects: Objects, stranger: str) -> None:
    blob = await objects.put("acme", b"content")
    assert not await objects.exists(stranger, blob.sha256)
    with pytest.raises(BlobMissing):
        await objects.get(stranger, blob.sha256)
    with pytest.raises(BlobMissing):
        await read(objects.open(stranger, blob.sha256))


@pytest.mark.requirement("A29")
async def test_a_tenant_cannot_delete_anothers_blob(objects: Objects) -> None:
    blob = await objects.put("acme", b"content")
    await objects.put("other", b"content")
    await objects.delete("other", blob.sha256)
    assert await objects.get("acme", blob.sha256) == b"content"


@pytest.mark.requirement("A29")
async def test_uploads_of_a_tenant_are_apart_from_its_other_blobs(objects: Objects) -> None:
    blob = await objects.put(area("acme", UPLOADS), b"content")
    for other in ("acme", area("other", UPLOADS), "acme/uploads", "uploads"):
        assert not await objects.exists(other, blob.sha256)
    await objects.put("acme", b"content")
    await objects.delete(area("acme", UPLOADS), blob.sha256)
    assert await objects.get("acme", blob.sha256) == b"content"


@pytest.mark.requirement("A29")
async def test_clearing_an_area_deletes_nothing_beside_it(objects: Objects) -> None:
    turn, beside = area("acme", f"{STAGES}/t1"), ("acme", area("acme", f"{STAGES}/t10"), area("other", f"{STAGES}/t1"))
    for where in (turn, *beside):
        blobs = [await objects.put(where, content) for content in (b"content", LARGE)]
        assert [blob.size for blob in blobs] == [7, len(LARGE)]
    await objects.clear(turn)
    await objects.clear(turn)
    for content in (b"content", LARGE):
        assert not await objects.exists(turn, name_of(content))
        assert [await objects.get(where, name_of(content)) for where in beside] == [content] * 3


async def test_a_whole_tenant_cannot_be_cleared(objects: Objects) -> None:
    blob = await objects.put("acme", b"content")
    with pytest.raises(ValueError, match="acme"):
        await objects.clear("acme")
    assert await objects.exists("acme", blob.sha256)


@pytest.mark.parametrize("tenant", ["Acme GmbH", "ä/ö", "../../etc", "x" * 500, "~", "CON", " "])
async def test_any_tenant_name_is_accepted(objects: Objects, tenant: str) -> None:
    blob = await objects.put(tenant, b"content")
    assert await objects.get(tenant, blob.sha256) == b"content"


async def test_link_serves_the_exact_content_as_a_download(objects: Objects) -> None:
    blob = await objects.put("acme", LARGE)
    link = await objects.link("acme", blob.sha256, filename="Größe „x“.json", media_type="application/json")
    if link is None:
        return
    async with httpx.AsyncClient() as anyone:
        answer = await anyone.get(link)
    assert (answer.status_code, answer.content) == (200, LARGE)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-disposition"] == disposition("Größe „x“.json")
    assert answer.headers["cache-control"] == "private, no-store"


@pytest.mark.requirement("A29")
@pytest.mark.parametrize("stranger", ["other", "acme2", "ACME", "../acme", ""])
async def test_no_link_exists_for_another_tenants_or_missing_blob(objects: Objects, stranger: str) -> None:
    blob = await objects.put("acme", b"content")
    for tenant, name in ((stranger, blob.sha256), ("acme", name_of(b"never")), ("acme", "../" + blob.sha256)):
        with pytest.raises(BlobMissing):
            await objects.link(tenant, name, filename="x", media_type="text/plain")


async def test_a_blob_that_was_never_put_is_missing(objects: Objects) -> None:
    assert not await objects.exists("acme", name_of(b"never"))
    with pytest.raises(NotFound):
        await objects.get("acme", name_of(b"never"))


@pytest.mark.parametrize("name", ["", "x", "../../etc/passwd", "A" * 64, "g" * 64, "0" * 63, "0" * 65, "\x00" * 64])
async def test_name_that_is_no_hash_finds_no_blob(objects: Objects, name: str) -> None:
    assert not await objects.exists("acme", name)
    await objects.delete("acme", name)
    with pytest.raises(BlobMissing):
        await objects.get("acme", name)


async def test_a_deleted_blob_is_gone_and_can_be_put_again(objects: Objects) -> None:
    blob = await objects.put("acme", b"content")
    await objects.delete("acme", blob.sha256)
    await objects.delete("acme", blob.sha256)
    assert not await objects.exists("acme", blob.sha256)
    assert await objects.put("acme", b"content") == blob
    assert await objects.get("acme", blob.sha256) == b"content"


@pytest.mark.parametrize(
    ("start", "end"),
    [(0, None), (0, 1), (1, 2), (5, None), (1_000_000, 1_500_000), (0, len(LARGE)), (0, 10**9), (10**9, None), (7, 7)],
)
async def test_a_range_is_the_slice_of_the_content(objects: Objects, start: int, end: int | None) -> None:
    blob = await objects.put("acme", LARGE)
    assert await read(objects.open("acme", blob.sha256, start=start, end=end)) == LARGE[start:end]


async def test_a_stream_comes_in_bounded_chunks(objects: Objects) -> None:
    blob = await objects.put("acme", LARGE)
    sizes = [len(chunk) async for chunk in objects.open("acme", blob.sha256)]
    assert sum(sizes) == len(LARGE)
    assert 0 < min(sizes) <= max(sizes) <= 1024 * 1024


async def test_a_reader_may_leave_in_the_middle(objects: Objects) -> None:
    blob = await objects.put("acme", LARGE)
    chunks = objects.open("acme", blob.sha256)
    assert LARGE.startswith(await anext(chunks))
    await objects.delete("acme", blob.sha256)


@pytest.mark.requirement("A22")
async def test_content_beyond_the_bound_is_refused_and_not_kept(objects: Objects) -> None:
    large = bytes(MAX_BYTES + 1)
    for content in (large, streamed(*pieces(large, 100_000))):
        with pytest.raises(BlobTooLarge):
            await objects.put("acme", content)
    assert not await objects.exists("acme", name_of(large))
    assert (await objects.put("acme", large[1:])).size == MAX_BYTES


@pytest.mark.requirement("A22")
async def test_a_stream_that_never_ends_is_cut(objects: Objects) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield bytes(100_000)

    with pytest.raises(BlobTooLarge):
        await objects.put("acme", endless())


async def test_a_stream_that_breaks_leaves_nothing(objects: Objects) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await objects.put("acme", broken())
    assert not await objects.exists("acme", name_of(b"half"))


async def test_a_put_that_is_cancelled_leaves_nothing(objects: Objects) -> None:
    waiting = asyncio.Event()

    async def stalled() -> AsyncIterator[bytes]:
        yield LARGE
        waiting.set()
        await asyncio.Event().wait()

    putting = asyncio.create_task(objects.put("acme", stalled()))
    await waiting.wait()
    putting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await putting
    assert not await objects.exists("acme", name_of(LARGE))


@pytest.mark.requirement("P1")
async def test_a_process_that_is_killed_in_the_middle_leaves_nothing(rig: Rig, tmp_path: Path) -> None:
    child = Child(put_without_end, rig.opened, LARGE * 4, tmp_path / "told")
    async with asyncio.timeout(60):
        while not (tmp_path / "told").exists():
            await asyncio.sleep(0.02)
    child.kill()
    await child.ended()
    assert not await rig.objects.exists("acme", name_of(LARGE * 4 + b"x"))
    await rig.objects.put("acme", LARGE * 4 + b"x")
    assert await rig.objects.exists("acme", name_of(LARGE * 4 + b"x"))


async def test_working_store_reports_that_it_is_alive(objects: Objects) -> None:
    await objects.alive()
    await objects.put("acme", b"content")
    await objects.alive()


async def test_damage_is_noticed_and_never_handed_out(rig: Rig) -> None:
    blob = await rig.objects.put("acme", LARGE)
    await rig.damage("acme", blob.sha256)
    with pytest.raises(BlobCorrupt):
        await rig.objects.get("acme", blob.sha256)
    with pytest.raises(BlobCorrupt):
        await read(rig.objects.open("acme", blob.sha256))


async def test_storing_content_again_repairs_damage(rig: Rig) -> None:
    for content in (b"content", streamed(b"content")):
        blob = await rig.objects.put("acme", b"content")
        await rig.damage("acme", blob.sha256)
        await rig.objects.put("acme", content)
        assert await rig.objects.get("acme", blob.sha256) == b"content"
