"""Children: short-lived processes that handle content from outside, each with an empty folder and no environment."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic
from typing import IO

import orjson

from libs.errors import Rejected
from libs.multimodal.ports import Json

LOOK_SECONDS = 0.1
"""Seconds between two checks for a cancel."""


class CannotRun(Rejected):
    """The child ended without an answer."""


async def ask(
    child: Path, header: Mapping[str, Json], bodies: Sequence[bytes], *, seconds: float, check: Callable[[], None]
) -> tuple[dict[str, Json], bytes]:
    """Run a program of Suma's own with a JSON line and bodies on its input; return the JSON line and the rest of its
    output. The child limits its own memory, processor time and output; it is killed on a cancel.

    Raises:
        CannotRun: it died, or took longer than `seconds`.
    """
    left = threading.Event()

    def looked() -> None:
        check()
        if left.is_set():
            raise CannotRun("was cancelled")

    running = asyncio.ensure_future(asyncio.to_thread(_ask, child, header, bodies, seconds, looked))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        left.set()
        # The process is gone before the cancel goes on.
        await asyncio.wait([running])
        running.exception()
        raise


def _ask(
    child: Path, header: Mapping[str, Json], bodies: Sequence[bytes], seconds: float, check: Callable[[], None]
) -> tuple[dict[str, Json], bytes]:
    # Files, not pipes: a child that reads nothing or writes much blocks no one, and its own limit bounds the output.
    with TemporaryFile() as given, TemporaryFile() as said, TemporaryDirectory(prefix="suma-child-") as folder:
        given.write(orjson.dumps(header) + b"\n")
        given.writelines(bodies)
        given.seek(0)
        status = _run([sys.executable, "-I", str(child)], given, said, folder, seconds, check)
        said.seek(0)
        line, data = said.readline(), said.read()
    if status != 0 or not line.endswith(b"\n"):
        raise CannotRun("takes too much time or memory")
    return orjson.loads(line), data


def _run(
    command: Sequence[str],
    given: IO[bytes],
    said: IO[bytes],
    folder: str,
    seconds: float,
    check: Callable[[], None],
) -> int:
    until = monotonic() + seconds
    with subprocess.Popen(  # noqa: S603 -- our own interpreter and our own file
        command, stdin=given, stdout=said, stderr=subprocess.DEVNULL, cwd=folder, env={}
    ) as process:
        try:
            while monotonic() < until:
                check()
                with suppress(subprocess.TimeoutExpired):
                    return process.wait(timeout=LOOK_SECONDS)
            raise CannotRun("takes too much time")
        finally:
            process.kill()
