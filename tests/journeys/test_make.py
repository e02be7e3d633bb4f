"""A person makes a chart: planned from a document, drawn on this machine, shown as a job, saved and downloaded."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.journeys.installation import Installation, installation

PLAN = {
    "version": "1.0",
    "tasks": [
        {
            "task_id": "types",
            "step_type": "generate_chart",
            "modality": "image",
            "title": "File types",
            "inputs": {"of": "file_types"},
            "quality_gate": {"enabled": False},
        }
    ],
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def live(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Installation]:
    place = tmp_path_factory.mktemp("making") / "installation"
    async with installation(place, SA01_ENABLE_multimodal_capabilities="true") as made:
        await made.start()
        yield made


@pytest.mark.requirement("S3-14", "S3-35", "S3-39")
async def test_a_chart_is_made_and_saved_with_its_provenance(live: Installation) -> None:
    folder, plan, out = live.folder / "project", live.folder / "plan.json", live.folder / "chart.svg"
    folder.mkdir()
    for name in ("a.py", "b.py", "c.txt"):
        (folder / name).write_text("x")
    plan.write_text(json.dumps(PLAN))
    made = await live.suma("make", str(plan), "--folder", str(folder), "--out", str(out), "--json", "--yes")
    assert made.code == 0, made.err
    job = json.loads(made.out)
    (asset,) = job["assets"]
    assert (job["state"], asset["title"], asset["media_type"]) == ("completed", "File types", "image/svg+xml")
    assert out.read_text().lstrip().startswith(("<svg", "<?xml"))
    async with live.api() as api:
        whole = await api.get(asset["content"])
        part = await api.get(asset["content"], headers={"Range": "bytes=0-3"})
        told = (await api.get(asset["provenance"])).json()
    assert (whole.content, part.content) == (out.read_bytes(), whole.content[:4])
    assert (told["job_id"], told["provenance"]["user_id"] != "") == (job["job_id"], True)
    assert Path(folder / "a.py").read_text() == "x"


async def test_the_commands_list_and_show_jobs(live: Installation) -> None:
    listed = await live.suma("make", "list")
    assert (listed.code, "completed" in listed.out) == (0, True), listed.err
    able = await live.suma("make", "capabilities")
    assert (able.code, "vega" in able.out) == (0, True), able.err
