"""Requests of the tus protocol (1.0) as values: the announced file, and a name that is safe to show and to store."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from dataclasses import dataclass
from posixpath import basename

from libs.errors import Rejected
from services.gateway.files.media_types import claimed

EXTENSIONS = "creation,creation-with-upload,expiration,termination"
METADATA_MOST, NAME_BYTES = 4096, 200
NAMELESS = "upload"

_SHA256 = re.compile(r"[0-9a-f]{64}")
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\\/]+")


class BadMetadata(Rejected):
    """`Upload-Metadata` is not valid; send `key base64` pairs, separated by commas."""

    code = "BAD_METADATA"


@dataclass(frozen=True, slots=True)
class Announced:
    """A file that a client is going to send. `media_type` (or empty) and `sha256` are claims about it."""

    filename: str
    media_type: str
    size: int
    sha256: str | None = None
    metadata: str = ""
    """All that the client said of it, as it said it."""


def announced(metadata: str, size: int) -> Announced:
    """Return what a request announces: the keys `filename`, `filetype` and `sha256` (hex); others are ignored.

    Raises:
        BadMetadata: the header is malformed or too long, or `sha256` is not one.
        BadMediaType: `filetype` is not a media type.
    """
    if len(metadata) > METADATA_MOST:
        raise BadMetadata(f"`Upload-Metadata` is over {METADATA_MOST} characters; send less")
    found = dict(_pair(pair) for pair in metadata.split(",") if pair.strip())
    digest = found.get("sha256", "").lower() or None
    if digest is not None and not _SHA256.fullmatch(digest):
        raise BadMetadata("`sha256` is not 64 hexadecimal digits")
    name = found.get("filename") or found.get("name") or ""
    kind = claimed(found.get("filetype") or found.get("type") or "")
    return Announced(file_name(name), kind, size, digest, metadata)


def file_name(text: str) -> str:
    """Return a plain file name: no folders, no control characters, no marks that change the reading direction."""
    name = _ODD.sub("_", basename(text.replace("\\", "/"))).strip()
    while len(name.encode()) > NAME_BYTES:
        stem, dot, suffix = name.rpartition(".")
        name = f"{stem[:-1]}.{suffix}" if dot and len(suffix) < 16 else name[:-1]
    return name if name.strip(".") else NAMELESS


def _pair(text: str) -> tuple[str, str]:
    key, _, value = text.strip().partition(" ")
    try:
        return key, b64decode(value.strip(), validate=True).decode()
    except (NotBase64, UnicodeDecodeError, ValueError):
        raise BadMetadata(f"the value of `{key[:40]}` is not UTF-8 text in base64") from None
