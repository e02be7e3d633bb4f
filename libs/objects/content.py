"""Content on its way in and out, and its path: what every blob store does alike."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterable, AsyncIterator
from urllib.parse import quote

CHUNK = 1024 * 1024
"""Bytes read or written per hop to a thread."""

UPLOADS = "uploads"
"""The area of uploaded files: only the gateway's rows refer to its blobs, so it knows which are no longer used."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_UNQUOTABLE = re.compile(r"[^ !#-\[\]-~]")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def area(tenant: str, name: str) -> str:
    """Return what to pass as a blob's tenant, to keep it apart from the tenant's other blobs."""
    # PostgreSQL stores no NUL in text, so no tenant has this name.
    return f"{tenant}\0{name}"


def place(tenant: str, sha256: str) -> str:
    """Return a blob's key, such as `acme/ab/abcdef…`, or `acme/uploads/ab/abcdef…` in an area. No name leads elsewhere
    or to another tenant.
    """
    if not _SHA256.fullmatch(sha256):
        sha256 = "none"  # a place that nothing is ever put in
    tenant, _, name = tenant.rpartition("\0") if tenant.endswith(f"\0{UPLOADS}") else (tenant, "", "")
    home = tenant if _PLAIN.fullmatch(tenant) else "~" + hashlib.sha256(tenant.encode()).hexdigest()
    return f"{home}/{name}/{sha256[:2]}/{sha256}" if name else f"{home}/{sha256[:2]}/{sha256}"


def disposition(filename: str) -> str:
    """Return the header that makes a browser save the content under this name, whatever the name is (RFC 6266)."""
    plain = _UNQUOTABLE.sub("_", filename)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='', errors='replace')}"


async def gathered(content: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Regroup the bytes into pieces of at least CHUNK, except the last, so that each thread hop is worthwhile."""
    piece = bytearray()
    async for chunk in content:
        piece += chunk
        if len(piece) >= CHUNK:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)
