"""Small documents of each form, made by hand so that each byte is known."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from datetime import date
from io import BytesIO

import openpyxl
import pypdf

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def zipped(**parts: str | bytes) -> bytes:
    """An archive of these parts; `__` stands for `/` and `_dot_` for `.`."""
    raw = BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), part)
    return raw.getvalue()


def docx(body: str) -> bytes:
    return zipped(word__document_dot_xml=f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>')


def word(*paragraphs: str, heading: str = "") -> bytes:
    style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
    head = f"<w:p>{style}<w:r><w:t>{heading}</w:t></w:r></w:p>" if heading else ""
    return docx(head + "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs))


def opened(body: str) -> bytes:
    """An OpenDocument file."""
    names = " ".join(f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in ("office", "text", "table", "drawing"))
    return zipped(
        content_dot_xml=f"<office:document-content {names}><office:body>{body}</office:body></office:document-content>"
    )


def slides(*texts: tuple[str, str]) -> bytes:
    """(title, text) each; the last comes first in the archive."""
    parts = {}
    for number, (title, text) in reversed(list(enumerate(texts, 1))):
        shapes = (
            f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><a:p><a:t>{title}</a:t></a:p></p:sp>'
            f"<p:sp><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp>"
        )
        parts[f"ppt__slides__slide{number}_dot_xml"] = (
            f'<p:sld xmlns:p="{SLIDE}" xmlns:a="{DRAWING}"><p:cSld>{shapes}</p:cSld></p:sld>'
        )
    return zipped(**parts)


def book(*chapters: str) -> bytes:
    """Chapters of XHTML, stored backwards: the spine has the order."""
    numbers = range(1, len(chapters) + 1)
    items = "".join(f'<item id="c{n}" href="text/c{n}.xhtml"/>' for n in numbers)
    spine = "".join(f'<itemref idref="c{n}"/>' for n in numbers)
    return zipped(
        **{
            "META-INF__container_dot_xml": '<container><rootfile full-path="o/book.opf"/></container>',
            "o__book_dot_opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"o__text__c{n}_dot_xhtml": _page(chapters[n - 1]) for n in reversed(numbers)},
        }
    )


def _page(body: str) -> str:
    kind = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">'
    return f"{kind}<html><head><title>no</title></head><body>{body}</body></html>"


def excel(*rows: Sequence[str | int | float | date | None]) -> bytes:
    made = openpyxl.Workbook(write_only=True)
    sheet = made.create_sheet()
    for row in rows:
        sheet.append(list(row))
    raw = BytesIO()
    made.save(raw)
    return raw.getvalue()


def pdf(*pages: str, title: str = "") -> bytes:
    """One line on each page (ISO 32000-1, 7.5)."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", ""]
    for text in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        number = len(objects) + 1
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {number + 1} 0 R"
            "/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>"
        )
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
    kids = " ".join(f"{2 * n + 3} 0 R" for n in range(len(pages)))
    objects[1] = f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>"
    objects.append(f"<</Title({title})>>")
    return _written(objects, info=len(objects))


def _written(objects: list[str], *, info: int) -> bytes:
    raw, places = b"%PDF-1.7\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(raw))
        raw += f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer<</Size {len(objects) + 1}/Root 1 0 R/Info {info} 0 R>>\nstartxref\n{len(raw)}\n%%EOF\n"
    return raw + (head + tail).encode()


def locked(raw: bytes, password: str) -> bytes:
    """Return the same PDF, encrypted with the password."""
    writer, out = pypdf.PdfWriter(clone_from=BytesIO(raw)), BytesIO()
    writer.encrypt(password, algorithm="AES-256")
    writer.write(out)
    return out.getvalue()
