"""From `python -m services` to the first 200 of `/readyz`, and what the platform holds when it has nothing to do."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from rich.text import Text

from tests.benchmarks.contest import ROOT
from tests.benchmarks.rows import Row, most

READY_WITHIN = 60.0
SETTLE_SECONDS, IDLE_SECONDS = 15.0, 30.0
"""Loops that poll rest longer after ten looks without news."""
WAS_PYTHON, WAS_POSTGRES = 19.3, 6.5
"""Milliseconds of CPU a second before polling became quiet, on a machine of two cores."""


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    starts = 2 if quick else 5
    with tempfile.TemporaryDirectory(prefix="suma-bench-") as folder:
        data = Path(folder) / "data"
        tell("the first start")
        async with started(data) as (cold, _, _):
            pass
        warm = []
        for n in range(starts):
            tell(f"warm start {n + 1} of {starts}")
            async with started(data) as (taken, _, _):
                warm.append(taken)
        tell("idle")
        async with started(data) as (_, pid, _):
            await asyncio.sleep(2 if quick else SETTLE_SECONDS)
            seconds = 3 if quick else IDLE_SECONDS
            servers = [child for child in _family(pid) if _is_postgres(child)]
            began, before = time.monotonic(), (cpu([pid]), cpu(servers))
            await asyncio.sleep(seconds)
            took, after = time.monotonic() - began, (cpu([pid]), cpu(servers))
            python, postgres = (1000 * (b - a) / took for a, b in zip(before, after, strict=True))
            whole, alone = sum(map(megabytes, _family(pid))), megabytes(pid)
    return [
        Row("warm start to 200 from /readyz", statistics.median(warm), "s", goal=most(4.0)),
        Row("first start to 200 from /readyz", cold, "s"),
        Row("idle memory, PostgreSQL and Redis included", whole, "MB", goal=most(300.0)),
        Row("idle memory, the platform's process", alone, "MB"),
        Row("idle CPU, the platform's process", python, "ms/s", goal=most(WAS_PYTHON / 2)),
        Row("idle CPU, PostgreSQL", postgres, "ms/s", goal=most(WAS_POSTGRES / 2)),
    ], Text()


@asynccontextmanager
async def started(data: Path) -> AsyncIterator[tuple[float, int, str]]:
    """A platform of its own: the seconds until it was ready, its process, and its URL."""
    port, other = _free(), _free()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SUMA_")},
        "SUMA_DATA_DIR": str(data),
        "SUMA_PORT": str(port),
        "SUMA_MEMORY_PORT": str(other),
        "SUMA_LOG": "error",
        "PYTHONPATH": str(ROOT),
    }
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services", cwd=ROOT, env=environment, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(READY_WITHIN):
            while not await _ready(port):
                if process.returncode is not None:
                    raise RuntimeError("the platform did not start")
                await asyncio.sleep(0.01)
        yield time.perf_counter() - began, process.pid, f"http://127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        await process.wait()


async def _ready(port: int) -> bool:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    try:
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return b" 200 " in await reader.readline()
    except OSError:
        return False
    finally:
        writer.close()


def _free() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _family(pid: int) -> Iterator[int]:
    """The process and all below it, its servers among them."""
    yield pid
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rsplit(")", 1)[1].split()[1]) == pid:
                yield from _family(int(stat.parent.name))


def _is_postgres(pid: int) -> bool:
    with suppress(OSError):
        return b"postgres" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def cpu(pids: Iterable[int]) -> float:
    """The seconds of CPU that all threads of these processes have used."""
    used = 0
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):
                used += int(thread.read_text().split()[0])
    return used / 1e9


def megabytes(pid: int) -> float:
    """Its proportional share of memory (PSS): what is shared counts once."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0
