"""Commands and programs of skills, which run in a session's sandbox over a copy of its staged files (S2-08, S2-15,
S2-16, S2-22).

Each layer is harmless alone: only named programs, no shell, arguments that start nothing else, and then the sandbox.
The program of a skill is one of the bytes that its digest covers, started by an interpreter of a fixed table.
What a command changed becomes operations of the stage, so that nothing reaches the real folder before a person
approved the diff.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from codecs import IncrementalDecoder, getincrementaldecoder
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from libs.guards import programs
from libs.sandbox import (
    Changes,
    Choice,
    Command,
    Ended,
    Limits,
    Mount,
    NoSandbox,
    NoSandboxHere,
    Piece,
    Sandboxes,
    Scratch,
    Session,
    scratch_folder,
)
from libs.skills import SkillDefinition
from libs.telemetry import logger
from libs.workspace.operations import Blob
from libs.workspace.stage import Stage
from services.tool_executor.tools.tool_context import Args

LIMITS = Limits(output=4 << 20)
ROOMS_MOST = 8
"""Sandboxes that stay warm in this process: each may hold its limit of memory."""
SKILL = "/skill"
"""Where a program finds the files of its skill, read-only."""
IDLE_SECONDS, SWEEP_SECONDS = 3600.0, 300.0
NAMED_MOST = 50
FIRST, LAST = 2_000, 6_000
"""Characters of a long output that a model sees: the end of a program's output mostly has the outcome."""

log = logger("executor")


@dataclass(slots=True)
class Output:
    """The output of one command as it comes: standard output and errors in one, as on a terminal."""

    show: Callable[[str], None]
    pieces: list[Piece] = field(default_factory=list)
    _decoder: IncrementalDecoder = field(default_factory=lambda: getincrementaldecoder("utf-8")("replace"))

    def take(self, piece: Piece) -> None:
        self.pieces.append(piece)
        # A piece may end within a letter.
        self.show(self._decoder.decode(piece.data))

    @property
    def text(self) -> str:
        return _text(self.pieces)

    @property
    def result(self) -> str:
        """The standard output alone."""
        return _text(piece for piece in self.pieces if piece.stream == "stdout")


@dataclass(slots=True)
class Room:
    """A session's scratch folder, and the files of the skill whose program runs. Its sandbox has the same name."""

    name: str
    folder: Path
    scratch: Scratch
    stack: AsyncExitStack
    used: float
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)
    holds: str | None = None
    """The digest of the skill that is there; empty if none is, None at first."""

    @property
    def skill(self) -> Path:
        return self.folder.parent / "skill"

    def show(self, skill: SkillDefinition | None) -> None:
        """Make the files of this skill, or none, the ones that the next program sees: the bytes that were approved."""
        digest = skill.digest if skill is not None else ""
        if digest == self.holds:
            return
        self.holds = None
        self.skill.mkdir(exist_ok=True)
        for old in self.skill.iterdir():
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        for path, content in skill.files.items() if skill is not None else ():
            place = self.skill / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        # The sandbox's user reads and starts them, whatever the file mode mask of this process.
        for made in (self.skill, *self.skill.rglob("*")):
            made.chmod(0o755)
        self.holds = digest


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a command or program, its whole output, and the operations that make its changes."""

    ended: Ended
    output: str
    result: str
    """The standard output alone."""
    changes: Changes
    left_out: Sequence[str]
    """Paths that were not copied into the sandbox."""
    sandbox: str
    """The backend that ran it."""


class CommandRuns:
    """Runs commands in warm sandboxes, one for each session and folder."""

    def __init__(
        self,
        choice: Choice,
        allowed: Collection[str],
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._choice, self._allowed, self._now = choice, frozenset(allowed), now
        self._rooms: OrderedDict[str, Room] = OrderedDict()

    def command(self, args: Args) -> Command:
        """Return the command of a line. Raises CommandBlocked if the program or its arguments may not run."""
        argv = programs.argv(args["command"])
        programs.check_command(argv, allowed=self._allowed)
        return Command(argv, cwd=args["path"], stdin=args.get("input", "").encode(), seconds=args["seconds"])

    async def run(
        self,
        whose: tuple[str, str],
        stage: Stage,
        command: Command,
        *,
        skill: SkillDefinition | None = None,
        show: Callable[[str], None],
        check: Callable[[], None],
        keep: Callable[[BinaryIO], Blob],
    ) -> Done:
        """Run one command over the staged files of a session, with the files of its skill at `/skill`. `keep` stages a
        large content, or refuses it.

        Raises:
            NoSandboxHere: there is no sandbox; nothing was run.
            TooLarge: the folder is larger than a sandbox may hold.
        """
        backend = await self._choice.backend()
        room = await self._room(_name(whose, stage.tree.root))
        async with room.busy:
            left_out = await asyncio.to_thread(room.scratch.bring, stage)
            await asyncio.to_thread(room.show, skill)
            check()
            session, output = await _session(backend, room), Output(show)
            ended = await session.run(command, output.take)
            changes = await asyncio.to_thread(room.scratch.changes, stage.blob_cache, keep)
            room.used = self._now()
        return Done(ended, output.text, output.result, changes, [one.path for one in left_out], backend.name)

    async def sweep(self) -> None:
        """Remove idle rooms until the service stops, and then all of them."""
        try:
            while True:
                await asyncio.sleep(SWEEP_SECONDS)
                for room in [one for one in self._rooms.values() if self._now() - one.used > IDLE_SECONDS]:
                    await self._leave(room)
        finally:
            for room in list(self._rooms.values()):
                await self._leave(room)
            await self._choice.close()

    async def _room(self, name: str) -> Room:
        if (found := self._rooms.get(name)) is not None:
            self._rooms.move_to_end(name)
            # Now, not only at the end: a room that was idle for long must not be swept away under its next command.
            found.used = self._now()
            return found
        while len(self._rooms) >= ROOMS_MOST:
            idle = next((one for one in self._rooms.values() if not one.busy.locked()), None)
            if idle is None:
                raise NoSandboxHere(f"{ROOMS_MOST} commands run already; try again when one has ended")
            await self._leave(idle)
        async with AsyncExitStack() as stack:
            folder = await stack.enter_async_context(scratch_folder(None, LIMITS))
            made = Room(name, folder, Scratch(folder, LIMITS), stack.pop_all(), self._now())
        self._rooms[name] = made
        return made

    async def _leave(self, room: Room) -> None:
        self._rooms.pop(room.name, None)
        if self._choice.chosen is not None:
            await self._choice.chosen.leave(room.name)
        await room.stack.aclose()


async def _session(backend: Sandboxes, room: Room) -> Session:
    try:
        return await backend.open(room.name, room.folder, LIMITS, mounts=(Mount(room.skill, SKILL),))
    except NoSandbox as error:
        raise NoSandboxHere(str(error)) from error


def _text(pieces: Iterable[Piece]) -> str:
    return b"".join(piece.data for piece in pieces).decode("utf-8", "replace").replace("\0", "\ufffd")


def as_data(done: Done, changed: Sequence[str]) -> dict[str, Any]:
    """Format a command's result as the tool returns it."""
    ended, output = done.ended, done.output
    data: dict[str, Any] = {
        "exit_code": ended.code,
        "seconds": round(ended.seconds, 3),
        "output": output,
        "truncated": ended.truncated,
        "limit": ended.limit,
        "sandbox": done.sandbox,
        "changed": list(changed[:NAMED_MOST]),
        "refused": [{"path": one.path, "reason": one.reason} for one in done.changes.refused[:NAMED_MOST]],
    }
    if len(output) > FIRST + LAST:
        left_out = f"\n[{len(output) - FIRST - LAST:,} characters are left out]\n"
        # Without lists of paths, which may be long: the summary counts them.
        known = {name: data[name] for name in ("exit_code", "limit", "sandbox")}
        data["excerpt"] = {**known, "output": output[:FIRST] + left_out + output[-LAST:]}
    return data | ({"left_out": list(done.left_out[:NAMED_MOST])} if done.left_out else {})


def summary(command: str, ended: Ended, changed: int) -> str:
    """Return what happened in one sentence."""
    ends = {
        "time": "ran out of time",
        "output": "wrote more output than it may",
        "memory": "ran out of memory",
        "disk": "wrote more files than it may",
        "cancelled": "was cancelled",
    }
    how = ends[ended.limit] if ended.limit else f"ended with code {ended.code}"
    changes = f" and changed {changed} file{'s' if changed != 1 else ''}" if changed else ""
    return f"`{command[:200]}` {how} after {ended.seconds:.1f} s{changes}."


def _name(whose: tuple[str, str], root: Path) -> str:
    return sha256("\0".join((*whose, str(root))).encode()).hexdigest()[:32]
