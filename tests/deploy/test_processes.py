"""Six services as six processes, on servers by URL: they start in any order, do a whole turn, are watched, and leave in
order. All that only looks at the production profile stands here, because a start of it costs a minute."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from libs import ids
from services import catalog
from tests.chaos.fleet import Program, forked
from tests.chaos.servers import serving
from tests.deploy.backup import back_up, restore
from tests.deploy.dashboards import panels
from tests.infrastructure.cache import Unprovided
from tests.infrastructure.prometheus import Prometheus, prometheus
from tests.infrastructure.up import NOT_TO_BE_HAD, Servers, Up, servers, services
from tests.infrastructure.wish import TIDY, answered, asked, begun, done, files, messy
from tests.nursery import shared

HOUSE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that sessions may work in."""
    return tmp_path_factory.mktemp("work")


@dataclass
class Running:
    """`make up-real` at work."""

    process: asyncio.subprocess.Process
    up: Up
    """What it has told of itself."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(tmp_path_factory: pytest.TempPathFactory, work: Path) -> AsyncIterator[Running]:
    folder = tmp_path_factory.mktemp("real")
    command = (sys.executable, "-m", "tests.infrastructure.up", "--any-port", "--data", str(folder))
    environment = {**os.environ, "SUMA_ROOTS": str(work)}
    process = await asyncio.create_subprocess_exec(*command, cwd=HOUSE, env=environment, stdout=asyncio.subprocess.PIPE)
    try:
        yield Running(process, await told(process, folder))
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def told(process: asyncio.subprocess.Process, folder: Path) -> Up:
    assert process.stdout is not None
    first = (await process.stdout.readline()).decode()
    if not first and await process.wait() == NOT_TO_BE_HAD:
        pytest.skip("the production profile cannot be had on this machine; what was printed says why")
    assert "The production profile is up at" in first
    rows = {}
    while line := (await process.stdout.readline()).decode().strip():
        name, _, where = line.partition("  ")
        rows[name] = where.split()[0]
    programs = {name: Program(name, name, {}, folder, int(rows[name].rpartition(":")[2])) for name in catalog.NAMES}
    return Up(folder, Servers(told=rows), programs)


@pytest.fixture(scope="module")
def real(running: Running) -> Up:
    """The profile at work."""
    return running.up


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


@dataclass(frozen=True)
class Kept:
    """A backup, and a turn that waited for a person when it was made."""

    backup: Path
    folder: Path
    session: str
    turn: str


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def kept(real: Up, work: Path, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    backup, folder = tmp_path_factory.mktemp("kept") / "backup", messy(work / ids.new())
    async with real.api() as api:
        session, turn = await begun(api, folder)
        await asked(api, session)
    back_up(real, backup)
    return Kept(backup, folder, session, turn)


# It stops what the tests above look at, once the backup of it is made.
async def test_ctrl_c_at_make_up_real_ends_everything_in_order_and_leaves_nothing_running(
    running: Running, kept: Kept
) -> None:
    folder = running.up.folder
    running.process.send_signal(signal.SIGINT)
    await running.process.communicate()
    assert running.process.returncode == 0
    assert {ended(log) for log in (folder / "logs").glob("*.log")} == {"0"}
    assert serving(folder) == []


async def test_a_turn_that_was_open_at_the_backup_ends_after_the_restore(
    kept: Kept, work: Path, tmp_path: Path
) -> None:
    async with servers(tmp_path / "servers") as standing:
        restore(kept.backup, tmp_path, standing)
        birth = forked(await shared())
        async with services(tmp_path, standing, roots=[work], birth=birth) as again, again.api() as api:
            last = await answered(api, kept.session, kept.turn)
    assert (last["type"], last["data"]["state"]) == ("turn.ended", "completed")
    assert files(kept.folder) == TIDY


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
