"""A terminal with a person at it, for commands that ask."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.journeys.installation import SECONDS, Installation

CTRL_C, CTRL_D = "\x03", "\x04"


class Terminal:
    """A command that believes itself at a terminal. What it printed is `text`."""

    def __init__(self, installation: Installation, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        self._window = ExitStack()
        self._window.callback(os.close, self._master)
        environment = {**installation.environment(), "TERM": "dumb", "COLUMNS": "200"}
        command = [sys.executable, "-P", "-m", "services.cli", *arguments]
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=_sits_at_the_terminal,
        )
        os.close(slave)
        self.text = ""
        self._seen = 0
        self._news = asyncio.Event()

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        loop.add_reader(self._master, self._read)
        self._window.callback(loop.remove_reader, self._master)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self.close()

    async def answer(self, prompt: str, line: str | None) -> None:
        """Wait until it asks this, after what was answered before; then type a line, or nothing."""
        try:
            async with asyncio.timeout(SECONDS):
                while (at := self.text.find(prompt, self._seen)) < 0:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{prompt!r} did not appear; the terminal shows:\n{self.text}") from None
        self._seen = at + len(prompt)
        if line == CTRL_C:
            await self._reading()
            # What a terminal makes of the key, to this process alone.
            self._process.send_signal(signal.SIGINT)
        elif line is not None:
            os.write(self._master, line.encode() if line == CTRL_D else f"{line}\n".encode())

    async def _reading(self) -> None:
        """Until it waits for the person. Python sees a signal that comes between a prompt and its reading only after
        the next line: a person would press the key once more.
        """
        status = Path(f"/proc/{self._process.pid}/stat")
        async with asyncio.timeout(SECONDS):
            while status.read_text().rpartition(")")[2].split()[0] != "S":
                await asyncio.sleep(0.02)

    def close(self) -> None:
        """Close the window, which sends SIGHUP to the process."""
        self._window.close()

    async def end(self) -> int:
        return await asyncio.wait_for(asyncio.to_thread(self._process.wait), SECONDS)

    def number_of(self, word: str) -> str:
        """The number of the listed item that speaks of `word`."""
        found = re.findall(rf"(\d+)\. [^\n]*{re.escape(word)}", self.text)
        assert found, self.text
        return str(found[-1])

    def _read(self) -> None:
        try:
            self.text += os.read(self._master, 65536).decode(errors="replace")
        except OSError:
            # The other end is closed: the program has gone.
            asyncio.get_running_loop().remove_reader(self._master)
        self._news.set()


def _sits_at_the_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # A run in the background ignores Ctrl-C, one under `nohup` the end of its terminal; children inherit that.
    for sent in (signal.SIGINT, signal.SIGHUP):
        signal.signal(sent, signal.SIG_DFL)
