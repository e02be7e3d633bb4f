"""The parent of the renderer: one process for each request, without an environment, ended with the call."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import platform
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from libs.errors import Unavailable
from libs.multimodal.ports import CannotProduce
from libs.multimodal.renderer.frames import packed, unpacked
from libs.sandbox.seccomp import program

CHILD = Path(__file__).parent.parent / "renderer" / "__main__.py"
LOOK_SECONDS = 0.1
"""Seconds between two checks for cancellation."""
SOURCE_MOST = 2 << 20
ENVIRONMENT = {"LANG": "C.UTF-8"}


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
        raise CannotProduce(_ended(status, bounds)) from error
    if "refused" in answer:
        raise CannotProduce(answer["refused"], line=answer["line"])
    return answer, made


async def run(command: Sequence[str], given: bytes, limits: Limits, check: Callable[[], None]) -> tuple[int, bytes]:
    """Run a program on these bytes, and return its exit status and output; then all its processes are gone.

    Raises:
        CannotProduce: it took more than its seconds.
        Unavailable: it could not start.
    """
    check()
    # Files, not pipes: a child that reads nothing blocks no writer, and the kernel bounds the output.
    with TemporaryFile() as source, TemporaryFile() as output:
        await asyncio.to_thread(_write, source, given)
        async with _started(command, source, output) as child:
            try:
                async with asyncio.timeout(limits.wait):
                    while child.returncode is None:
                        with suppress(TimeoutError):
                            async with asyncio.timeout(LOOK_SECONDS):
                                await child.wait()
                        check()
            except TimeoutError as error:
                raise CannotProduce(_ended(-signal.SIGXCPU, limits)) from error
            status = child.returncode
        return status, await asyncio.to_thread(_read, output, limits.output)


@asynccontextmanager
async def _started(
    command: Sequence[str], source: IO[bytes], output: IO[bytes]
) -> AsyncIterator[asyncio.subprocess.Process]:
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=source,
            stdout=output,
            stderr=asyncio.subprocess.DEVNULL,
            cwd="/",
            env=ENVIRONMENT,
            start_new_session=True,
        )
    except OSError as error:
        raise Unavailable(f"{Path(command[0]).name} does not start ({error}); check its installation") from error
    try:
        yield child
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await asyncio.shield(child.wait())


def _write(file: IO[bytes], given: bytes) -> None:
    file.write(given)
    file.seek(0)


def _read(file: IO[bytes], most: int) -> bytes:
    file.seek(0)
    return file.read(most + 1)


def _ended(status: int, limits: Limits) -> str:
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"it takes more than {limits.seconds} s to draw; draw at most 30 nodes, or fewer points"
    if status == -signal.SIGXFSZ:
        return f"the result has more than {limits.output >> 20} MiB; draw less, or a smaller picture"
    return "it takes too much memory, or its renderer failed on it; draw less"
