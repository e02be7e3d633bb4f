"""The processes of a contender, seen from the trial: the stem that they are forked from, and each living executor."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tests.trial.contenders import Contender

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0


class Broken(Exception):
    """A contender's process failed by itself; what it said is the message."""


@dataclass(eq=False)
class Executor:
    """A living executor, and the channel to it once it is connected."""

    name: str
    pid: int = 0
    writer: asyncio.StreamWriter | None = None
    dying: bool = False
    held: list[int] = field(default_factory=list)
    """Moments of a stopped process that wait for an answer."""
    stopped: bool = False

    def go(self, asked: int | None) -> None:
        """Answer a moment that waits."""
        if asked is not None and self.writer is not None and not self.writer.is_closing():
            self.writer.write(json.dumps({"go": asked}).encode() + b"\n")

    def hold(self, asked: int | None) -> None:
        if asked is not None:
            self.held.append(asked)

    def wake(self) -> None:
        os.kill(self.pid, signal.SIGCONT)
        self.stopped = False
        for asked in self.held:
            self.go(asked)


class Stem:
    """The process that executors are forked from."""

    def __init__(self, process: asyncio.subprocess.Process, complaints: IO[bytes]) -> None:
        self._process, self._complaints = process, complaints
        self._one_at_a_time = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def planted(cls, contender: Contender, folder: Path) -> AsyncIterator[Stem]:
        with (folder / "complaints").open("w+b") as complaints:
            process = await asyncio.create_subprocess_exec(
                *(await contender.python(), "-m", "tests.trial.stem", contender.module),
                cwd=ROOT,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=complaints,
                env={**os.environ, "PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false"},
            )
            stem = cls(process, complaints)
            try:
                await stem._answer()
                yield stem
            finally:
                process.kill()
                await process.wait()

    async def spawn(self, arguments: Sequence[Any]) -> int:
        return int((await self._ask(spawn=list(arguments)))["pid"])

    async def reap(self, pid: int) -> None:
        await self._ask(reap=pid)

    def complaint(self) -> str:
        self._complaints.seek(0)
        return self._complaints.read().decode(errors="replace")[-4000:]

    async def _ask(self, **asked: Any) -> dict[str, Any]:
        async with self._one_at_a_time:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
            return await self._answer()

    async def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            line = await self._process.stdout.readline()
        if not line:
            raise Broken(self.complaint())
        return dict(json.loads(line))


async def lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Whole lines, to the end of the process that says them."""
    with suppress(ConnectionResetError):
        while (line := await reader.readline()).endswith(b"\n"):
            yield line


def ended(pid: int) -> bool:
    """Has a process of the stem ended, and waits to be reaped?"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
