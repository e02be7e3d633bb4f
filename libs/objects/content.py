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

STAGES = "stages"
"""The areas of staged contents, one for each turn: they are cleared once its stage has ended."""

ASSETS = "assets"
"""The areas of multimodal assets, one for each class of retention: the executor's rows refer to their blobs."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_AREA = re.compile(rf"{UPLOADS}|(?:{STAGES}|{ASSETS})/[A-Za-z0-9][A-Za-z0-9._-]{{0,63}}")
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
    return f"{_home(tenant)}/{sha256[:2]}/{sha256}"


def place_of_area(area: str) -> str:
    """Return what the keys of an area's blobs begin with, such as `acme/uploads/`.

    Raises:
        ValueError: it is a tenant.
    """
    if "\0" not in area:
        raise ValueError(f"{area!r} is a tenant, and no area of one")
    return f"{_home(area)}/"


def _home(tenant: str) -> str:
    owner, _, name = tenant.rpartition("\0")
    if not owner or not _AREA.fullmatch(name):
        owner, name = tenant, ""
    # `~` begins no plain name, so no tenant can be called like the digest of another.
    home = owner if _PLAIN.fullmatch(owner) else "~" + hashlib.sha256(owner.encode()).hexdigest()
    return f"{home}/{name}" if name else home


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
