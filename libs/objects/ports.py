"""The port: a content-addressed store. Bodies, assets, snapshots and large dead letters live in it."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from libs.errors import NotFound, Rejected, Unavailable


class BlobMissing(NotFound):
    """This tenant has no such blob."""

    code = "BLOB_MISSING"


class BlobTooLarge(Rejected):
    """The content is larger than the store takes."""

    code = "BLOB_TOO_LARGE"


class BlobCorrupt(Unavailable):
    """What is stored is not what the name says; it must be restored. Storing the content again mends it."""

    code = "BLOB_CORRUPT"


@dataclass(frozen=True, slots=True)
class Blob:
    """A name for bytes: their SHA-256 in hex, and how many they are."""

    sha256: str
    size: int


class Objects(Protocol):
    """Blobs of a tenant, by the SHA-256 of their content.

    A blob never changes, so every call may be repeated, by several processes at once. The same content of one tenant is
    stored once; of two tenants twice, so that none can learn what another has. A name that is no SHA-256 is of no blob.
    Each call raises `Unavailable` when the store does not answer.
    """

    async def put(self, tenant: str, content: bytes | AsyncIterable[bytes]) -> Blob:
        """Store the content: durable when this returns, and never there in part, also if it fails or is cancelled.

        Raises:
            BlobTooLarge: more bytes than the store takes; a stream is read no further.
        """
        ...

    async def get(self, tenant: str, sha256: str) -> bytes:
        """The whole content, checked against its name.

        Raises:
            BlobMissing, BlobCorrupt.
        """
        ...

    def open(self, tenant: str, sha256: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes from `start` up to, not including, `end`, in chunks; beyond the content there is nothing.

        Read from 0 to the end it is checked like `get`, but what was wrong is known only after the last chunk. A part
        cannot be checked.

        Raises:
            BlobMissing: before the first chunk. BlobCorrupt: after the last.
        """
        ...

    async def exists(self, tenant: str, sha256: str) -> bool: ...

    async def delete(self, tenant: str, sha256: str) -> None:
        """Remove the blob if it is there. Whoever is reading it may finish or get `BlobMissing`."""
        ...

    async def link(self, tenant: str, sha256: str, *, filename: str, media_type: str) -> str | None:
        """An address from which whoever holds it may read this one blob, for a short time and without any credentials;
        None where clients cannot reach the store. It is a secret: it belongs in no log, event or record.

        What it is saved as and what it is called are part of it: a link that was changed in any way opens nothing. A
        browser saves the content and does not show it.

        Raises:
            BlobMissing.
        """
        ...

    async def alive(self) -> None:
        """Return if the store answers and can be written, as far as can be told cheaply and soon: readiness asks."""
        ...
