r"""Names as text: a file's name is bytes, logs and databases want text, and the conversion is lossless both ways.

A path is written as UTF-8 text, which it nearly always is. A backslash becomes `\\`, a byte that is not UTF-8 becomes
`\xHH`. So the text holds no NUL and no lone surrogate, and two different names never have the same text.
"""

from __future__ import annotations

import re

from libs.workspace.errors import InvalidPath

ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, line separators and marks that change the reading direction: text with one cannot be shown as is.
"""
ESCAPE = re.compile(r"\\(\\|x[0-9a-f]{2}|.|$)", re.DOTALL)


def encode(raw: bytes) -> str:
    """Return the text of a name or path."""
    if b"\0" in raw:
        raise InvalidPath("a path cannot contain a NUL byte")
    return raw.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def decode(text: str) -> bytes:
    """Return the bytes of a text made by `encode`; any other spelling of them is refused."""
    try:
        raw = text.encode() if "\\" not in text else _unescape(text)
    except UnicodeEncodeError as error:
        raise InvalidPath("a path cannot contain a lone surrogate") from error
    # Only one spelling is valid, so that `\x2f` cannot pass a slash through a check made on the text.
    if b"\0" in raw or ("\\" in text and encode(raw) != text):
        raise InvalidPath(f"badly escaped path: {text!r}")
    return raw


def _unescape(text: str) -> bytes:
    pieces, end = [], 0
    for match in ESCAPE.finditer(text):
        pieces.append(text[end : match.start()].encode())
        pieces.append(_byte(match[1], text))
        end = match.end()
    return b"".join([*pieces, text[end:].encode()])


def _byte(escape: str, text: str) -> bytes:
    if escape == "\\":
        return b"\\"
    if len(escape) != 3:
        raise InvalidPath(f"badly escaped path: {text!r}")
    return bytes.fromhex(escape[1:])


def join(parent: str, name: str) -> str:
    return f"{parent}/{name}" if parent else name


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def lineage(path: str) -> list[str]:
    """Return the path itself and each folder above it, nearest first, without the root."""
    above = [path] if path else []
    while "/" in path:
        path = path.rpartition("/")[0]
        above.append(path)
    return above


def escaped(text: str) -> str:
    """Return the text on one line, with each unprintable character escaped."""
    return ODD.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def shown(path: str) -> str:
    """Return the path as people see it: the root is a dot."""
    return path or "."
