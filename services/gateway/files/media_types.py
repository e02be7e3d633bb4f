"""The media type of uploaded content: recognised by its first bytes, and compared with the claimed one.

A claim is refused only if the bytes contradict it: they have the signature of another type, lack the signature of the
claimed type, or are binary although text was claimed. A claim without a signature, such as `text/csv`, is kept.
"""

from __future__ import annotations

import re
from mimetypes import MimeTypes

import filetype

from libs.errors import Rejected

HEAD = 8192
"""Bytes at the start of the content that `recorded` needs (as many as `filetype` reads)."""
UNKNOWN, TEXT = "application/octet-stream", "text/plain"

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-ms-bmp": "image/bmp",
    "image/vnd.microsoft.icon": "image/icon",
    "audio/wave": "audio/wav",
    "audio/mp3": "audio/mpeg",
    "audio/m4a": "audio/mp4",
    "video/avi": "video/msvideo",
    "text/rtf": "application/rtf",
    "application/zip-compressed": "application/zip",
    "application/vnd.rar": "application/rar-compressed",
    "application/vnd.microsoft.portable-executable": "application/msdownload",
    "application/vnd.sqlite3": "application/sqlite3",
    "font/woff": "application/font-woff",
}
_CONTAINERS = (
    frozenset(("video/mp4", "video/m4v", "audio/mp4", "video/quicktime", "video/3gpp", "image/heic", "image/avif")),
    frozenset(("video/webm", "audio/webm", "video/matroska", "audio/matroska")),
    frozenset(("audio/ogg", "video/ogg", "application/ogg", "audio/opus")),
    frozenset(("application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint")),
    frozenset(("image/png", "image/apng")),
)
"""Types that share a signature: the bytes at the start cannot tell them apart."""
_ENDINGS = MimeTypes()
"""Python's own list; the machine's `mime.types` are not read."""
_ZIPPED = re.compile(r"application/(zip|epub\+zip|vnd\.openxmlformats-|vnd\.oasis\.opendocument\.)")
_GENERIC = frozenset(("application/zip", "application/gzip"))
"""Signatures that many other formats start with."""
_WRITTEN = frozenset(("application/pdf", "application/rtf", "application/postscript"))
"""Types with a signature whose content may consist of text."""
_TEXTUAL = re.compile(
    r"text/.+|application/(json|xml|yaml|javascript|ecmascript|toml|sql|ndjson|graphql|csv|sh|tex)|.+\+(json|xml|yaml)"
)


class TypeMismatch(Rejected):
    """The content is not of the claimed type; send it with the right one, or with none."""

    code = "TYPE_MISMATCH"


class BadMediaType(Rejected):
    """This is not a media type; send one such as `image/png`, or none."""

    code = "BAD_MEDIA_TYPE"


def claimed(text: str) -> str:
    """Return a claim without its parameters, in lower case; empty if nothing is claimed. Raises BadMediaType."""
    found = text.partition(";")[0].strip().lower()
    if found and not _MEDIA_TYPE.fullmatch(found):
        raise BadMediaType
    return "" if found == UNKNOWN else found


def recorded(claim: str, head: bytes, filename: str) -> str:
    """Return the type to record for content that starts with `head`: the claim. If there is none, what the ending of
    the file's name suggests, unless the content contradicts it, or what was recognised.

    Raises:
        TypeMismatch: the content contradicts the claim.
    """
    if claim:
        return _confirmed(claim, head)
    suggested, encoding = _ENDINGS.guess_type(filename)
    try:
        if suggested is not None and encoding is None:
            return _confirmed(suggested, head)
    except TypeMismatch:
        pass  # An ending is no claim.
    return recognised(head) or (TEXT if is_text(head) else UNKNOWN)


def _confirmed(claim: str, head: bytes) -> str:
    found, text = recognised(head), is_text(head)
    if head and not _agree(_plain(claim), found and _plain(found), text=text):
        actual = found or ("plain text" if text else "of an unknown binary type")
        raise TypeMismatch(f"the content is {actual}, not {claim}; send it with the right type, or with none")
    return claim


def recognised(head: bytes) -> str | None:
    """Return the type whose signature the content has; None if it has none."""
    kind = filetype.guess(head[:HEAD]) if head else None
    found = str(kind.mime) if kind is not None else None
    # Text may begin with a signature of two letters, such as BM.
    return found if found in _WRITTEN or not is_text(head) else None


def is_text(head: bytes) -> bool:
    """Return whether the content looks like text in UTF-8, UTF-16 with a byte order mark, or an 8-bit encoding."""
    return head.startswith(_UTF16) or not _BINARY.search(head)


def _agree(claim: str, found: str | None, *, text: bool) -> bool:
    if found is None:
        return text if _TEXTUAL.fullmatch(claim) else not _has_signature(claim)
    if claim == found or any(claim in alike and found in alike for alike in _CONTAINERS):
        return True
    if _ZIPPED.match(claim) and _ZIPPED.match(found):
        return True
    return found in _GENERIC and not _has_signature(claim) and not _TEXTUAL.fullmatch(claim)


def _has_signature(kind: str) -> bool:
    return kind in _SIGNED


def _plain(kind: str) -> str:
    """Return the name under which types are compared: without `x-`, and one of several synonyms."""
    major, _, minor = kind.partition("/")
    plain = f"{major}/{minor.removeprefix('x-')}"
    return _ALIASES.get(plain, _ALIASES.get(kind, plain))


_SIGNED = frozenset(_plain(str(kind.mime)) for kind in filetype.types) - {UNKNOWN, "application/msword"}
"""Types that content without their signature cannot have."""
