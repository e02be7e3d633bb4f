"""Six services as six processes, on servers by URL: they start in any order, do a whole turn, are watched, and leave in
order. All that only looks at the production profile stands here, because a start of it costs a minute."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from libs import ids
from libs.runtime.embedded.datadir import DataDirectory
from services import catalog
from tests.chaos.fleet import forked
from tests.chaos.servers import serving
from tests.deploy.dashboards import panels
from tests.infrastructure.cache import Unprovided
from tests.infrastructure.prometheus import Prometheus, prometheus
from tests.infrastructure.up import NOT_TO_BE_HAD, Up, up
from tests.infrastructure.wish import TIDY, done, files, messy
from tests.nursery import shared

HOUSE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that sessions may work in."""
    return tmp_path_factory.mktemp("work")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def real(tmp_path_factory: pytest.TempPathFactory, work: Path) -> AsyncIterator[Up]:
    """The profile at work."""
    try:
        birth = forked(await shared())
        async with up(tmp_path_factory.mktemp("real"), roots=[work], birth=birth) as made:
            yield made
    except Unprovided as reason:
        pytest.skip(str(reason))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def watched(real: Up, work: Path) -> AsyncIterator[Prometheus]:
    """A Prometheus that has watched the six processes through two turns."""
    targets = {name: real.url(name).removeprefix("http://") for name in real.programs}
    try:
        async with prometheus(targets) as made:
            async with real.api() as api:
                # Twice: a rate is of what has grown since it was first seen.
                for _ in range(2):
                    await made.scraped_again()
                    await done(api, messy(work / ids.new()))
            await made.scraped_again()
            yield made
    except Unprovided as reason:
        pytest.skip(str(reason))


# First, while no other profile is up.
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


@pytest.mark.requirement("A37")
async def test_every_panel_of_the_dashboards_has_data_after_a_turn(watched: Prometheus) -> None:
    # In one test: the profile is up once for all of them.
    found = {name: await watched.ask(expression) for name, expression in panels()}
    empty = [name for name, samples in found.items() if all(sample["value"][1] == "NaN" for sample in samples)]
    assert empty == []


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
