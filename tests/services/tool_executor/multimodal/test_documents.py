"""A document of a call: it is composed of the assets of earlier steps, and says where they are from."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader

from libs.database import Dsns
from libs.events import ToolSucceeded
from libs.multimodal.composing import Composer
from libs.multimodal.credentials import Credentials
from tests.support import platform, producers
from tests.support.platform import plan, scripted_model, skills
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


@pytest.mark.requirement("S3-16", "S3-39")
async def test_a_document_shows_the_asset_of_an_earlier_step(home: Dsns, tmp_path: Path) -> None:
    producers.PRODUCERS[:] = [Drawing(), Composer()]
    settings = {
        "tool_executor": {"multimodal": {"producers": ["tests.support.producers:given"], "local_producers": False}}
    }
    model, known = scripted_model(plan(DIAGRAM, DOCUMENT)), replace(skills(), multimodal=True)
    async with platform.run_platform(home, tmp_path, model=model, skills=known, settings=settings) as at:
        turn = await at.say("draw it", session="s", root=at.folder("a.txt"))
        await at.finish(turn, session="s")
        assert sum(isinstance(event, ToolSucceeded) for event in await at.logged("s")) >= 2
        saved = (at.root / "work" / "report.pdf").read_bytes()
        text = "\n".join(page.extract_text() for page in PdfReader(BytesIO(saved)).pages).replace("\xa0", " ")
        assert "Figure 1: Parts" in text
        assert "drawing" in text.partition("Provenance")[2]
        report = await Credentials(at.platform.keys).read(saved, "application/pdf")
        assert (report.state, report.facts["tool"]) == ("trusted", "compose_srs")
