"""Documents: sections and pictures become one file, and texts from strangers stay texts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from time import monotonic
from typing import Any

import pytest
from PIL import Image
from pypdf import PdfReader

from libs.multimodal.composing import Composer
from libs.multimodal.ports import Brief, CannotProduce, Input, Made, StepType

pytestmark = pytest.mark.requirement("S3-16")

HOSTILE = """<script>alert(1)</script> <img src=x onerror=alert(1)> [a](javascript:alert(1)) [b](data:text/html,x)

#read("/etc/passwd") #import "@preview/x:1.0.0" $x$ @fig <label> ![t](https://tracker.example/p.gif)

`#read("/etc/passwd")` and [c](file:///etc/passwd)
"""
WIDE = b'<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="90"><rect width="4000" height="90"/></svg>'


def png(side: int) -> bytes:
    out = BytesIO()
    Image.new("RGB", (side, side), "#336699").save(out, "PNG")
    return out.getvalue()


def picture(id: str, data: bytes = WIDE, media_type: str = "image/svg+xml") -> Input:
    facts = {"made_from": "invoices/nov.xlsx", "tool": "generate_diagram", "SHA-256": "ab" * 32}
    return Input(id, data, media_type, title=f"Flow {id}", text=f"Boxes of {id}", provenance=facts)


async def composed(
    format: str, *sections: Mapping[str, Any], inputs: Sequence[Input] = (), title: str = "Plan"
) -> Made:
    content = {"sections": sections, "date": "2026-11-29T06:00:00+00:00", "request": "report <b>it</b>"}
    brief = Brief(StepType.COMPOSE, format, title=title, content=content, inputs=inputs)
    return await Composer().produce(brief, check=lambda: None)


def words(made: Made) -> str:
    text = "\n".join(page.extract_text() for page in PdfReader(BytesIO(made.data)).pages)
    return text.replace("\xa0", " ")


def section(heading: str, text: str = "", *assets: str) -> dict[str, Any]:
    return {"heading": heading, "text": text, "assets": assets}


async def test_a_pdf_numbers_figures_and_refers_to_them() -> None:
    text = "See [](asset:two) and [the other](asset:one).\n\n![](asset:one)"
    made = await composed(
        "pdf", section("Steps", text, "two"), inputs=[picture("one"), picture("two", png(40), "image/png")]
    )
    shown = words(made)
    assert "See Figure 2 and the other (Figure 1)." in shown
    assert "Figure 1: Flow one" in shown
    assert "Figure 2: Flow two" in shown
    assert made.parameters == {"standard": "PDF/UA-1", "figures": 2}


async def test_a_pdf_lists_contents_sources_and_provenance() -> None:
    inputs = [picture("one")]
    shown = words(await composed("pdf", section("First", "[x](https://example.org/a)"), section("Then"), inputs=inputs))
    assert re.search(r"Contents.*1\s*First.*2\s*Then.*Sources.*Provenance", shown, re.DOTALL)
    assert "invoices/nov.xlsx" in shown.partition("Sources")[2]
    assert "https://example.org/a" in shown
    assert "report <b>it</b>" in shown
    assert "ab" * 32 in shown.replace("\n", "")
    assert "29 November 2026" in shown


async def test_typst_code_in_a_text_stays_text() -> None:
    shown = words(await composed("pdf", section("#read(1)", HOSTILE), title="#panic()"))
    assert shown.count('#read("/etc/passwd")') == 2
    assert '#import "@preview/x:1.0.0" $x$ @fig <label>' in shown
    assert "#panic()" in shown
    assert "root:" not in shown


async def test_html_holds_no_script_and_fetches_nothing() -> None:
    made = await composed(
        "html", section("<b>Hi</b>", HOSTILE, "one"), inputs=[picture("one")], title="</title><script>"
    )
    page = made.data.decode()
    assert "<script" not in page
    assert "<img src=x" not in page
    assert {url[:5] for url in re.findall(r'(?:src|href)="([^"]*)"', page) if not url.startswith("#")} <= {
        "data:",
        "https",
    }
    assert re.findall(r'src="(\w+):', page) == ["data"]
    assert "default-src &#x27;none&#x27;; img-src data:; style-src &#x27;sha256-" in page
    assert 'alt="Boxes of one"' in page


async def test_markdown_escapes_html_and_keeps_its_structure() -> None:
    table = "| a | b |\n|---|--:|\n| 1 | **2** |\n\n1. x\n   - y\n\n```\n<i>code</i>\n```"
    made = await composed("markdown", section("T", HOSTILE), section("S", table, "one"), inputs=[picture("one")])
    text = made.data.decode()
    assert not re.search(r"(?<!\\)<(?:img|script)|(?<!\\)\]\((?!<https)", text)
    assert "| 1 | **2** |" in text
    assert "1. x\n\n   - y" in text
    assert "<i>code</i>" in text
    assert "![Boxes of one][figure-1]" in text
    assert "\n[figure-1]: data:image/svg+xml;base64," in text


@pytest.mark.parametrize("text", ["漢字かな 😀 🇪🇺", "مرحبا بالعالم", "W" * 5000, "/srv/folder" * 2000, "‮evil"])
async def test_any_script_and_any_long_word_is_typeset(text: str) -> None:
    made = await composed("pdf", section("Words", f"{text}\n\n`{text}`"))
    assert 1 <= len(PdfReader(BytesIO(made.data)).pages) <= 12
    # A place where a line may break is not copied with the text.
    assert "\u200b" not in words(made)


async def test_letters_without_a_font_are_reported() -> None:
    made = await composed("pdf", section("Words", "Letters \U0001e900\U000f8fff"))
    assert made.parameters["standard"] == "tagged PDF"
    assert made.parameters["measured"]["undrawn"].endswith("\U000f8fff")
    assert "(they show as boxes); install fonts-noto-core" in made.warnings[0]
    assert "could not be displayed" in made.parameters["short_of_ua"]


async def test_a_long_table_is_set_over_pages() -> None:
    rows = "".join(f"| {n} | {n * n} | text of {n} |\n" for n in range(1500))
    made = await composed("pdf", section("Table", f"| n | square | note |\n|--|--:|--|\n{rows}"))
    assert len(PdfReader(BytesIO(made.data)).pages) > 20


async def test_a_table_without_end_is_refused() -> None:
    rows = "| 1 | 2 |\n" * 12_000
    with pytest.raises(CannotProduce, match="section 'Table' has 24002 cells; shorten it to 20000"):
        await composed("pdf", section("Table", f"| n | m |\n|--|--|\n{rows}"))


async def test_an_unknown_asset_is_refused_by_name() -> None:
    with pytest.raises(CannotProduce, match="section 'A' names the asset 'gone'"):
        await composed("pdf", section("A", "", "gone"))


async def test_a_picture_that_is_none_is_refused() -> None:
    with pytest.raises(CannotProduce, match="could not be typeset"):
        await composed("pdf", section("A", "", "one"), inputs=[picture("one", b"no picture", "image/png")])


async def test_a_picture_reads_no_file_of_this_machine() -> None:
    link = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="/etc/hostname.png"/></svg>'
    with pytest.raises(CannotProduce, match="failed to load linked image"):
        await composed("pdf", section("A", "", "one"), inputs=[picture("one", link)])


async def test_a_cancel_ends_the_work_at_once() -> None:
    class Cancelled(Exception):
        pass

    def check() -> None:
        raise Cancelled

    begun = monotonic()
    with pytest.raises(Cancelled):
        await Composer().produce(Brief(StepType.COMPOSE, "pdf", title="T"), check=check)
    task = asyncio.create_task(composed("pdf", section("A", "x " * 100_000)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert monotonic() - begun < 3


@pytest.mark.requirement("S3-74")
async def test_five_pictures_are_composed_within_seven_seconds() -> None:
    inputs = [picture(f"p{n}", png(1600), "image/png") for n in range(5)]
    begun = monotonic()
    made = await composed("pdf", *(section(f"Part {n}", "Text. " * 400, f"p{n}") for n in range(5)), inputs=inputs)
    assert made.parameters["figures"] == 5
    assert monotonic() - begun < 7
