"""The suite's view of an adapter: the store, a way to damage a blob directly, and a way for another process to open the
store.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import boto3

from deploy.local.s3 import S3
from libs.objects import Objects
from libs.objects.filesystem import FilesystemObjects
from libs.objects.s3 import Account, Outside, connected

MAX_BYTES = 20 * 1024 * 1024
"""The largest blob of each rig's store: more than S3 accepts in one request."""

LINK_SECONDS = 60
BUCKET = "conformance"

if TYPE_CHECKING:
    from types_boto3_s3 import S3ServiceResource

Opened = Callable[[], AbstractAsyncContextManager[Objects]]


class Rig(Protocol):
    objects: Objects
    opened: Opened
    """The same store for another process; picklable."""

    async def damage(self, tenant: str, sha256: str) -> None:
        """Replace the stored content with other content of the same size."""
        ...


class FilesystemRig:
    def __init__(self, root: Path, objects: Objects) -> None:
        self.objects, self._root = objects, root
        self.opened: Opened = partial(on_disk, root)

    async def damage(self, tenant: str, sha256: str) -> None:
        (path,) = self._root.glob(f"{tenant}/*/{sha256}")
        path.write_bytes(bytes(path.stat().st_size))


class S3Rig:
    def __init__(self, server: S3, objects: Objects) -> None:
        self.objects = objects
        self.opened: Opened = partial(connected, BUCKET, account(server), max_bytes=MAX_BYTES)
        self._bucket = administrator(server).Bucket(BUCKET)

    async def damage(self, tenant: str, sha256: str) -> None:
        await asyncio.to_thread(self._damage, f"{tenant}/{sha256[:2]}/{sha256}")

    async def clear(self) -> None:
        """Reset for the next test."""
        await asyncio.to_thread(lambda: self._bucket.objects.delete())

    def _damage(self, key: str) -> None:
        stored = self._bucket.Object(key)
        stored.put(Body=bytes(stored.content_length))


def account(server: S3) -> Account:
    return Account(server.url, server.region, server.access_key, server.secret_key)


def administrator(server: S3) -> S3ServiceResource:
    return boto3.resource(
        "s3",
        endpoint_url=server.url,
        region_name=server.region,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
    )


@asynccontextmanager
async def on_disk(root: Path) -> AsyncIterator[Objects]:
    yield FilesystemObjects(root, max_bytes=MAX_BYTES)


@asynccontextmanager
async def filesystem(folder: Path) -> AsyncIterator[FilesystemRig]:
    async with on_disk(folder / "objects") as objects:
        yield FilesystemRig(folder / "objects", objects)


@asynccontextmanager
async def in_bucket(server: S3) -> AsyncIterator[S3Rig]:
    outside = Outside(server.url, LINK_SECONDS)
    async with connected(BUCKET, account(server), max_bytes=MAX_BYTES, outside=outside) as objects:
        yield S3Rig(server, objects)


def name_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


async def stalled(content: bytes, told: Path) -> AsyncIterator[bytes]:
    """Yield the content, then write to a file that it was read, and never end."""
    yield content
    yield b"x"
    told.touch()
    await asyncio.Event().wait()


def put_without_end(opened: Opened, content: bytes, told: Path) -> None:
    """Run in a process that is killed meanwhile."""

    async def putting() -> None:
        async with opened() as objects:
            await objects.put("acme", stalled(content, told))

    asyncio.run(putting())
