"""The bucket adapter: unfinished parts, an unavailable server, and credentials. The port's contract is tested
elsewhere.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

import boto3
import httpx
import pytest
import pytest_asyncio

from deploy.local.cache import Unprovided
from deploy.local.s3 import S3, s3
from libs.errors import Unavailable
from libs.objects import BlobMissing, Objects
from libs.objects.s3 import PART, STALE, Account, BucketRefused, Outside, connected
from tests.support.processes import Child

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

MAX_BYTES = 1 << 30
PARTS = 12
"""Enough parts that a fault hits the middle of an upload."""


class Bucket:
    """A bucket for one test: as its users open it, and as an administrator sees it."""

    def __init__(self, server: S3) -> None:
        self.name, self._folder = f"t{uuid4().hex}", server.folder / "objects"
        self.account = Account(server.url, server.region, server.access_key, server.secret_key)
        self.seen: S3Client = boto3.client(
            "s3",
            endpoint_url=server.url,
            region_name=server.region,
            aws_access_key_id=server.access_key,
            aws_secret_access_key=server.secret_key,
        )

    def opened(self, **other: str | None) -> AbstractAsyncContextManager[Objects]:
        return connected(self.name, replace(self.account, **other), max_bytes=MAX_BYTES)

    async def linked(self, *, seconds: int) -> str:
        """Return a link to a new blob, at the server's own address."""
        assert self.account.endpoint is not None
        outside = Outside(self.account.endpoint, seconds)
        async with connected(self.name, self.account, max_bytes=MAX_BYTES, outside=outside) as objects:
            blob = await objects.put("acme", b"content")
            link = await objects.link("acme", blob.sha256, filename="a.json", media_type="application/json")
        assert link is not None
        return link

    def keys(self) -> list[str]:
        return [each["Key"] for each in self.seen.list_objects_v2(Bucket=self.name).get("Contents", [])]

    def uploads(self) -> list[int]:
        """Return the number of stored parts of each unfinished upload."""
        begun = self.seen.list_multipart_uploads(Bucket=self.name).get("Uploads", [])
        return [
            len(self.seen.list_parts(Bucket=self.name, Key=each["Key"], UploadId=each["UploadId"]).get("Parts", []))
            for each in begun
        ]

    async def until_a_part_is_there(self) -> None:
        async with asyncio.timeout(60):
            while not any(await asyncio.to_thread(self.uploads)):
                pass

    def grow_old(self) -> None:
        """Pretend that running uploads began more than a day ago."""
        for folder in (self._folder / self.name / ".sgwtmp" / "multipart").glob("*/*"):
            when = folder.stat().st_mtime - STALE.total_seconds() - 60
            os.utime(folder, (when, when))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server() -> AsyncIterator[S3]:
    try:
        async with s3() as running:
            yield running
    except Unprovided as reason:
        pytest.skip(f"no S3 server: {reason}")


@pytest_asyncio.fixture
async def bucket(server: S3) -> AsyncIterator[Bucket]:
    """Restart the server afterwards, whatever the test did to it."""
    yield Bucket(server)
    await server.resume()
    await server.start()


@pytest_asyncio.fixture
async def objects(bucket: Bucket) -> AsyncIterator[Objects]:
    async with bucket.opened() as opened:
        yield opened


async def large() -> AsyncIterator[bytes]:
    for _ in range(PARTS):
        yield bytes(PART)


def put_large(bucket: str, account: Account) -> None:
    async def putting() -> None:
        async with connected(bucket, account, max_bytes=MAX_BYTES) as objects:
            await objects.put("acme", large())

    asyncio.run(putting())


@pytest.mark.requirement("A29")
async def test_a_tenants_blobs_are_below_its_own_prefix(bucket: Bucket, objects: Objects) -> None:
    mine, others = await objects.put("acme", b"content"), await objects.put("Other & Co", b"content")
    ours, theirs = sorted(bucket.keys())
    assert ours == f"acme/{mine.sha256[:2]}/{mine.sha256}"
    assert theirs.startswith("~")
    assert theirs.endswith(f"/{others.sha256}")


async def test_an_upload_that_is_cancelled_leaves_no_parts(bucket: Bucket, objects: Objects) -> None:
    putting = asyncio.create_task(objects.put("acme", large()))
    await bucket.until_a_part_is_there()
    putting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await putting
    assert (bucket.uploads(), bucket.keys()) == ([], [])


@pytest.mark.parametrize("turns", range(0, 40, 4))
async def test_cancelled_upload_leaves_no_parts(bucket: Bucket, objects: Objects, turns: int) -> None:
    putting = asyncio.create_task(objects.put("acme", bytes(PART + 1)))
    for _ in range(turns):
        await asyncio.sleep(0)
    putting.cancel()
    await asyncio.wait([putting])
    assert bucket.uploads() == []


@pytest.mark.requirement("P1")
async def test_parts_of_a_killed_upload_are_deleted_when_old(bucket: Bucket, objects: Objects) -> None:
    child = Child(put_large, bucket.name, bucket.account)
    await bucket.until_a_part_is_there()
    child.kill()
    await child.ended()
    assert (len(bucket.uploads()), bucket.keys()) == (1, [])
    async with bucket.opened() as young:
        await young.put("acme", bytes(PART + 1))
    assert len(bucket.uploads()) == 1
    bucket.grow_old()
    await objects.put("acme", bytes(PART + 2))
    assert bucket.uploads() == []


@pytest.mark.requirement("A17")
async def test_upload_to_a_lost_server_fails_and_a_retry_succeeds(server: S3, bucket: Bucket, objects: Objects) -> None:
    putting = asyncio.create_task(objects.put("acme", large()))
    await bucket.until_a_part_is_there()
    await server.kill()
    with pytest.raises(Unavailable):
        await putting
    await server.start()
    assert bucket.keys() == []
    blob = await objects.put("acme", large())
    assert blob.size == PARTS * PART
    assert await objects.exists("acme", blob.sha256)


@pytest.mark.requirement("A17")
async def test_blobs_survive_while_the_server_is_down(server: S3, bucket: Bucket, objects: Objects) -> None:
    blob = await objects.put("acme", b"content")
    await server.stop()
    for asked in (
        objects.put("acme", b"more"),
        objects.get("acme", blob.sha256),
        objects.exists("acme", blob.sha256),
        objects.alive(),
    ):
        with pytest.raises(Unavailable, match="the object store"):
            await asked
    await server.start()
    await objects.alive()
    assert await objects.get("acme", blob.sha256) == b"content"


@pytest.mark.requirement("A17")
async def test_hanging_server_is_unavailable_soon_for_many_callers(server: S3, objects: Objects) -> None:
    await server.pause()
    told = await asyncio.gather(*(objects.alive() for _ in range(100)), return_exceptions=True)
    assert {type(each) for each in told} == {Unavailable}
    await server.resume()
    await objects.alive()


@pytest_asyncio.fixture
async def anyone() -> AsyncIterator[httpx.AsyncClient]:
    """Return a client without credentials."""
    async with httpx.AsyncClient() as client:
        yield client


async def test_a_link_ends_with_its_time(bucket: Bucket, anyone: httpx.AsyncClient) -> None:
    link = await bucket.linked(seconds=1)
    async with asyncio.timeout(60):
        while (answer := await anyone.get(link)).status_code == 200:
            assert answer.content == b"content"
    assert answer.status_code == 403
    assert "expired" in answer.text


@pytest.mark.requirement("A29")
@pytest.mark.parametrize(
    ("signed", "forged"),
    [
        ("/acme/", "/other/"),
        ("a.json", "a.html"),
        ("application%2Fjson", "text%2Fhtml"),
        ("attachment", "inline"),
        ("Expires=60", "Expires=3600"),
        ("no-store", "max-age%3D9"),
    ],
)
async def test_a_link_that_was_changed_opens_nothing(
    bucket: Bucket, anyone: httpx.AsyncClient, signed: str, forged: str
) -> None:
    link = await bucket.linked(seconds=60)
    assert signed in link
    assert (await anyone.get(link.replace(signed, forged))).status_code == 403
    assert (await anyone.get(link)).status_code == 200


@pytest.mark.requirement("A29")
async def test_link_only_reads_its_own_blob(bucket: Bucket, anyone: httpx.AsyncClient) -> None:
    link = await bucket.linked(seconds=60)
    (key,) = bucket.keys()
    bucket.seen.put_object(Bucket=bucket.name, Key=key[:-1] + "x", Body=b"more")
    tried = [anyone.get(link.replace(key, key[:-1] + "x")), anyone.get(link.split("?")[0]), anyone.delete(link)]
    assert [(await each).status_code for each in tried] == [403] * 3
    assert (await anyone.put(link, content=b"other")).status_code == 403
    assert (await anyone.get(link)).content == b"content"


async def test_link_uses_the_public_address_of_the_server(bucket: Bucket) -> None:
    outside = Outside("https://files.example.org", 60)
    async with connected(bucket.name, bucket.account, max_bytes=MAX_BYTES, outside=outside) as objects:
        blob = await objects.put("acme", b"content")
        link = await objects.link("acme", blob.sha256, filename="a", media_type="text/plain")
    assert link is not None
    assert link.startswith(f"https://files.example.org/{bucket.name}/acme/")


async def test_store_without_a_public_address_has_no_links(objects: Objects) -> None:
    blob = await objects.put("acme", b"content")
    assert await objects.link("acme", blob.sha256, filename="a", media_type="text/plain") is None


async def test_bucket_is_created_once_a_late_server_starts(server: S3, bucket: Bucket) -> None:
    await server.stop()
    async with bucket.opened() as objects:
        with pytest.raises(Unavailable):
            await objects.alive()
        await server.start()
        await objects.alive()
        assert (await objects.put("acme", b"content")).size == 7


async def test_missing_bucket_is_reported_and_not_recreated(bucket: Bucket, objects: Objects) -> None:
    bucket.seen.delete_bucket(Bucket=bucket.name)
    with pytest.raises(Unavailable, match=bucket.name):
        await objects.alive()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"secret_key": "wrong"}, "cannot be used"), ({"endpoint": "nowhere"}, "cannot be reached")],
)
async def test_invalid_credentials_are_refused_at_the_start(bucket: Bucket, wrong: dict[str, str], says: str) -> None:
    with pytest.raises(BucketRefused, match=says):
        async with bucket.opened(**wrong):
            pass


async def test_invalid_bucket_name_is_refused_at_the_start(bucket: Bucket) -> None:
    bucket.name = "No Bucket!"
    with pytest.raises(BucketRefused, match="No Bucket!"):
        async with bucket.opened():
            pass


async def test_start_without_credentials_names_the_problem(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BucketRefused, match="credentials"):
        async with bucket.opened(access_key=None, secret_key=None):
            pass


@pytest.mark.requirement("A17")
async def test_blob_deleted_during_a_read_is_missing_or_whole(bucket: Bucket, objects: Objects) -> None:
    blob = await objects.put("acme", b"content")
    chunks = objects.open("acme", blob.sha256)
    bucket.seen.delete_object(Bucket=bucket.name, Key=bucket.keys()[0])
    with pytest.raises(BlobMissing):
        await anext(chunks)
