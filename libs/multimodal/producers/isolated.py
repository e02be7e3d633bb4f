"""The parent of the renderer: one process for each request, without an environment, ended with the call."""

from __future__ import annotations

import base64
import json
import platform
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from libs.multimodal import children
from libs.multimodal.ports import CannotProduce
from libs.multimodal.renderer.frames import packed, unpacked
from libs.sandbox.seccomp import program

CHILD = Path(__file__).parent.parent / "renderer" / "__main__.py"
SOURCE_MOST = 2 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one process: seconds of processor time and of waiting, and bytes."""

    seconds: int = 30
    wait: float = 90.0
    memory: int = 1536 << 20
    output: int = 32 << 20


async def render(
    kind: str,
    head: Mapping[str, Any],
    blobs: Sequence[bytes] = (),
    *,
    check: Callable[[], None],
    limits: Limits | None = None,
) -> tuple[dict[str, Any], list[bytes]]:
    """Return the renderer's answer of this kind. `check` is called repeatedly, and raises on a cancel.

    Raises:
        CannotProduce: the source is at fault, or takes too much time or memory.
        Unavailable: the process could not start.
    """
    if len(head.get("source", "")) > SOURCE_MOST:
        raise CannotProduce(f"the source has more than {SOURCE_MOST >> 20} MiB; make it shorter")
    bounds = limits or Limits()
    filters = [base64.b64encode(program(platform.machine())).decode()]
    told = {"memory": bounds.memory, "seconds": bounds.seconds, "output": bounds.output, "filters": filters}
    command = [sys.executable, "-I", str(CHILD), kind, json.dumps(told)]
    status, raw = await run(command, packed(head, blobs), bounds, check)
    try:
        if status != 0:
            raise ValueError(f"it ended with {status}")
        answer, made = unpacked(raw)
    except ValueError as error:
        raise CannotProduce(ended(status, bounds)) from error
    if "refused" in answer:
        raise CannotProduce(answer["refused"], line=answer["line"])
    return answer, made


async def run(command: Sequence[str], given: bytes, limits: Limits, check: Callable[[], None]) -> tuple[int, bytes]:
    """Run a program on these bytes, and return its exit status and output; then all its processes are gone.

    Raises:
        CannotProduce: it took more than its seconds.
        Unavailable: it could not start.
    """
    try:
        return await children.run(command, given, seconds=limits.wait, most=limits.output, check=check)
    except children.CannotRun as error:
        raise CannotProduce(_slow(f"{limits.wait:g} s")) from error


def ended(status: int, limits: Limits) -> str:
    """Return the reason a process was killed, with what to do about it."""
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return _slow(f"{limits.seconds} s of processor time")
    if status == -signal.SIGXFSZ:
        return f"the result has more than {limits.output >> 20} MiB; draw less, or a smaller picture"
    return "it takes too much memory, or its renderer failed on it; draw less"


def _slow(limit: str) -> str:
    return f"it takes more than {limit} to draw; draw at most 30 nodes, or fewer points"
