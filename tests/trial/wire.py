"""The side channel between an executor and the trial: moments go out, and some are waited for until they are answered.

A killed process is not answered. This module runs in environments that have nothing of ours, on any event loop or
thread, so it imports the standard library alone and reads in a thread of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import socket
import threading
from concurrent.futures import Future
from itertools import count
from typing import Any

BEGUN, DONE, RETURNED = "begun", "done", "returned"
"""The moments of a tool: entered; its effect committed; about to return."""


class Wire:
    """One process's end of the channel. `taken` are the turns handed to it."""

    def __init__(self, path: str, role: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._speaking = threading.Lock()
        self._numbers = count(1)
        self._waiting: dict[int, Future[None]] = {}
        self.taken: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.say(role=role, pid=os.getpid())
        threading.Thread(target=self._listen, daemon=True).start()

    def say(self, **said: Any) -> None:
        line = json.dumps(said).encode() + b"\n"
        with self._speaking:
            self._socket.sendall(line)

    def tell(self, turn: str, moment: str) -> None:
        """It is so; nobody answers."""
        self.say(turn=turn, at=moment)

    def wait(self, turn: str, moment: str) -> None:
        """It is so, and goes on when the trial lets it."""
        self._asked(turn, moment).result()

    async def arrive(self, turn: str, moment: str) -> None:
        """The same on an event loop."""
        await asyncio.wrap_future(self._asked(turn, moment))

    async def take(self) -> dict[str, Any]:
        """The next turn that is handed over."""
        return await asyncio.get_running_loop().run_in_executor(None, self.taken.get)

    def _asked(self, turn: str, moment: str) -> Future[None]:
        number, future = next(self._numbers), Future[None]()
        self._waiting[number] = future
        self.say(turn=turn, at=moment, asks=number)
        return future

    def _listen(self) -> None:
        for line in self._socket.makefile("r"):
            heard = json.loads(line)
            if "go" in heard:
                self._waiting.pop(heard["go"]).set_result(None)
            else:
                self.taken.put(heard)
        # The trial is gone, and so is every reason to be here.
        os._exit(0)
