"""One container of a turn: its folder, its program, its requests, and the record of it that is kept."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from libs.budgets import Payer
from libs.errors import SumaError
from libs.events.values import Observation
from libs.models.ports import Answered
from libs.sandbox import Command, Ended, Limits, Mount, Piece, Sandboxes, scratch_folder
from libs.turn_runner import messages
from libs.turn_runner.messages import Calls, Output, Thought
from libs.turn_runner.tool_host import SOCKET, NotYours, Reply, Ticket, ToolHost

TURN, PROGRAM = "/turn", "/program/agent.py"
MB = 1 << 20
END_SECONDS = 5.0
"""How long a container may take to end after its last calls."""


class Busy(SumaError):
    """The container has asked already, and is to wait for that answer."""

    code = "BUSY"


@dataclass(eq=False)
class Asked:
    """A request of the container, and its answer."""

    what: Calls | Thought
    reply: asyncio.Future[Reply] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Container:
    """A running container. It asks for one thing at a time, and waits."""

    def __init__(self, turn: Payer, given: Mapping[str, Any], limits: Limits, *, seen: int) -> None:
        """`given` is its input without the token; `seen` the number of the turn's calls that have ended."""
        self.turn = turn
        self.said: Answered | None = None
        """The last answer of the model that it received."""
        self._given, self._limits, self._seen = given, limits, seen
        tools = frozenset(tool["name"] for tool in given["tools"])
        self._ticket = Ticket(turn.turn, given["agent"]["id"], tools, time.monotonic() + limits.seconds)
        self._name = f"turn-{secrets.token_hex(8)}"
        self._host, self._stack = ToolHost(self._ticket, self._take), AsyncExitStack()
        self._asked: Asked | None = None
        self._arrived = asyncio.Event()
        self._output: list[bytes] = []
        self._folder: Path | None = None
        self._running: asyncio.Task[Ended] | None = None

    async def start(self, backend: Sandboxes, program: Path) -> None:
        """Start the program. Raises `NoSandbox` or `Refused`."""
        workspace = await self._stack.enter_async_context(scratch_folder(None, self._limits))
        self._folder = await self._stack.enter_async_context(scratch_folder(None, self._limits))
        self._stack.push_async_callback(self._host.close)
        copied = await asyncio.to_thread(self._write, self._folder, program)
        await self._host.start(self._folder)
        mounts = (Mount(self._folder, TURN, writable=True), Mount(copied, PROGRAM))
        self._stack.push_async_callback(backend.leave, self._name)
        session = await backend.open(self._name, workspace, self._limits, mounts=mounts)
        whose = {"SUMA_PROJECT": self.turn.session, "SUMA_AGENT": self._ticket.agent, "SUMA_TURN": self.turn.turn}
        command = Command(("python3", PROGRAM), env={**whose, "SUMA_TOKEN": self._ticket.token})
        self._running = asyncio.create_task(session.run(command, self._show))
        self._stack.push_async_callback(self._stop, self._running)

    async def request(self) -> Calls | Thought | Ended:
        """Return its open request, or its end. Raises `Broken` or `TimedOut` if the sandbox failed."""
        assert self._running is not None
        arrival = asyncio.create_task(self._arrived.wait())
        both: set[asyncio.Future[Any]] = {arrival, self._running}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            arrival.cancel()
        return self._running.result() if self._running.done() else self._waits().what

    async def ended(self) -> None:
        """Wait until the program has ended by itself, for a short time."""
        if self._running is not None:
            await asyncio.wait({self._running}, timeout=END_SECONDS)

    def reply(self, answer: Reply) -> None:
        """Answer its open request."""
        self._answered().reply.set_result(answer)

    def refuse(self, error: SumaError) -> None:
        self._answered().reply.set_exception(error)

    def observe(self, observations: Sequence[Observation]) -> None:
        """Answer the calls that it waits for, if they have ended."""
        if self._asked is not None and isinstance(self._asked.what, Calls) and len(observations) > self._seen:
            self.reply({"calls": messages.results(observations[self._seen :])})
        self._seen = len(observations)

    def report(self) -> Output | None:
        """Return its `output.json`; None if that is of no use."""
        return messages.output(self._folder) if self._folder is not None else None

    def record(self, folder: Path, ended: str) -> None:
        """Write its input, without the token, its output and its log to a folder of the host."""
        folder.mkdir(parents=True, mode=0o700)
        report = self.report()
        (folder / messages.INPUT).write_bytes(orjson.dumps({**self._given, "token": None}))
        (folder / messages.OUTPUT).write_text(report.model_dump_json() if report is not None else "null")
        (folder / "log").write_bytes(b"".join(self._output))
        (folder / "ended").write_text(f"{ended}\n")

    async def close(self) -> None:
        """End the token and the container. Repeatable."""
        if self._asked is not None:
            self.refuse(NotYours("the container has ended"))
        await self._stack.aclose()
        self._folder = None

    async def _take(self, what: Calls | Thought) -> Reply:
        if self._asked is None:
            self._asked = Asked(what)
            self._arrived.set()
        elif self._asked.what != what:
            raise Busy
        # A program that lost its connection may ask the same again.
        return await asyncio.shield(self._asked.reply)

    def _waits(self) -> Asked:
        assert self._asked is not None
        return self._asked

    def _answered(self) -> Asked:
        asked, self._asked = self._waits(), None
        self._arrived.clear()
        return asked

    def _show(self, piece: Piece) -> None:
        self._output.append(piece.data)

    def _write(self, folder: Path, program: Path) -> Path:
        """Write the input, and a copy of the program that the sandbox's user can reach."""
        given = {**self._given, "controllerUrl": f"unix://{TURN}/{SOCKET}", "token": self._ticket.token}
        (folder / messages.INPUT).write_bytes(orjson.dumps(given))
        copied = folder.parent / "agent.py"
        shutil.copyfile(program, copied)
        for path in (folder / messages.INPUT, copied):
            path.chmod(0o644)
        return copied

    async def _stop(self, running: asyncio.Task[Ended]) -> None:
        running.cancel()
        await asyncio.wait({running})
