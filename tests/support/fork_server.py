"""The fork server: a process that has imported the platform, and forks the processes that tests start, stop and kill.

A start by `python -m services` spends two seconds on imports, and one of the command line a second. A fork runs the
same module as `python -m` would, as a process of its own, with its own arguments, signals, files, folder and
environment. It runs what was imported when the fork server began, whatever is edited meanwhile; tests of starts use
the command.

A request over a socket carries the files to use. The answers say which process was started, and how each has ended.
"""

from __future__ import annotations

import array
import asyncio
import atexit
import ctypes
import gc
import itertools
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from deploy.local.fleet import Birth, Child

KILL_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
WISH_MOST = 1 << 18
LINE_MOST = 1 << 20
ROOT = Path(__file__).parents[2]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""A process that forks must have no other threads."""
WIDE = ("COLUMNS", "LINES")
"""rich reads a terminal's size from these when a console is created. Workers of pytest-xdist have them."""
MORE = (
    *("services.start", "uvloop", "httpx", "boto3", "networkx"),
    *("libs.policy.rego", "libs.policy.opa", "libs.objects.filesystem", "libs.objects.s3", "libs.bus.kafka"),
    *("libs.models.vendors", "libs.models.offline.agreement"),
    *("services.cli.commands", "services.cli.operators", "services.cli.evals", "services.cli.demo"),
)
"""Modules that some profile imports on demand."""


class Forked:
    """A process that the fork server has forked, with the interface of an ordinary child."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._ended = asyncio.Event()

    def send_signal(self, what: signal.Signals) -> None:
        # It may have ended, and been reaped, before we learn of it.
        with suppress(ProcessLookupError):
            if self.returncode is None:
                os.kill(self.pid, what)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Return its exit code; negative for a signal."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    async def communicate(self) -> tuple[bytes, bytes]:
        """Return its remaining output, once it has ended."""
        out, err, _ = await asyncio.gather(_rest(self.stdout), _rest(self.stderr), self.wait())
        return out, err

    def has_ended(self, code: int) -> None:
        self.returncode = code
        self._ended.set()


class ForkServer:
    """The test's interface to the fork server: `async with ForkServer() as server`."""

    def __init__(self) -> None:
        self._alive: dict[int, Forked] = {}
        self._numbers = itertools.count(1)
        self._wished: dict[int, asyncio.Future[Forked]] = {}

    async def __aenter__(self) -> ForkServer:
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
                env={**_plain(), "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1", **ONE_THREAD},
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                preexec_fn=_die_with_parent,
            )
        asyncio.get_running_loop().add_reader(self._door, self._hear)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over()
        self._door.close()
        self._process.kill()
        await asyncio.to_thread(self._process.wait)

    async def begin(
        self,
        module: str,
        *arguments: str,
        environment: Mapping[str, str],
        at: Path | None = None,
        errors: Path | None = None,
    ) -> Forked:
        """Run `python -m module arguments…` with readable output; errors too, unless they go to a file."""
        (out, theirs), (err, complaints) = os.pipe(), os.pipe() if errors is None else (None, _appended(errors))
        try:
            child = await self.spawn(module, arguments, environment, at=at, files=(None, theirs, complaints))
        finally:
            os.close(theirs)
            os.close(complaints)
        child.stdout = await _reader(out)
        child.stderr = await _reader(err) if err is not None else None
        return child

    async def spawn(
        self,
        module: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        *,
        at: Path | None = None,
        files: tuple[int | None, int, int],
    ) -> Forked:
        """Fork a process with these files as its input (None: empty), output and errors."""
        given, out, err = files
        nothing = os.open(os.devnull, os.O_RDONLY)
        number = next(self._numbers)
        wish = {"number": number, "module": module, "arguments": arguments, "at": str(at or Path.cwd())}
        born: asyncio.Future[Forked] = asyncio.get_running_loop().create_future()
        self._wished[number] = born
        try:
            told = json.dumps({**wish, "environment": dict(environment)}).encode()
            socket.send_fds(self._door, [told], array.array("i", [nothing if given is None else given, out, err]))
            return await born
        finally:
            os.close(nothing)

    def _hear(self) -> None:
        heard = b""
        with suppress(ConnectionResetError):
            heard = self._door.recv(WISH_MOST)
        match json.loads(heard or b"{}"):
            case {"born": pid, "number": number}:
                self._alive[pid] = child = Forked(pid)
                born = self._wished.pop(number)
                if born.cancelled():
                    child.kill()
                else:
                    born.set_result(child)
            case {"ended": pid, "code": code}:
                self._alive.pop(pid).has_ended(code)
            case _:
                self._over()

    def _over(self) -> None:
        """Handle the fork server's end, which ends all its children."""
        asyncio.get_running_loop().remove_reader(self._door)
        for child in self._alive.values():
            child.has_ended(-signal.SIGKILL)
        for born in self._wished.values():
            if not born.done():
                born.set_exception(RuntimeError("the fork server has ended"))


def forked(server: ForkServer) -> Birth:
    """Start a process through a fork server: frequent imports would overload a small machine."""

    async def birth(service: str, environment: Mapping[str, str], log: Path) -> Child:
        with log.open("ab") as out:
            files = (None, out.fileno(), out.fileno())
            return await server.spawn("services", [*filter(None, [service])], environment, files=files)

    return birth


_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, ForkServer] = WeakKeyDictionary()


async def shared() -> ForkServer:
    """Return the fork server that all tests on this loop share; the test process ends it."""
    loop = asyncio.get_running_loop()
    if loop not in _shared:
        _shared[loop] = await ForkServer().__aenter__()
    return _shared[loop]


async def close_shared() -> None:
    """End the fork server of this loop, and all its children."""
    if (server := _shared.pop(asyncio.get_running_loop(), None)) is not None:
        await server.__aexit__()


def _plain() -> dict[str, str]:
    """Return our environment without variables that modules read at import: each child gets its own."""
    return {name: value for name, value in os.environ.items() if name not in WIDE and not name.startswith("SUMA_")}


async def _rest(reader: asyncio.StreamReader | None) -> bytes:
    return await reader.read() if reader is not None else b""


async def _reader(pipe: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=LINE_MOST)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(pipe, "rb", 0)
    )
    return reader


def _appended(file: Path) -> int:
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(KILL_WITH_PARENT, signal.SIGKILL)


# In the fork server itself


def serve(door: socket.socket) -> None:
    """Fork on request, and report each child's end, until the requests end. Single-threaded."""
    _import()
    hear, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([door.fileno(), hear], [], [])
        if hear in ready:
            os.read(hear, 4096)
            _reap(door)
        if door.fileno() in ready:
            wish, files, _, _ = socket.recv_fds(door, WISH_MOST, 3)
            if not wish:
                return
            _spawn(json.loads(wish), files, door, (hear, tell))
            for file in files:
                os.close(file)


def _import() -> None:
    from services import catalog, wiring

    for entry in catalog.SERVICES:
        import_module(entry.module)
        entry.settings()
    for module in (*wiring.ADAPTERS, *MORE):
        import_module(module)
    # Freeze existing objects, so that collections in children do not copy their pages.
    gc.collect()
    gc.freeze()


def _spawn(wish: Mapping[str, Any], files: Sequence[int], door: socket.socket, pipes: tuple[int, int]) -> None:
    pid = os.fork()
    if pid:
        _say(door, born=pid, number=wish["number"])
        return
    try:
        _become(wish, files, (door.fileno(), *pipes))
        code = _run(wish["module"])
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _become(wish: Mapping[str, Any], files: Sequence[int], spare: Sequence[int]) -> None:
    """Run as a separate process that shares only the fork server's memory."""
    _die_with_parent()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for there, here in enumerate(files):
        os.dup2(here, there)
    for each in (*files, *spare):
        os.close(each)
    os.chdir(wish["at"])
    os.environ.clear()
    os.environ.update(wish["environment"])
    sys.argv = [wish["module"], *wish["arguments"]]
    # Reopen the standard streams as terminals or pipes, as their files now are.
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, 1, "utf-8", closefd=False) for number, mode in enumerate("rww")
    )


def _run(module: str) -> int:
    """Run the module, and what an interpreter does after it."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code: object = 0
    except SystemExit as end:
        code = end.code
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if code is None or isinstance(code, int):
        return code or 0
    sys.stderr.write(f"{code}\n")
    return 1


def _reap(door: socket.socket) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            _say(door, ended=ended[0], code=os.waitstatus_to_exitcode(ended[1]))


def _say(door: socket.socket, **what: int) -> None:
    # The reader may be gone.
    with suppress(OSError):
        door.send(json.dumps(what).encode())


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
