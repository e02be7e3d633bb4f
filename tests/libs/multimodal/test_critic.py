"""The heuristic critic on real drawings, good and bad."""

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import pypdf
import pytest
from PIL import Image

from libs.multimodal.composing import Composer
from libs.multimodal.critic import HeuristicCritic
from libs.multimodal.ports import Brief, Input, Made, StepType, Verdict
from libs.multimodal.producers import local
from tests.libs.multimodal.test_producers import BARS

RUBRIC = {"clarity": 0.7, "relevance": 0.7, "aesthetic": 0.4}


async def judged(brief: Brief, made: Made, rubric: Mapping[str, float] = RUBRIC) -> Verdict:
    return await HeuristicCritic(size=1 << 20).judge(brief, made, rubric, check=lambda: None)


async def drawn(tool: str, source: str, form: str = "svg", **content: Any) -> tuple[Brief, Made]:
    step = StepType.CHART if tool == "vega_lite" else StepType.DIAGRAM
    producer = next(one for one in local() if one.capability.tool_id == tool)
    brief = Brief(step, form, source=source, content=content)
    return brief, await producer.produce(brief, check=lambda: None)


def picture(*, width: int, height: int, ink: int) -> tuple[Brief, Made]:
    image, written = Image.new("RGB", (width, height), "white"), BytesIO()
    image.paste("black", (10, 10, 10 + ink, 10 + ink))
    image.save(written, "PNG")
    return Brief(StepType.IMAGE, "png"), Made(written.getvalue(), "png", width, height)


@pytest.mark.requirement("S3-24", "S3-73")
@pytest.mark.parametrize("form", ["svg", "png"])
async def test_good_diagram_passes(form: str) -> None:
    verdict = await judged(*await drawn("graphviz", 'digraph { a [label="Gateway"]; a -> b -> c; a -> d }', form))

    assert verdict.passed
    assert verdict.judge == "heuristics"
    assert min(verdict.scores.values()) >= 0.7
    assert verdict.critique == ()


async def test_good_chart_passes() -> None:
    verdict = await judged(*await drawn("vega_lite", json.dumps(BARS)))

    assert verdict.passed, verdict


@pytest.mark.requirement("S3-24")
async def test_chart_without_data_is_blank() -> None:
    verdict = await judged(*await drawn("vega_lite", json.dumps(BARS | {"data": {"values": []}})))

    assert not verdict.passed
    assert "the data has rows" in verdict.critique[0]


@pytest.mark.requirement("S3-24")
@pytest.mark.parametrize("form", ["svg", "png"])
async def test_small_text_fails_with_a_mend(form: str) -> None:
    many = "digraph { rankdir=LR;" + "".join(f'"service {n}" -> "service {n + 1}";' for n in range(30)) + "}"

    verdict = await judged(*await drawn("graphviz", many, form))

    assert not verdict.passed
    assert verdict.scores["clarity"] < 0.7
    assert any("draw at most" in line and "labels" in line for line in verdict.critique)


async def test_long_strip_gets_another_direction() -> None:
    chain = "digraph { rankdir=LR;" + "".join(f"n{n} -> n{n + 1};" for n in range(40)) + "}"

    verdict = await judged(*await drawn("graphviz", chain))

    assert not verdict.passed
    assert any("from top to bottom" in line for line in verdict.critique)


@pytest.mark.parametrize("form", ["svg", "png"])
async def test_missing_labels_lower_relevance(form: str) -> None:
    brief, made = await drawn("graphviz", "digraph { a -> b }", form, labels=["a", "Ledger", "Bus"])

    verdict = await judged(brief, made)

    assert verdict.scores["relevance"] == pytest.approx(1 / 3, abs=0.01)
    assert not verdict.passed
    assert "'Ledger', 'Bus' are missing" in " ".join(verdict.critique)


ODD = "\U000f8fff\U000f8ffe"
"""Letters for private use, which no font has."""


@pytest.mark.requirement("S3-24")
@pytest.mark.parametrize("tool", ["graphviz", "mermaid"])
@pytest.mark.parametrize("form", ["svg", "png"])
async def test_letters_without_a_font_are_named(tool: str, form: str) -> None:
    source = f'flowchart TD\n a["Gateway {ODD}"]' if tool == "mermaid" else f'digraph {{ a [label="Gateway {ODD}"] }}'

    brief, made = await drawn(tool, source, form)
    verdict = await judged(brief, made, {"clarity": 0.5})

    assert verdict.passed
    assert made.warnings == (f"no font here has {ODD[0]} {ODD[1]} (they show as boxes); install fonts-noto-core",)
    assert made.warnings[0] in verdict.critique
    # The text of an SVG is drawn by the machine that shows it.
    assert (verdict.scores["clarity"] == 1.0) is (form == "svg")


async def test_picture_of_boxes_alone_fails() -> None:
    verdict = await judged(*await drawn("graphviz", f'digraph {{ "{ODD}" }}', "png"), {})

    assert not verdict.passed
    assert "no font here has" in verdict.critique[0]


@pytest.mark.parametrize("label", ["Größe œuvre Łódź", "Ωμέγα и Журнал", "→ ≤ … — “x”", "e\u0301 a\u200db"])
async def test_letters_of_common_fonts_are_no_lack(label: str) -> None:
    _, made = await drawn("graphviz", f'digraph {{ a [label="{label}"] }}', "png")

    assert made.warnings == ()


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (Made(b"<svg", "svg"), "does not render"),
        (Made(b"no picture", "png"), "does not render"),
        (Made(b"%PDF-1.7 cut", "pdf"), "does not render"),
        (Made(bytes(2 << 20), "png"), "it has 2 MiB"),
        (Made(b" ", "html"), "empty"),
    ],
)
async def test_damaged_asset_is_a_verdict(made: Made, words: str) -> None:
    verdict = await judged(Brief(StepType.IMAGE, made.format), made)

    assert not verdict.passed
    assert verdict.quality == 0.0
    assert words in verdict.critique[0]


async def test_blank_picture_fails() -> None:
    verdict = await judged(*picture(width=300, height=200, ink=0))

    assert not verdict.passed
    assert "blank" in verdict.critique[0]


async def test_ordinary_picture_passes() -> None:
    assert (await judged(*picture(width=300, height=200, ink=100))).passed


async def test_document_with_an_empty_page_scores_lower() -> None:
    writer, written = pypdf.PdfWriter(), BytesIO()
    writer.add_blank_page(200, 200)
    writer.write(written)

    verdict = await judged(Brief(StepType.COMPOSE, "pdf"), Made(written.getvalue(), "pdf", labels=("Goals",)))

    assert not verdict.passed
    assert verdict.scores["relevance"] == 0.0
    assert "page 1 is empty" in verdict.critique[0]


@pytest.mark.requirement("S3-16", "S3-24")
async def test_figure_that_a_section_names_must_be_in_the_document() -> None:
    old = Input("old", b"%PDF-1.7", "application/pdf", title="Old report")
    inputs = [picture_of("one"), picture_of("two"), old]
    sections = [{"heading": "Parts", "text": "![](asset:two)", "assets": ["one"]}]
    assert (await judged(*await composed(sections, inputs), {})).passed

    verdict = await judged(*await composed([{"heading": "Parts", "assets": ["one", "old"]}], inputs), {})
    assert not verdict.passed
    assert verdict.critique[0].startswith("the figures 'Old report' are not in it")


async def composed(sections: list[dict[str, Any]], inputs: list[Input]) -> tuple[Brief, Made]:
    brief = Brief(StepType.COMPOSE, "pdf", title="Report", content={"sections": sections}, inputs=inputs)
    return brief, await Composer().produce(brief, check=lambda: None)


def picture_of(name: str) -> Input:
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect width="90" height="90"/></svg>'
    return Input(name, svg, "image/svg+xml", title=f"Boxes {name}")
