"""Data directories to start servers in, and a start that is killed halfway."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from libs.embedded.postgres import Postgres, ephemeral

ROOT = Path(__file__).parents[4]

Killed = Callable[[str], str]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return folder


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with a stopped cluster."""
    folder = tmp_path_factory.mktemp("made")
    async with Postgres(folder):
        pass
    return folder


@pytest.fixture
def started_before(made: Path, data: Path) -> Path:
    """Return `data` as a stopped platform left it."""
    subprocess.run(["cp", "-a", f"{made}/postgres", data], check=True)
    return data


@pytest.fixture
def killed(data: Path) -> Killed:
    """Run a platform's coroutine `main(data)` in its own process until it kills itself with `die()` (SIGKILL)."""

    def run(main: str) -> str:
        program = "import asyncio, os, signal, sys\nfrom pathlib import Path\n"
        program += "def die(): os.kill(os.getpid(), signal.SIGKILL)\n"
        program += textwrap.dedent(main) + "\nasyncio.run(main(Path(sys.argv[1])))"
        ran = subprocess.run(
            [sys.executable, "-c", program, str(data)],
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
        )
        assert ran.returncode == -signal.SIGKILL
        return ran.stdout.strip()

    return run


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def server() -> AsyncIterator[Postgres]:
    async with ephemeral() as running:
        yield running
