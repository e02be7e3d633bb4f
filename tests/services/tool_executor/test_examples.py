"""Example workspaces: a tenant's own, usable at once, and the only workspaces in the data directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from libs.clients.calls import call
from libs.database import Dsns
from libs.errors import Rejected
from libs.events.topics import EXECUTOR
from services.tool_executor.examples import MOST
from tests.support.platform import TENANT, RunningPlatform, run_platform, scripted_model


async def made(at: RunningPlatform, tenant: str = TENANT) -> Any:
    return await call(at.platform, EXECUTOR, "PUT", "/internal/v1/examples", tenant=tenant)


async def graph(at: RunningPlatform, tenant: str, root: str) -> Any:
    where = "/internal/v1/sessions/s/graph"
    return await call(at.platform, EXECUTOR, "GET", where, tenant=tenant, session="s", params={"root": root})


async def test_example_folder_is_a_workspace_of_its_tenant_alone(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model()) as at:
        example = await made(at)
        assert example["files"] == 47
        names = {node["name"] for node in (await graph(at, TENANT, example["root"]))["nodes"]}
        assert "holiday (1).mp4" in names
        with pytest.raises(Rejected, match="not inside an allowed root"):
            await graph(at, "another", example["root"])


async def test_rest_of_the_data_directory_is_no_workspace(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model()) as at:
        data = at.platform.data_dir
        examples = Path((await made(at))["root"]).parents[2]
        for folder in (data, examples, examples / ".." / "examples"):
            with pytest.raises(Rejected, match="Suma's own data"):
                await graph(at, TENANT, str(folder))


async def test_tenant_has_a_limited_number_of_examples(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model()) as at:
        for number in range(MOST):
            (at.platform.data_dir / "examples" / TENANT / str(number)).mkdir(parents=True)
        with pytest.raises(Rejected, match="10 example folders"):
            await made(at)
        assert (await made(at, "another"))["files"] == 47
