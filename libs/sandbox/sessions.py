"""The sandboxes of one process: warm sessions over a launcher, removed when they are idle, broken or closed.

A launcher knows an isolation mechanism and nothing of commands; this module knows the runner's protocol and nothing of
isolation. Both ends of a command are guarded: the runner enforces its limits inside, and the host kills the whole
sandbox if the runner does not answer in time or sends what it should not.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import platform
import posixpath
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from libs.sandbox import frames, seccomp
from libs.sandbox.ports import (
    ARGUMENTS_MOST,
    ENVIRONMENT,
    STDIN_MOST,
    WORKSPACE,
    Broken,
    Command,
    Ended,
    Limits,
    Mount,
    NoSandbox,
    Refused,
    Report,
    Session,
    Show,
    TimedOut,
    ignore,
)
from libs.sandbox.probe import probe
from libs.sandbox.quota import exceeds, has_quota, remove_orphans
from libs.telemetry.logs import logger

START_SECONDS, GRACE_SECONDS = 30.0, 5.0
IDLE_SECONDS, REAP_SECONDS = 3600.0, 300.0
"""A session that ran nothing for so long is removed; the interval of the look (S2-10)."""
WATCH_SECONDS = 0.25
SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
TARGET = re.compile(r"(/[A-Za-z0-9_-][A-Za-z0-9_.-]*){1,8}")
SYSTEM = re.compile(r"/(bin|boot|dev|etc|home|lib(x?32|64)?|opt|proc|root|run|sbin|srv|sys|tmp|usr|var|workspace)(/|$)")
"""Folders in which nothing can be mounted."""

log = logger("sandbox")


class Channel(Protocol):
    """The stdin and stdout of a running sandbox's first process."""

    async def write(self, raw: bytes) -> None: ...

    async def read(self, size: int) -> bytes:
        """Return exactly so many bytes. Raises Broken at the end of the stream."""
        ...

    async def kill(self) -> None:
        """End the sandbox with all its processes, and free all that it held. Repeatable."""
        ...


class Launcher(Protocol):
    """An isolation mechanism: starts sandboxes whose process 1 is the runner."""

    name: str

    async def prepare(self) -> None:
        """Check that it can start sandboxes, and remove those that a dead process left. Raises NoSandbox."""
        ...

    async def launch(
        self, session: str, workspace: Path, limits: Limits, mounts: Sequence[Mount]
    ) -> tuple[Channel, Mapping[str, Any]]:
        """Start a sandbox. Return its channel, and the resource limits that its runner shall set. Raises NoSandbox."""
        ...

    @property
    def cures(self) -> Mapping[str, str]:
        """The cure of each check that can fail here, by its name."""
        ...


class RunnerSession:
    """A session over a channel to a runner."""

    def __init__(
        self,
        session: str,
        channel: Channel,
        workspace: Path,
        limits: Limits,
        mounts: Sequence[Mount],
        now: Callable[[], float],
    ) -> None:
        self.id, self.workspace, self.limits, self.mounts = session, workspace, limits, mounts
        self.closed = False
        self._channel, self._now = channel, now
        self._one = asyncio.Lock()
        self._used, self._running, self._full = now(), False, False
        self._watched: Sequence[Path] | None = None
        """Folders whose file system holds more than they may; looked for at the first command."""

    @property
    def idle(self) -> float:
        """Seconds since the last command; 0 while one runs."""
        return 0.0 if self._running else self._now() - self._used

    async def set_up(self, resources: Mapping[str, Any]) -> None:
        """Give the runner its limits. Raises Broken or TimedOut if it does not accept them."""
        filter_ = base64.b64encode(seccomp.program(platform.machine())).decode()
        setup = {"kind": "setup", "filter": filter_, "cpus": (), "rlimits": {}, **resources}
        async with self._guarded(START_SECONDS):
            await self._channel.write(frames.packed(setup))
            ready = await self._frame()
            if ready.get("kind") != "ready" or ready.get("pid") != 1:
                raise Broken("the runner is not process 1 of its sandbox")

    async def run(self, command: Command, show: Show = ignore) -> Ended:
        request, seconds = self._request(command)
        async with self._one:
            if self.closed:
                raise Broken
            self._full = False
            exchange = asyncio.ensure_future(self._exchange(request, seconds, show))
            watch = asyncio.ensure_future(self._watch())
            try:
                return await asyncio.shield(exchange)
            except asyncio.CancelledError:
                await self._abandon(exchange)
                raise
            finally:
                watch.cancel()
                self._running, self._used = False, self._now()

    async def cancel(self) -> None:
        if self._running and not self.closed:
            with contextlib.suppress(Broken):
                await self._channel.write(frames.packed({"kind": "cancel"}))

    async def close(self) -> None:
        self.closed = True
        await asyncio.shield(self._channel.kill())

    def _request(self, command: Command) -> tuple[bytes, float]:
        environment = {**ENVIRONMENT, **command.env}
        words = (*command.argv, command.cwd, *environment, *environment.values())
        folder = posixpath.normpath(command.cwd)
        if not command.argv or not command.argv[0]:
            raise Refused("the command is empty")
        if any("\0" in word for word in words) or any("=" in name for name in environment):
            raise Refused("a word of the command contains a NUL, or a variable's name an equals sign")
        if folder.startswith(("/", "..")):
            raise Refused(f"{command.cwd!r} is not a folder of the workspace")
        try:
            size = sum(len(word.encode()) for word in words)
        except UnicodeEncodeError as error:
            raise Refused("a word of the command contains a lone surrogate") from error
        if size > ARGUMENTS_MOST or len(command.stdin) > STDIN_MOST:
            raise Refused(f"a command has at most {ARGUMENTS_MOST} bytes of words and {STDIN_MOST} of input")
        seconds = min(self.limits.seconds if command.seconds is None else command.seconds, self.limits.seconds)
        if not seconds > 0:
            raise Refused(f"{command.seconds} is not a time limit")
        request = {
            "kind": "run",
            "argv": list(command.argv),
            "cwd": posixpath.join(WORKSPACE, folder),
            "env": environment,
            "stdin": base64.b64encode(command.stdin).decode(),
            "seconds": seconds,
            "output": self.limits.output,
        }
        return frames.packed(request), seconds

    async def _exchange(self, request: bytes, seconds: float, show: Show) -> Ended:
        left = self.limits.output
        async with self._guarded(seconds + GRACE_SECONDS):
            # From here on a cancellation follows the request on the channel.
            self._running = True
            await self._channel.write(request)
            while piece := frames.piece(frame := await self._frame()):
                left -= len(piece.data)
                if left < 0:
                    raise Broken("the runner sent more output than it may")
                show(piece)
            code, duration, limit = frames.ended(frame)
        if limit == "cancelled" and self._full:
            limit = "disk"
        if limit is None and code == -9:
            limit = "memory"
        return Ended(code, duration, limit == "output", limit)

    async def _frame(self) -> dict[str, Any]:
        size = frames.length(await self._channel.read(4))
        return frames.parsed(await self._channel.read(size))

    @contextlib.asynccontextmanager
    async def _guarded(self, seconds: float) -> AsyncIterator[None]:
        """End the sandbox if what is done with its channel fails in any way: its state is then unknown."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except BaseException as error:
            await self.close()
            if isinstance(error, TimeoutError):
                raise TimedOut from error
            raise

    async def _abandon(self, exchange: asyncio.Future[Ended]) -> None:
        if not self._running:
            exchange.cancel()
            return
        try:
            await self.cancel()
            await asyncio.wait({exchange}, timeout=GRACE_SECONDS)
        finally:
            # Also if this task is cancelled a second time.
            if not exchange.done():
                exchange.cancel()
                await self.close()
            elif not exchange.cancelled():
                exchange.exception()

    async def _watch(self) -> None:
        """Cancel a command that fills the workspace or a mount, where no file system stops it."""
        if self._watched is None:
            self._watched = await asyncio.to_thread(self._unbounded)
        while self._watched:
            await asyncio.sleep(WATCH_SECONDS)
            for folder in self._watched:
                if await asyncio.to_thread(exceeds, folder, self.limits):
                    self._full = True
                    await self.cancel()

    def _unbounded(self) -> Sequence[Path]:
        writable = [mount.source for mount in self.mounts if mount.writable]
        return [folder for folder in (self.workspace, *writable) if not has_quota(folder, self.limits)]


class Sandboxes:
    """A backend over a launcher: at most one warm sandbox for each session id."""

    def __init__(
        self,
        launcher: Launcher,
        *,
        idle: float = IDLE_SECONDS,
        reap_every: float = REAP_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = launcher.name
        self._launcher, self._idle, self._every, self._now = launcher, idle, reap_every, now
        self._sessions: dict[str, RunnerSession] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._reaper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Sandboxes:
        await self._launcher.prepare()
        await asyncio.to_thread(remove_orphans)
        self._reaper = asyncio.create_task(self._reap_at_intervals())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reaper is not None:
            self._reaper.cancel()
        await self._close(list(self._sessions.values()))

    async def probe(self) -> Report:
        return await probe(self, self._launcher.cures)

    async def open(
        self, session: str, workspace: Path, limits: Limits | None = None, *, mounts: Sequence[Mount] = ()
    ) -> Session:
        if not SESSION_ID.fullmatch(session):
            raise Refused(f"{session!r} is not an id of a session")
        mounts = await asyncio.to_thread(_checked, mounts)
        async with self._opening.setdefault(session, asyncio.Lock()):
            found = self._sessions.get(session)
            if found is not None and not found.closed and (found.workspace, found.mounts) == (workspace, mounts):
                return found
            if found is not None:
                await found.close()
            self._sessions[session] = await self._start(session, workspace, limits or Limits(), mounts)
            return self._sessions[session]

    async def leave(self, session: str) -> None:
        """Remove the session's sandbox, if it has one."""
        await self._close([found for found in self._sessions.values() if found.id == session])

    async def reap(self) -> Sequence[str]:
        """Remove the sandboxes that have been idle for too long; return their sessions."""
        old = [found for found in self._sessions.values() if found.closed or found.idle >= self._idle]
        await self._close(old)
        return [found.id for found in old]

    async def _start(self, session: str, workspace: Path, limits: Limits, mounts: Sequence[Mount]) -> RunnerSession:
        channel, resources = await self._launcher.launch(session, workspace, limits, mounts)
        started = RunnerSession(session, channel, workspace, limits, mounts, self._now)
        try:
            await started.set_up(resources)
        except (Broken, TimedOut) as error:
            raise NoSandbox(f"{self.name} started no runner ({error})", self._launcher.cures["start"]) from error
        return started

    async def _close(self, sessions: Sequence[RunnerSession]) -> None:
        for found in sessions:
            await found.close()
            if self._sessions.get(found.id) is found:
                del self._sessions[found.id]
                self._opening.pop(found.id, None)

    async def _reap_at_intervals(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            if removed := await self.reap():
                log.info("removed idle sandboxes", backend=self.name, sessions=removed)


def _checked(mounts: Sequence[Mount]) -> tuple[Mount, ...]:
    targets = [mount.target for mount in mounts]
    for mount in mounts:
        if not TARGET.fullmatch(mount.target) or SYSTEM.match(mount.target):
            raise Refused(f"nothing can be mounted at {mount.target!r}")
        # By a link, what is mounted could change after the caller looked at it.
        if not mount.source.is_absolute() or mount.source.is_symlink() or not mount.source.exists():
            raise Refused(f"{str(mount.source)!r} is no folder or file of this machine that can be mounted")
        if mount.writable and not mount.source.is_dir():
            raise Refused(f"{str(mount.source)!r} is no folder, and only a folder can be mounted to be written")
    if len(targets) != len(set(targets)):
        raise Refused("two mounts have the same target")
    # A folder before what is mounted inside it.
    return tuple(sorted(mounts, key=lambda mount: mount.target))
