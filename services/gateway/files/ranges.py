"""Parsing of Range headers (RFC 9110, section 14)."""

from __future__ import annotations

import re

_ONE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII | re.IGNORECASE)


class OutOfRange(ValueError):
    """The content has none of the requested bytes; request a lower range."""


def part(header: str | None, size: int) -> range | None:
    """Return the bytes that a Range header names in a content of `size` bytes; None is all of it.

    Several ranges, other units and malformed headers return None, as the section allows.

    Raises:
        OutOfRange: no requested byte exists.
    """
    asked = _ONE.fullmatch(header.strip()) if header else None
    if asked is None or asked[0].endswith("=-"):
        return None
    first, last = asked.groups()
    if not first:
        found = range(max(0, size - int(last)), size)
    elif last and int(last) < int(first):
        return None
    else:
        found = range(int(first), min(int(last) + 1, size) if last else size)
    if not found:
        raise OutOfRange
    return found
