"""The form of a request to the renderer and of its answer: one line of JSON, then the bytes that it lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def packed(head: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """Return a request or an answer as bytes."""
    line = json.dumps({"head": head, "sizes": [len(blob) for blob in blobs]})
    return b"".join((line.encode(), b"\n", *blobs))


def unpacked(raw: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return the head and the bytes. Raises ValueError if some are cut off."""
    line, _, rest = raw.partition(b"\n")
    told = json.loads(line)
    blobs, at = [], 0
    for size in told["sizes"]:
        blobs.append(rest[at : at + size])
        at += size
    if at != len(rest):
        raise ValueError(f"{at} bytes were announced, and {len(rest)} came")
    return told["head"], blobs
