"""The nursery: a process that has imported the platform, and forks the processes that a run of chaos kills.

A start by `python -m services NAME` spends two seconds on imports; where processes die every few seconds, that would be
all that a small machine does. What is forked runs the very same `main`, as a process of its own, with its own signals,
files and environment. And it runs what was imported when the run began, whatever is edited meanwhile.

Asked by lines of JSON on its standard input, it answers by lines on its output: who was born, and how each has ended.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import os
import select
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from services import catalog, wiring

KILL_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
LINE_MOST = 1 << 20
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Who forks has no other threads."""
MORE = (
    *("services.__main__", "services.start", "uvloop", "httpx", "boto3"),
    *("libs.policy.rego", "libs.policy.opa", "libs.objects.filesystem", "libs.objects.s3", "libs.bus.kafka"),
)
"""What is imported when it is needed, by one profile or another."""


class Forked:
    """A process that the nursery has borne; the same verbs as a child's of our own."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = asyncio.Event()

    def send_signal(self, what: signal.Signals) -> None:
        os.kill(self.pid, what)

    async def wait(self) -> int:
        """How it ended; negative for a signal."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def has_ended(self, code: int) -> None:
        self.returncode = code
        self._ended.set()


class Nursery:
    """The nursery as the harness sees it: `async with Nursery() as nursery`."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._alive: dict[int, Forked] = {}
        self._born: asyncio.Queue[Forked] = asyncio.Queue()
        self._asking = asyncio.Lock()

    async def __aenter__(self) -> Nursery:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", __name__),
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONFAULTHANDLER": "1", **ONE_THREAD},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE_MOST,
            preexec_fn=_die_with_parent,
        )
        self._listening = asyncio.ensure_future(self._listen(self._process))
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._process is not None
        assert self._listening is not None
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await self._listening

    async def bear(self, service: str, environment: Mapping[str, str], log: Path) -> Forked:
        """A new process that runs this service (empty: all of them); what it says is added to the log."""
        assert self._process is not None
        assert self._process.stdin is not None
        wish = {"service": service, "environment": dict(environment), "log": str(log)}
        async with self._asking:
            self._process.stdin.write(json.dumps(wish).encode() + b"\n")
            return await self._born.get()

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            said = json.loads(line)
            if "born" in said:
                self._alive[said["born"]] = child = Forked(said["born"])
                self._born.put_nowait(child)
            else:
                self._alive.pop(said["ended"]).has_ended(said["code"])


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(KILL_WITH_PARENT, signal.SIGKILL)


# In the nursery itself


def serve() -> None:
    """Fork whatever is asked for, and tell of each that ends, until nobody asks any more. It has one thread."""
    _import()
    hear, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    asked = b""
    while True:
        ready, _, _ = select.select([0, hear], [], [])
        if hear in ready:
            os.read(hear, 4096)
            _bury()
        if 0 in ready:
            piece = os.read(0, LINE_MOST)
            if not piece:
                return
            *lines, asked = (asked + piece).split(b"\n")
            for line in lines:
                _bear(json.loads(line), (hear, tell))


def _import() -> None:
    for entry in catalog.SERVICES:
        import_module(entry.module)
        entry.settings()
    for module in (*wiring.ADAPTERS, *MORE):
        import_module(module)
    # What is there stays, and is not copied into each child by a collection that only looks at it.
    gc.collect()
    gc.freeze()


def _bear(wish: Mapping[str, Any], pipes: tuple[int, int]) -> None:
    pid = os.fork()
    if pid:
        _say(born=pid)
        return
    try:
        _become(wish, pipes)
        from services.__main__ import main

        code = main([wish["service"]] if wish["service"] else [])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _become(wish: Mapping[str, Any], pipes: tuple[int, int]) -> None:
    """A process of its own: nothing of the nursery's is left but its memory."""
    _die_with_parent()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(wish["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for here, there in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(here, there)
    for spare in (log, nothing, *pipes):
        os.close(spare)
    os.environ.clear()
    os.environ.update(wish["environment"])


def _bury() -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            _say(ended=ended[0], code=os.waitstatus_to_exitcode(ended[1]))


def _say(**what: int) -> None:
    os.write(1, json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    serve()
