"""What the platform holds after many sessions have looked at one large folder (architecture.md 10)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from rich.text import Text

from tests.benchmarks.contest import ROOT
from tests.benchmarks.rows import Row, most
from tests.benchmarks.start import megabytes, started
from tests.benchmarks.workspace import fill

SESSIONS, FILES, AT_ONCE = 20, 100_000, 1
QUESTION = "how many files are there?"


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    sessions, files = (4, 20_000) if quick else (SESSIONS, FILES)
    with tempfile.TemporaryDirectory(prefix="suma-bench-") as folder:
        root, data = Path(folder) / "large", Path(folder) / "data"
        tell(f"making {files:,} files")
        fill(root, files)
        async with started(data) as (_, pid, url):
            (data / "roots.json").write_text(json.dumps([str(root)]), "utf-8")
            before = megabytes(pid)
            for number in range(0, sessions, AT_ONCE):
                tell(f"session {number} of {sessions}")
                await asyncio.gather(*(_asked(root, data, url) for _ in range(AT_ONCE)))
            after = megabytes(pid)
    what = f"{sessions} sessions on {files:,} files"
    return [
        Row(f"memory before {what}, the platform's process", before, "MB"),
        Row(f"memory after {what}", after, "MB", goal=most(400.0)),
    ], Text()


async def _asked(root: Path, data: Path, url: str) -> None:
    """A session of its own, as a person starts one."""
    command = (sys.executable, "-m", "services.cli", "run", QUESTION, "--in", str(root))
    environment = {**os.environ, "SUMA_DATA_DIR": str(data), "SUMA_URL": url, "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"the platform did not answer: {said.decode()}")
