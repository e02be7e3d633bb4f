"""A person makes charts, diagrams and documents: in words or as a document, planned here or by a vendor's model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from pypdf import PdfReader

from tests.infrastructure.vendor import APPROVED, Vendor, called, said
from tests.infrastructure.wish import get
from tests.journeys.installation import Installation, installation
from tests.journeys.terminal import Terminal

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
SRS = {
    "version": "1.0",
    "tasks": [
        {
            "task_id": "step_00",
            "step_type": "generate_diagram",
            "modality": "image",
            "depends_on": [],
            "constraints": {"max_resolution": 1920, "format": "svg"},
            "quality_gate": {"enabled": True, "rubric": {"clarity": 0.5, "relevance": 0.5}},
        },
        {"task_id": "step_01", "step_type": "compose_srs", "modality": "document", "depends_on": ["step_00"]},
    ],
}
OVERVIEW = (
    "architecture overview of this folder: a component diagram, a sequence diagram, a chart of file types, as a PDF"
)
CODE = {
    "main.py": "from orders.service import place\n\n\ndef main():\n    place('tea')\n\n\n"
    "if __name__ == '__main__':\n    main()\n",
    "orders/__init__.py": "",
    "orders/service.py": "from billing.invoice import write\nfrom storage.rows import keep\n\n\n"
    "def place(what):\n    keep(what)\n    return write(what)\n",
    "billing/__init__.py": "",
    "billing/invoice.py": "from storage.rows import keep\n\n\ndef write(what):\n    return keep(f'invoice: {what}')\n",
    "storage/__init__.py": "",
    "storage/rows.py": "def keep(what):\n    return what\n",
    "README.txt": "A shop.\n",
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def live(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Installation]:
    place = tmp_path_factory.mktemp("making") / "installation"
    async with installation(place, SA01_ENABLE_multimodal_capabilities="true") as made:
        await made.start()
        yield made


@pytest_asyncio.fixture
async def thinking(there: Vendor, tmp_path: Path) -> AsyncIterator[Installation]:
    """A platform that thinks with this vendor."""
    model = {"SUMA_MODEL": "openai:toy", "SUMA_MODEL_URL": there.url, "SUMA_MODEL_KEY": "k"}
    async with installation(tmp_path / "platform", SA01_ENABLE_multimodal_capabilities="true", **model) as made:
        await made.start()
        yield made


def program(folder: Path) -> Path:
    for name, text in CODE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def files(folder: Path) -> set[str]:
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return {name for name in found if not name.startswith(".suma/")}


def text_of(pdf: bytes) -> str:
    return " ".join(" ".join(page.extract_text() for page in PdfReader(BytesIO(pdf)).pages).split())


async def provenance(api: httpx.AsyncClient, asset: dict[str, Any]) -> dict[str, Any]:
    return dict((await get(api, asset["provenance"]))["provenance"])


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
    link = await live.suma("make", "link", asset["asset_id"], "--seconds", "600")
    async with httpx.AsyncClient(trust_env=False) as anyone:
        assert (await anyone.get(link.out.strip())).content == whole.content, link.err


async def test_the_commands_list_and_show_jobs(live: Installation) -> None:
    listed = await live.suma("make", "list")
    assert (listed.code, "completed" in listed.out) == (0, True), listed.err
    able = await live.suma("make", "capabilities")
    assert (able.code, "vega" in able.out) == (0, True), able.err


@pytest.mark.requirement("S3-14", "S3-16", "S3-39")
async def test_overview_in_words_becomes_a_pdf_and_is_undone(live: Installation) -> None:
    folder = program(live.folder / "shop")
    done = await live.suma("make", OVERVIEW, "--folder", str(folder), "--yes", "--json")
    assert done.code == 0, done.out + done.err
    job = json.loads(done.out)
    (made,) = files(folder) - CODE.keys()
    pdf = (folder / made).read_bytes()
    text = text_of(pdf)
    captions = ("Figure 1: Components", "Figure 2: Sequence diagram", "Figure 3: File types")
    for part in ("Architecture overview", *captions, "orders", "billing", "storage", "Provenance"):
        assert part in text, part
    *pictures, document = job["assets"]
    assert [asset["format"] for asset in job["assets"]] == ["svg", "svg", "svg", "pdf"]
    assert (document["path"], job["warnings"], job["cost_micros"]) == (made, [], 0)
    async with live.api() as api:
        told = await provenance(api, document)
        assert (await api.get(document["content"])).content == pdf
        from_code = [await provenance(api, asset) for asset in pictures]
    assert told["parents"] == [asset["asset_id"] for asset in pictures]
    assert [one["made_from"] for one in from_code] == [["shop"]] * 3
    assert {one["request_id"] for one in (told, *from_code)} == {job["job_id"]}
    assert {one["user_id"] for one in (told, *from_code)} == {"owner"}
    undone = await live.suma("rollback", job["session_id"])
    assert undone.code == 0, undone.err
    assert files(folder) == CODE.keys()


@pytest.mark.requirement("S3-14", "S3-16", "S3-18", "S3-24", "S3-26", "S3-38", "S3-39")
async def test_model_that_plans_in_the_task_dsl_is_followed(thinking: Installation, there: Vendor) -> None:
    there.play(called(SRS), APPROVED, said("The specification is there."))
    folder = program(thinking.folder / "shop")
    done = await thinking.suma("make", "Generate SRS with architecture diagrams", "--yes", "--json", at=folder)
    assert done.code == 0, done.out + done.err
    job = json.loads(done.out)
    diagram, document = job["assets"]
    tools = ("make-documents.diagram", "make-documents.document")
    assert [(step["tool"], step["depends_on"]) for step in job["plan"]] == [(tools[0], []), (tools[1], [1])]
    assert (diagram["format"], document["format"]) == ("svg", "pdf")
    assert 0 < max(diagram["width"], diagram["height"]) <= 1920
    for step in job["plan"]:
        (attempt,) = step["executions"]
        assert (attempt["status"], attempt["asset_id"]) == ("succeeded", step["asset"]["asset_id"])
        assert 0.5 <= attempt["quality"] <= 1
    async with thinking.api() as api:
        told = await provenance(api, document)
        content = (await api.get(document["content"])).content
        decisions = await audited(api, job["session_id"])
    assert (told["parents"], told["request_id"]) == ([diagram["asset_id"]], job["job_id"])
    assert told["execution_id"].startswith(decisions[0]["call_id"])
    assert "Software Requirements Specification" in text_of(content)
    assert [Path(folder, name).read_bytes() for name in job["saved"]] == [content]
    assert [(one["verdict"], one["resource"]) for one in decisions] == [
        ("allow", "local/compose_srs"),
        ("allow", "local/mermaid"),
    ]
    assert [asked.form for asked in there.asked] == ["propose", "judge", ""]


async def test_folder_that_is_not_allowed_is_named_before_anything_begins(live: Installation, tmp_path: Path) -> None:
    folder = program(tmp_path / "elsewhere")
    refused = await live.suma("make", "a chart of file types", "--yes", at=folder)
    assert refused.code == 3
    assert f"{folder} is not an allowed folder yet: allow it with `suma roots add`" in refused.err
    async with live.api() as api:
        assert str(folder) not in json.dumps(await get(api, "/v1/sessions"))


async def test_folder_of_a_terminal_is_asked_about(
    live: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(program(tmp_path / "mine"))
    with Terminal(live, "make", "a chart of file types", "--out", "chart.svg", "--yes") as terminal:
        await terminal.answer("Allow Suma to work in this folder", None)
        await terminal.answer("[y]es", "y")
        assert await terminal.end() == 0
    assert Path("chart.svg").read_text().startswith("<svg")


async def audited(api: httpx.AsyncClient, session: str) -> list[dict[str, Any]]:
    """Return the decisions on two candidates, newest first, once both are in the chain."""
    wanted = {"action": "multimodal.tool.execute", "session": session}
    async with asyncio.timeout(60):
        while len(records := (await get(api, "/v1/admin/audit", **wanted))["records"]) < 2:
            await asyncio.sleep(0.1)
    return list(records)
