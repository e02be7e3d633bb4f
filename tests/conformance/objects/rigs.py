"""What the suite needs of an adapter: the store itself, and a way to damage a blob behind its back.

To hold another adapter to the suite, add its rig to ADAPTERS.
"""

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

from libs.objects import Objects
from libs.objects.filesystem import FilesystemObjects

MAX_BYTES = 4 * 1024 * 1024
"""Each rig's store takes blobs up to this size."""


class Rig(Protocol):
    objects: Objects

    async def damage(self, tenant: str, sha256: str) -> None:
        """Replace the stored content by another of the same size."""
        ...


class FilesystemRig:
    def __init__(self, root: Path) -> None:
        self.objects: Objects = FilesystemObjects(root, max_bytes=MAX_BYTES)
        self._root = root

    async def damage(self, tenant: str, sha256: str) -> None:
        (path,) = self._root.glob(f"{tenant}/*/{sha256}")
        path.write_bytes(bytes(path.stat().st_size))


@asynccontextmanager
async def filesystem(folder: Path) -> AsyncIterator[Rig]:
    yield FilesystemRig(folder / "objects")


ADAPTERS: dict[str, Callable[[Path], AbstractAsyncContextManager[Rig]]] = {"filesystem": filesystem}


def name_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
