"""Six services as six processes, on servers by URL: they start in any order, do a whole turn, and leave in order."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from pathlib import Path

import httpx
import pytest

from libs import ids
from libs.runtime.embedded.datadir import DataDirectory
from services import catalog
from tests.chaos.servers import serving
from tests.infrastructure.up import NOT_TO_BE_HAD, Up
from tests.infrastructure.wish import TIDY, done, files, messy

HOUSE = Path(__file__).parents[2]


@pytest.mark.requirement("P1", "S3-65")
async def test_a_turn_through_six_processes_changes_the_files_that_were_agreed_on(real: Up, work: Path) -> None:
    folder = messy(work / ids.new())
    async with real.api() as api:
        ended = await done(api, folder)
    assert (ended["type"], ended["data"]["state"]) == ("turn.ended", "completed")
    assert files(folder) == TIDY


async def test_each_process_says_that_it_lives_that_it_is_ready_and_what_it_counts(real: Up) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
        for service in catalog.NAMES:
            for path in ("/healthz", "/readyz", "/metrics"):
                await until_well(http, real.url(service) + path)


async def test_ctrl_c_at_make_up_real_ends_everything_in_order_and_leaves_nothing_running(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "tests.infrastructure.up", "--any-port", "--data", str(tmp_path))
    process = await asyncio.create_subprocess_exec(*command, cwd=HOUSE, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    first = await process.stdout.readline()
    if not first and await process.wait() == NOT_TO_BE_HAD:
        pytest.skip("the production profile cannot be had on this machine; what was printed says why")
    assert b"The production profile is up at" in first
    process.send_signal(signal.SIGINT)
    said, _ = await process.communicate()
    assert process.returncode == 0
    assert str(DataDirectory(tmp_path / "suma").key_file).encode() in said
    assert {ended(log) for log in (tmp_path / "logs").glob("*.log")} == {"0"}
    assert serving(tmp_path) == []


async def until_well(http: httpx.AsyncClient, url: str) -> None:
    """Readiness is the last look's, and a look at a busy machine may have taken too long."""
    answer = await http.get(url)
    async with asyncio.timeout(60):
        while answer.status_code != 200:
            await asyncio.sleep(0.2)
            answer = await http.get(url)


def ended(log: Path) -> str:
    """The exit code of a service's only life."""
    codes = re.findall(r"^--- ended with (\S+) at", log.read_text(), re.MULTILINE)
    assert len(codes) == 1, log.read_text()
    return str(codes[0])
