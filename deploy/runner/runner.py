"""The runner: process 1 of a sandbox. It runs one command at a time, and after each one kills all that is left of it.

It imports nothing of Suma. It reads frames on stdin and answers on stdout: four bytes of length, then JSON
(libs/sandbox/frames.py is the other side). The first frame, `setup`, holds the resource limits and the system call
filter, which it applies to itself; the commands inherit both. At the end of stdin it exits, and with it all else.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import select
import signal
import struct
import time
from collections.abc import Sequence
from typing import Any, NoReturn

PIECE = 32 * 1024
NOT_FOUND, NOT_PERMITTED = 127, 126
"""Exit codes of a shell for a program that it cannot start."""
SET_DUMPABLE, SET_SECCOMP, SET_NO_NEW_PRIVS, FILTER = 4, 22, 38, 2
IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGQUIT)
NAMES = ("stdout", "stderr")


class Filter(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


class Runner:
    """The loop over the frames of one channel."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        # SIGCHLD writes a byte here, so that one poll waits for output, for the host and for children.
        self._wake, writer = os.pipe()
        for fd in (self._wake, writer):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def serve(self) -> NoReturn:
        while True:
            frame = self._receive()
            if frame["kind"] == "setup":
                self._send(kind="ready", pid=setup(frame))
            elif frame["kind"] == "run":
                self._run(frame)

    def _receive(self) -> dict[str, Any]:
        (size,) = struct.unpack(">I", self._exactly(4))
        frame: dict[str, Any] = json.loads(self._exactly(size))
        return frame

    def _exactly(self, size: int) -> bytes:
        read = b""
        while len(read) < size:
            piece = os.read(self._incoming, size - len(read))
            if not piece:
                # The host is gone; the end of process 1 ends its namespace.
                os._exit(0)
            read += piece
        return read

    def _send(self, **frame: Any) -> None:
        raw = json.dumps(frame).encode()
        raw = struct.pack(">I", len(raw)) + raw
        while raw:
            raw = raw[os.write(self._outgoing, raw) :]

    def _run(self, frame: dict[str, Any]) -> None:
        self._left = frame["output"]
        stdin = os.memfd_create("stdin")
        os.write(stdin, base64.b64decode(frame["stdin"]))
        os.lseek(stdin, 0, os.SEEK_SET)
        ends = [os.pipe() for _ in NAMES]
        began = time.monotonic()
        child = start(frame, (stdin, *(writer for _, writer in ends)))
        for fd in (stdin, *(writer for _, writer in ends)):
            os.close(fd)
        readers = {reader: name for (reader, _), name in zip(ends, NAMES, strict=True)}
        limit, code = self._watch(child, readers, began + frame["seconds"])
        swept = sweep(child)
        # Nothing writes any more, so what the pipes still hold is the rest.
        for reader, name in readers.items():
            os.set_blocking(reader, False)
            while limit is None and (piece := read(reader)):
                limit = self._pass(name, piece)
            os.close(reader)
        duration = time.monotonic() - began
        self._send(kind="ended", code=swept if code is None else code, limit=limit, seconds=duration)

    def _watch(self, child: int, readers: dict[int, str], until: float) -> tuple[str | None, int | None]:
        """Wait until the command ends or meets a limit; return the limit, or its exit code."""
        poll = select.poll()
        for fd in (self._incoming, self._wake, *readers):
            poll.register(fd, select.POLLIN)
        while (left := until - time.monotonic()) > 0:
            for fd, _ in poll.poll(left * 1000):
                if fd == self._incoming:
                    # Only a cancellation is sent while a command runs.
                    self._receive()
                    return "cancelled", None
                if fd == self._wake:
                    read(fd)
                    code = reaped(child, os.WNOHANG)
                    if code is not None:
                        return None, code
                elif not (piece := read(fd)):
                    poll.unregister(fd)
                elif limit := self._pass(readers[fd], piece):
                    return limit, None
        return "time", None

    def _pass(self, name: str, piece: bytes) -> str | None:
        kept = piece[: self._left]
        if kept:
            self._send(kind=name, data=base64.b64encode(kept).decode())
        self._left -= len(kept)
        return "output" if len(kept) < len(piece) else None


def setup(frame: dict[str, Any]) -> int:
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    # A command has the same user, and could otherwise open this process's memory and channel in /proc.
    prctl(SET_DUMPABLE, 0)
    prctl(SET_NO_NEW_PRIVS, 1)
    if frame["cpus"]:
        os.sched_setaffinity(0, frame["cpus"])
    for name, value in frame["rlimits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    if raw := base64.b64decode(frame["filter"]):
        program = Filter(len(raw) // 8, raw)
        prctl(SET_SECCOMP, FILTER, ctypes.addressof(program))
    return os.getpid()


def prctl(option: int, value: int, address: int = 0) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, *map(ctypes.c_ulong, (value, address, 0, 0))) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def start(frame: dict[str, Any], fds: Sequence[int]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        for number in (*IGNORED, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        # If memory runs out, a command ends and not process 1. Only a dumpable process may write its own score.
        prctl(SET_DUMPABLE, 1)
        with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 - pathlib costs 10 ms of each start
            score.write("1000")
        for target, fd in enumerate(fds):
            os.dup2(fd, target)
        os.chdir(frame["cwd"])
        os.execvpe(frame["argv"][0], frame["argv"], frame["env"])  # noqa: S606 - that is its task
    except BaseException as error:
        why = getattr(error, "strerror", None) or str(error)
        os.write(2, f"{frame['argv'][0]}: {why}\n".encode(errors="replace"))
        os._exit(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_PERMITTED)


def read(fd: int) -> bytes:
    try:
        return os.read(fd, PIECE)
    except BlockingIOError:
        return b""


def sweep(child: int) -> int | None:
    """Kill everything else in the namespace; return the exit code of the command if it ended now."""
    try:
        # Outside a namespace of its own it would kill all processes of its user.
        os.kill(-1 if os.getpid() == 1 else -child, signal.SIGKILL)
    except ProcessLookupError:
        return None
    return reaped(child, 0)


def reaped(child: int, options: int) -> int | None:
    """Take the exit codes of all children that have ended, without WNOHANG of all children; return that of `child`."""
    code = None
    while True:
        try:
            pid, status = os.waitpid(-1, options)
        except ChildProcessError:
            return code
        if pid == 0:
            return code
        if pid == child:
            code = os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    # Away from 0 to 2, which belong to the commands; no command inherits a copy.
    Runner(os.dup(0), os.dup(1)).serve()
