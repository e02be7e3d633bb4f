"""A document of a call: it is composed of the assets of earlier steps, and says where they are from."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from libs.database import Dsns
from libs.events import ToolSucceeded
from libs.multimodal.composing import Composer
from libs.multimodal.credentials import Credentials
from libs.policy.rego import RegoPolicy
from tests.support import platform, producers
from tests.support.platform import REPOSITORY, RunningPlatform, plan, scripted_model, skills
from tests.support.producers import Drawing

DIAGRAM = ("make-documents.diagram", {"title": "Parts", "source": "flowchart LR; a-->b"})
DOCUMENT = (
    "make-documents.document",
    {
        "title": "Report",
        "sections": [{"heading": "Design", "text": "The parts.", "assets": ["$step(1).asset"]}],
        "save_as": "report.pdf",
    },
)


SAID = "Draw the parts for ana@example.org"


@asynccontextmanager
async def reported(home: Dsns, folder: Path, **ports: Any) -> AsyncIterator[tuple[RunningPlatform, bytes, str]]:
    """Say it, and yield the platform, the report and its text."""
    producers.PRODUCERS[:] = [Drawing(), Composer()]
    settings = {
        "tool_executor": {"multimodal": {"producers": ["tests.support.producers:given"], "local_producers": False}}
    }
    model, known = scripted_model(plan(DIAGRAM, DOCUMENT)), replace(skills(), multimodal=True)
    async with platform.run_platform(home, folder, model=model, skills=known, settings=settings, **ports) as at:
        turn = await at.say(SAID, session="s", root=at.folder("a.txt"))
        await at.finish(turn, session="s")
        saved = (at.root / "work" / "report.pdf").read_bytes()
        text = " ".join(page.extract_text() for page in PdfReader(BytesIO(saved)).pages)
        yield at, saved, " ".join(text.split())


async def prompts(at: RunningPlatform) -> set[tuple[str, bool]]:
    async with at.platform.database.read("tool_executor", platform.TENANT) as reader:
        rows = await reader.fetch("select prompt_summary, prompt_is_full from executor.asset_provenance")
    return {tuple(row) for row in rows}


@pytest.mark.requirement("S3-16", "S3-39")
async def test_a_document_shows_the_asset_of_an_earlier_step(home: Dsns, tmp_path: Path) -> None:
    async with reported(home, tmp_path) as (at, saved, text):
        assert sum(isinstance(event, ToolSucceeded) for event in await at.logged("s")) >= 2
        assert "Figure 1: Parts" in text
        assert "drawing" in text.partition("Provenance")[2]
        report = await Credentials(at.platform.keys).read(saved, "application/pdf")
        assert (report.state, report.facts["tool"]) == ("trusted", "compose_srs")


@pytest.mark.requirement("S3-39")
async def test_words_of_the_request_are_kept_without_private_parts(home: Dsns, tmp_path: Path) -> None:
    async with reported(home, tmp_path) as (at, _, text):
        assert "Made for the request: “Draw the parts for [address]”" in text
        assert await prompts(at) == {("Draw the parts for [address]", False)}


@pytest.mark.requirement("S3-39")
async def test_all_words_are_kept_where_policy_allows(home: Dsns, tmp_path: Path) -> None:
    bundle = shutil.copytree(REPOSITORY / "deploy" / "opa", tmp_path / "opa")
    data = json.loads((bundle / "data.json").read_text())
    (bundle / "data.json").write_text(json.dumps({**data, "settings": {**data["settings"], "full_prompts": True}}))
    law = RegoPolicy(bundle, deadline=5.0)
    await law.reload()
    async with reported(home, tmp_path, policy=law) as (at, _, text):
        assert f"Made for the request: “{SAID}”" in text
        assert await prompts(at) == {(SAID, True)}
