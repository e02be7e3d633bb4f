"""Open workspaces take memory by bytes, share what they can, and give it back."""

from __future__ import annotations

import asyncio
import gc
import os
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from libs.database import Dsns
from services.tool_executor.settings import Settings
from services.tool_executor.workspaces import OPEN_BYTES, Workspaces
from tests.support.platform import run_platform, scripted_model

TENANT, FILES, MANY = "local", 2_000, 10_000


def resident() -> int:
    """Return the bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@asynccontextmanager
async def opened(
    home: Dsns, folder: Path, *, files: int = FILES, **settings: float
) -> AsyncIterator[tuple[Workspaces, Path]]:
    """The workspaces of a platform, and an allowed folder of many files."""
    async with run_platform(home, folder, model=scripted_model()) as at:
        where = at.folder(*(f"{number:05}.txt" for number in range(files)))
        limits = Settings.model_validate({"roots": (at.root,), **settings})
        on = at.platform
        made = Workspaces(on.database, on.objects, on.keys, limits, data_dir=on.data_dir)
        yield made, where


async def test_sessions_of_a_folder_share_its_scan(home: Dsns, tmp_path: Path) -> None:
    async with opened(home, tmp_path) as (workspaces, where):
        for number in range(20):
            workspaces.keep(TENANT, str(number), await workspaces.take(TENANT, str(number), str(where)))
        one, other = [await workspaces.take(TENANT, session, str(where)) for session in ("0", "19")]
        assert one.scan is other.scan
        assert workspaces.kept.nbytes < one.scan.nbytes + 20 * OPEN_BYTES
        (where / "new.txt").touch()
        assert (await workspaces.take(TENANT, "20", str(where))).scan is not one.scan


async def test_further_sessions_of_a_folder_take_little_memory(home: Dsns, tmp_path: Path) -> None:
    async with opened(home, tmp_path, files=MANY) as (workspaces, where):
        held, scan_bytes = [], 0
        for number in range(14):
            workspace = await workspaces.take(TENANT, str(number), str(where))
            workspace.stage.get_children(".")
            workspaces.keep(TENANT, str(number), workspace)
            gc.collect()
            held.append(resident())
            scan_bytes = workspace.scan.nbytes
        assert len(workspaces.kept) == 14
        # Twelve scans of their own would take twelve times as much; a long-running process adds noise.
        assert held[-1] - held[1] < 8 * scan_bytes, held


async def test_the_longest_unused_workspace_goes_when_memory_is_short(home: Dsns, tmp_path: Path) -> None:
    async with opened(home, tmp_path, workspaces_bytes_most=450_000) as (workspaces, where):
        taken = {}
        for session in ("a", "b", "c"):
            (where / session).touch()
            taken[session] = await workspaces.take(TENANT, session, str(where))
            workspaces.keep(TENANT, session, taken[session])
        assert workspaces.kept.nbytes <= 450_000
        assert [await workspaces.take(TENANT, each, str(where)) is taken[each] for each in "cba"] == [True, True, False]


async def test_an_idle_workspace_is_given_back(home: Dsns, tmp_path: Path) -> None:
    async with opened(home, tmp_path, workspaces_idle_seconds=0) as (workspaces, where):
        workspace = await workspaces.take(TENANT, "s", str(where))
        gone = asyncio.Event()
        weakref.finalize(workspace.scan, asyncio.get_running_loop().call_soon_threadsafe, gone.set)
        workspaces.keep(TENANT, "s", workspace)
        del workspace
        async with asyncio.timeout(60):
            while not gone.is_set():
                gc.collect()
                await asyncio.wait([asyncio.ensure_future(gone.wait())], timeout=0.1)
        assert len(workspaces.kept) == 0
