"""Six services as six processes, on servers by URL: they start in any order, run a whole turn, are monitored, and stop
in order. All tests that only observe the production profile are here, because its start takes a minute.
"""

from __future__ import annotations

import asyncio
import json
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

from deploy.local.cache import Unprovided
from deploy.local.fleet import Program
from deploy.local.up import NOT_TO_BE_HAD, Servers, Up, servers, services
from libs import ids
from services import catalog
from tests.chaos.servers import serving
from tests.deploy.backup import back_up, restore
from tests.deploy.dashboards import panels
from tests.infrastructure.prometheus import SETTLE_SECONDS, Prometheus, prometheus
from tests.infrastructure.wish import TIDY, answered, asked, begun, done, files, get, messy
from tests.support.fork_server import forked, shared

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that sessions may work in."""
    return tmp_path_factory.mktemp("work")


@dataclass
class Running:
    """Run `make up-real`."""

    process: asyncio.subprocess.Process
    up: Up
    """Its output."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(tmp_path_factory: pytest.TempPathFactory, work: Path) -> AsyncIterator[Running]:
    folder = tmp_path_factory.mktemp("real")
    command = (sys.executable, "-m", "tests.support.forked_up", "--any-port", "--data", str(folder))
    environment = {**os.environ, "SUMA_ROOTS": str(work), "SA01_ENABLE_multimodal_capabilities": "true"}
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE)
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
    """The running profile."""
    return running.up


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def watched(real: Up, work: Path) -> AsyncIterator[Prometheus]:
    """Yield a Prometheus that has scraped the six processes during two turns."""
    targets = {name: real.url(name).removeprefix("http://") for name in real.programs}
    try:
        async with prometheus(targets) as made:
            async with real.api() as api:
                # Two turns: a rate measures growth since the first scrape.
                for _ in range(2):
                    await made.scraped_again()
                    await done(api, messy(work / ids.new()))
                    await charted(api, messy(work / ids.new()))
            await made.scraped_again(after=SETTLE_SECONDS)
            yield made
    except Unprovided as reason:
        pytest.skip(str(reason))


async def charted(api: httpx.AsyncClient, folder: Path) -> None:
    """Make a chart of the files of a folder."""
    task = {"task_id": "types", "step_type": "generate_chart", "modality": "image", "inputs": {"of": "file_types"}}
    plan = {"version": "1.0", "tasks": [task]}
    begun = (await api.post("/v1/multimodal/jobs", json={"plan": plan, "root": str(folder)})).json()
    await answered(api, begun["session_id"], begun["job_id"])


@pytest.mark.requirement("P1", "S3-65")
async def test_turn_through_six_processes_changes_the_approved_files(real: Up, work: Path) -> None:
    folder = messy(work / ids.new())
    async with real.api() as api:
        ended = await done(api, folder)
    assert (ended["type"], ended["data"]["state"]) == ("turn.ended", "completed")
    assert files(folder) == TIDY


async def test_each_process_serves_liveness_readiness_and_metrics(real: Up) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
        for service in catalog.NAMES:
            for path in ("/healthz", "/readyz", "/metrics"):
                await until_well(http, real.url(service) + path)


async def test_status_finds_the_services_by_the_data_directory(real: Up) -> None:
    environment = {**os.environ, "SUMA_DATA_DIR": str(real.directory.path)}
    command = (sys.executable, "-m", "services.cli", "status", "--json")
    asked = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE)
    out, _ = await asked.communicate()
    found = json.loads(out)
    assert found["url"] == real.url()
    assert [name for name, state in found["services"].items() if "does not answer" in state] == []


async def test_gateway_asks_each_process_for_its_health(real: Up) -> None:
    async with real.api() as api:
        found = (await get(api, "/v1/health/services"))["services"]
    assert {each["service"]: each["state"] for each in found} == dict.fromkeys(catalog.NAMES, "ready")
    assert len({each["pid"] for each in found}) == len(catalog.NAMES)


@pytest.mark.requirement("A37", "S3-61")
async def test_every_panel_of_the_dashboards_has_data_after_a_turn(watched: Prometheus) -> None:
    # One test for all processes: the profile is started once.
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


# It stops the profile that the tests above use, once its backup is made.
async def test_ctrl_c_at_make_up_real_stops_all_processes(running: Running, kept: Kept) -> None:
    folder = running.up.folder
    running.process.send_signal(signal.SIGINT)
    await running.process.communicate()
    assert running.process.returncode == 0
    assert {ended(log) for log in (folder / "logs").glob("*.log")} == {"0"}
    assert serving(folder) == []


async def test_turn_open_at_the_backup_ends_after_the_restore(kept: Kept, work: Path, tmp_path: Path) -> None:
    async with servers(tmp_path / "servers") as fresh:
        restore(kept.backup, tmp_path, fresh)
        birth = forked(await shared())
        async with services(tmp_path, fresh, roots=[work], birth=birth) as again, again.api() as api:
            last = await answered(api, kept.session, kept.turn)
    assert (last["type"], last["data"]["state"]) == ("turn.ended", "completed")
    assert files(kept.folder) == TIDY


async def until_well(http: httpx.AsyncClient, url: str) -> None:
    """Readiness shows the last check, which may have timed out on a busy machine."""
    answer = await http.get(url)
    async with asyncio.timeout(60):
        while answer.status_code != 200:
            await asyncio.sleep(0.2)
            answer = await http.get(url)


def ended(log: Path) -> str:
    """Return the exit code of a service's only run."""
    codes = re.findall(r"^--- ended with (\S+) at", log.read_text(), re.MULTILINE)
    assert len(codes) == 1, log.read_text()
    return str(codes[0])
