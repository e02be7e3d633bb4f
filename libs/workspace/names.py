r"""Names as text: a file's name is bytes, a log and a database want text, and each must give back the other exactly.

A path is written as the UTF-8 text that it nearly always is. A backslash becomes `\\`, a byte that is not UTF-8
becomes `\xHH`. So the text holds no NUL and no lone surrogate, and two different names never share one text.
"""

from __future__ import annotations

import re

from libs.workspace.errors import InvalidPath

ESCAPE = re.compile(r"\\(\\|x[0-9a-f]{2}|.|$)", re.DOTALL)


def encode(raw: bytes) -> str:
    """The text of a name or path."""
    if b"\0" in raw:
        raise InvalidPath("a path cannot hold a NUL byte")
    return raw.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def decode(text: str) -> bytes:
    """The bytes that `encode` made this text of; any other spelling of them is refused."""
    try:
        raw = text.encode() if "\\" not in text else _unescape(text)
    except UnicodeEncodeError as error:
        raise InvalidPath("a path cannot hold a lone surrogate") from error
    # One spelling only, so that `\x2f` cannot smuggle a slash past a check made on the text.
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
    """The path itself and each folder above it, nearest first, without the root."""
    above = [path] if path else []
    while "/" in path:
        path = path.rpartition("/")[0]
        above.append(path)
    return above


def shown(path: str) -> str:
    """The path as people are shown it: the root is a dot."""
    return path or "."
