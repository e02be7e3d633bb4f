"""Children: short-lived processes that handle content from outside, each with an environment of its own and no keys."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

import orjson

from libs.errors import Rejected, Unavailable
from libs.multimodal.ports import Json

LOOK_SECONDS = 0.1
"""Seconds between two checks for a cancel."""
ENVIRONMENT = {"LANG": "C.UTF-8"}
OUTPUT_MOST = 128 << 20
"""Bytes of an answer of a program of Suma's own, which limits itself to as many or fewer."""


class CannotRun(Rejected):
    """The child ended without an answer."""


async def ask(
    child: Path, header: Mapping[str, Json], bodies: Sequence[bytes], *, seconds: float, check: Callable[[], None]
) -> tuple[dict[str, Json], bytes]:
    """Run a program of Suma's own with a JSON line and bodies on its input, in an empty folder; return the JSON line
    and the rest of its output. The child limits its own memory, processor time and output; it is killed on a cancel.

    Raises:
        CannotRun: it died, or took longer than `seconds`.
        Unavailable: it could not start.
    """
    # Pictures are large: they are put together, and taken apart, in threads.
    given = await asyncio.to_thread(lambda: b"".join((orjson.dumps(header), b"\n", *bodies)))
    with TemporaryDirectory(prefix="suma-child-") as folder:
        command = [sys.executable, "-I", str(child)]
        status, said = await run(command, given, seconds=seconds, most=OUTPUT_MOST, check=check, folder=folder)
    line, ended, data = await asyncio.to_thread(said.partition, b"\n")
    if status != 0 or not ended:
        raise CannotRun("takes too much time or memory")
    return orjson.loads(line), data


async def run(
    command: Sequence[str],
    given: bytes,
    *,
    seconds: float,
    most: int,
    check: Callable[[], None],
    folder: str = "/",
) -> tuple[int, bytes]:
    """Run a program on these bytes, and return its exit status and at most `most` + 1 bytes of its output; then all its
    processes are gone. `check` is called repeatedly, and raises on a cancel.

    Raises:
        CannotRun: it took longer than `seconds`.
        Unavailable: it could not start.
    """
    check()
    # Files, not pipes: a child that reads nothing blocks no writer, and the kernel bounds the output.
    with TemporaryFile() as source, TemporaryFile() as output:
        await asyncio.to_thread(_write, source, given)
        async with _started(command, source, output, folder) as child:
            try:
                async with asyncio.timeout(seconds):
                    while child.returncode is None:
                        with suppress(TimeoutError):
                            async with asyncio.timeout(LOOK_SECONDS):
                                await child.wait()
                        check()
            except TimeoutError as error:
                raise CannotRun("takes too much time") from error
            status = child.returncode
        return status, await asyncio.to_thread(_read, output, most)


@asynccontextmanager
async def _started(
    command: Sequence[str], source: IO[bytes], output: IO[bytes], folder: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=source,
            stdout=output,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=folder,
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
