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
    """The content exceeds the store's limit."""

    code = "BLOB_TOO_LARGE"


class BlobCorrupt(Unavailable):
    """The stored content does not match its name; restore it, or store the content again."""

    code = "BLOB_CORRUPT"


@dataclass(frozen=True, slots=True)
class Blob:
    """A name for bytes: their SHA-256 in hex, and their length."""

    sha256: str
    size: int


class Objects(Protocol):
    """Blobs of a tenant, by the SHA-256 of their content.

    A blob never changes, so every call may be repeated, by several processes at once. The same content is stored once
    per tenant, so that no tenant can learn what another has. A name that is not a SHA-256 matches no blob. Each call
    raises `Unavailable` when the store does not answer.
    """

    async def put(self, tenant: str, content: bytes | AsyncIterable[bytes]) -> Blob:
        """Store the content: durable when this returns, and never partially visible, even after a failure or a cancel.

        Raises:
            BlobTooLarge: more bytes than the store takes; a stream is read no further.
        """
        ...

    async def get(self, tenant: str, sha256: str) -> bytes:
        """Return the whole content, verified against its name.

        Raises:
            BlobMissing, BlobCorrupt.
        """
        ...

    def open(self, tenant: str, sha256: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` up to, not including, `end`, in chunks; nothing beyond the content.

        Read from 0 to the end it is verified like `get`, but corruption is reported only after the last chunk. A part
        cannot be verified.

        Raises:
            BlobMissing: before the first chunk. BlobCorrupt: after the last.
        """
        ...

    async def exists(self, tenant: str, sha256: str) -> bool: ...

    async def delete(self, tenant: str, sha256: str) -> None:
        """Delete the blob if it exists. A concurrent reader may finish or get `BlobMissing`."""
        ...

    async def clear(self, area: str) -> None:
        """Delete every blob of an area (`libs.objects.area`). What is put there meanwhile may be deleted, too.

        Raises:
            ValueError: it is a tenant, and no area of one.
        """
        ...

    async def link(self, tenant: str, sha256: str, *, filename: str, media_type: str) -> str | None:
        """Return a URL that lets its holder read this one blob for a short time without credentials; None where clients
        cannot reach the store. It is a secret: keep it out of logs, events and records.

        The URL covers the file name and content type, so a modified link is invalid. A browser saves the content and
        does not render it.

        Raises:
            BlobMissing.
        """
        ...

    async def alive(self) -> None:
        """Return if the store answers and accepts writes, as far as a quick check can tell. For readiness."""
        ...
