"""The host's side of the runner's channel: frames of four bytes of length, then JSON. The runner is not trusted.

A runner that a command has taken over can send anything. So each length is checked before the frame is read, each field
before it is used, and all output together counts against the command's limit.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import struct
from typing import Any

from libs.sandbox.ports import Broken, Limit, Piece

FRAME_MOST = 64 * 1024
"""Bytes of one answer: 32 KiB of output as base64, and its name."""
LIMITS: dict[str | None, Limit | None] = {None: None, "time": "time", "output": "output", "cancelled": "cancelled"}
CODES, LONGEST = range(-64, 256), 1e6


def packed(frame: dict[str, Any]) -> bytes:
    raw = json.dumps(frame).encode()
    return struct.pack(">I", len(raw)) + raw


async def sent(writer: asyncio.StreamWriter, raw: bytes) -> None:
    """Write to a runner. Raises Broken if it is gone."""
    try:
        writer.write(raw)
        await writer.drain()
    # uvloop raises RuntimeError for a pipe whose other end is gone.
    except (OSError, RuntimeError) as error:
        raise Broken(f"the sandbox took no input: {error}") from error


def length(head: bytes) -> int:
    size: int = struct.unpack(">I", head)[0]
    if size > FRAME_MOST:
        raise Broken(f"the runner announced a frame of {size} bytes")
    return size


def parsed(raw: bytes) -> dict[str, Any]:
    try:
        frame = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Broken("the runner sent a frame that is not JSON") from error
    if not isinstance(frame, dict):
        raise Broken("the runner sent a frame that is not an object")
    return frame


def piece(frame: dict[str, Any]) -> Piece | None:
    """Return the output in a frame; None if it is a frame of another kind."""
    kind, data = frame.get("kind"), frame.get("data")
    if kind not in ("stdout", "stderr"):
        return None
    try:
        return Piece(kind, base64.b64decode(data, validate=True) if isinstance(data, str) else b"")
    except (binascii.Error, ValueError) as error:
        raise Broken("the runner sent output that is not base64") from error


def ended(frame: dict[str, Any]) -> tuple[int, float, Limit | None]:
    """Return the exit code, the duration and the limit of a frame that reports a command's end."""
    code, seconds, limit = frame.get("code"), frame.get("seconds"), frame.get("limit")
    whole = isinstance(code, int) and code in CODES and isinstance(seconds, int | float) and 0 <= seconds < LONGEST
    if frame.get("kind") != "ended" or not whole or not isinstance(limit, str | None) or limit not in LIMITS:
        raise Broken("the runner sent a frame of no known kind")
    return int(code or 0), float(seconds or 0), LIMITS[limit]
