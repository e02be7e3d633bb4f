"""Documents: words, headings and tables are extracted, and hostile files do no harm."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from libs import documents
from libs.documents import CannotRead, Damaged, Document, Locked
from libs.documents.reading import CHILD
from tests.libs.documents import samples

pytestmark = pytest.mark.requirement("S4-59")

TEXT = "<office:text><text:h>Plan</text:h><text:p>Two<text:s/>words<text:tab/>here.</text:p><text:p/></office:text>"
SHEET = (
    "<office:spreadsheet><table:table><table:table-row><table:table-cell><text:p>id</text:p></table:table-cell>"
    "<table:table-cell><text:p>name</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell>"
    "<text:p>1</text:p></table:table-cell><table:table-cell><text:p>Ana</text:p></table:table-cell></table:table-row>"
    "</table:table></office:spreadsheet>"
)
DAY, EXCEL = date(2024, 5, 31), "id\ton\n1\t2024-05-31 00:00:00\n2.5"
TABBED = "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r><w:r><w:delText>gone</w:delText></w:r></w:p>"


SAMPLES: dict[str, tuple[str, bytes, tuple[int, str], list[str], str]] = {
    "pages": (".pdf", samples.pdf("First", "Second", title="Plan"), (2, "page"), ["Title: Plan"], "First\nSecond"),
    "pictures": (".pdf", samples.pdf("", ""), (2, "page"), [], ""),
    "word": (".docx", samples.word("a &amp; ß", heading="Kopf"), (2, "paragraph"), ["Kopf"], "Kopf\na & ß"),
    "tabs": (".docx", samples.docx(TABBED), (1, "paragraph"), [], "a b"),
    "writer": (".odt", samples.opened(TEXT), (3, "paragraph"), ["Plan"], "Plan\nTwo words here."),
    "impress": (".odp", samples.opened("<drawing:page><text:p>One</text:p></drawing:page>"), (1, "slide"), [], "One"),
    "slides": (".pptx", samples.slides(("Hi", "a"), ("Bye", "b")), (2, "slide"), ["Hi", "Bye"], "Hi\na\nBye\nb"),
    "book": (".epub", samples.book("<h1>I</h1>a&nbsp;b", "c<svg>d</svg>"), (2, "chapter"), ["I"], "I\nab\nc"),
    "calc": (".ods", samples.opened(SHEET), (1, "row"), ["id", "name"], "id\tname\n1\tAna"),
    "excel": (".xlsx", samples.excel(["id", "on"], [1, DAY], [None], [2.5]), (2, "row"), ["id", "on"], EXCEL),
}


def read(ending: str, raw: bytes) -> Document:
    """For somebody who waits."""
    return documents.read(ending, raw, check=lambda: None)


@pytest.mark.parametrize(("ending", "raw", "counted", "fields", "text"), SAMPLES.values(), ids=SAMPLES)
def test_document_yields_its_text_and_fields(
    ending: str, raw: bytes, counted: tuple[int, str], fields: list[str], text: str
) -> None:
    found = read(ending, raw)
    assert ((found.rows, found.unit), list(found.fields), found.text) == (counted, fields, text)
    assert found.complete


def test_rows_of_a_sheet_and_pages_are_shown(read_pdf: Document) -> None:
    assert read(".xlsx", samples.excel(["id", ""], [1, "Ana", "more"])).head == (
        {"id": "1", "column 2": "Ana", "column 3": "more"},
    )
    assert read_pdf.head == ({"page": 1, "text": "First"}, {"page": 2, "text": "Second"})


def test_pages_begin_where_the_text_says() -> None:
    found = read(".pdf", samples.pdf("First  page", "", "Third"))
    assert [found.text[start:] for start in found.starts] == ["First page\nThird", "Third", "Third"]
    assert read(".docx", samples.docx("<w:p/>")).starts == ()


def test_characters_that_postgres_refuses_are_removed() -> None:
    title = r"\376\377\000P\000l\000\000\000a\000n"
    assert read(".pdf", samples.pdf("First", title=title)).fields == ("Title: Plan",)


@pytest.fixture
def read_pdf() -> Document:
    return read(".pdf", samples.pdf("First", "Second"))


def test_an_empty_password_opens_and_another_does_not() -> None:
    plain = samples.pdf("First")
    assert read(".pdf", samples.locked(plain, "")).text == "First"
    with pytest.raises(CannotRead, match="locked with a password"):
        read(".pdf", samples.locked(plain, "secret"))


def test_password_protected_document_differs_from_a_damaged_one() -> None:
    office = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
    with pytest.raises(Locked):
        read(".docx", office)
    with pytest.raises(Damaged, match="damaged") as damaged:
        read(".docx", b"PK\3\4")
    assert not isinstance(damaged.value, Locked)


def test_truncated_pdf_yields_pages_and_a_note() -> None:
    raw = samples.pdf("First", "Second")
    found = read(".pdf", raw[: raw.index(b"xref\n0")] + b"trailer<</Root 1 0 R>>")
    assert (found.text, found.complete) == ("First\nSecond", False)


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    ("ending", "raw", "why"),
    [
        (".docx", samples.zipped(word__document_dot_xml=BOMB), "DTD"),
        (".odt", samples.zipped(content_dot_xml=OUTSIDE), "DTD"),
        (".odt", samples.opened("<text:p>" * 5000), "deep|damaged"),
        (".docx", samples.docx("<w:p>" * 500 + "</w:p>" * 500), "levels deep"),
        (".docx", b"no archive", "not what its name says"),
        (".docx", samples.zipped(other="x"), "there is no word/document.xml"),
        (".docx", samples.word("a")[:-30], "damaged"),
        (".epub", samples.zipped(other="x"), "there is no META-INF"),
        (".xlsx", samples.zipped(other="x"), "damaged"),
        (".xlsx", b"", "damaged"),
        (".pdf", b"%PDF-1.7 nothing", "damaged"),
        (".pdf", b"", "damaged"),
        (".pdf", samples.pdf("a").replace(b"/Kids[3 0 R]", b"/Kids[2 0 R]"), "damaged|too much"),
    ],
)  # fmt: skip
def test_damaged_or_hostile_document_is_refused_with_the_reason(ending: str, raw: bytes, why: str) -> None:
    with pytest.raises(CannotRead, match=why):
        read(ending, raw)


@pytest.mark.requirement("A5")
@pytest.mark.parametrize("ending", [".docx", ".xlsx", ".epub"])
def test_document_that_expands_beyond_the_limit_is_refused(ending: str) -> None:
    with pytest.raises(CannotRead, match="grows beyond 128 MiB"):
        read(ending, samples.zipped(bomb=bytes(129 << 20)))


def test_very_long_document_is_read_in_part() -> None:
    found = read(".docx", samples.word(*["many words in one line"] * 60_000))
    assert not found.complete
    assert 1_000_000 < len(found.text) <= 1 << 20


def test_reader_process_ends_when_its_caller_is_cancelled() -> None:
    asked: list[int] = []

    def nobody() -> None:
        asked.append(1)
        if len(asked) > 1:
            raise InterruptedError

    long = samples.opened("<text:p/>" * 2_000_000)
    with pytest.raises(InterruptedError):
        documents.read(".odt", long, check=nobody)


def test_reader_writes_no_files_and_respects_its_memory_limit(tmp_path: Path) -> None:
    """A document cannot request this, so the test checks the sandbox directly."""
    asked = [
        "import pathlib, runpy",
        f"runpy.run_path({str(CHILD)!r})['confine']()",
        f"for take in lambda: bytearray(2 << 30), lambda: pathlib.Path({str(tmp_path / 'x')!r}).write_text('x'):",
        "    try: take()",
        "    except (MemoryError, OSError) as error: print(type(error).__name__)",
    ]
    done = subprocess.run([sys.executable, "-I", "-c", "\n".join(asked)], capture_output=True, check=True, timeout=60)
    assert done.stdout.split() == [b"MemoryError", b"OSError"]
