"""Pictures: what they are is told, a small one is made of each, and hostile ones do no harm."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, NameObject, StreamObject

from libs.documents import CannotRead, Damaged, Locked, Picture, read_picture, read_scan

ORIENTATION = 0x0112


def drawn(form: str, size: tuple[int, int] = (40, 20), mode: str = "RGB", color: Any = "red", **options: Any) -> bytes:
    """A picture of one colour."""
    raw = BytesIO()
    Image.new(mode, size, color).save(raw, form, **options)
    return raw.getvalue()


def scanned(pages: int, text: str = "") -> bytes:
    """A PDF of pictures, with a text on its first page."""
    first, *rest = [Image.new("1", (600, 800), 1) for _ in range(pages)]
    raw = BytesIO()
    first.save(raw, "PDF", save_all=True, append_images=rest)
    if not text:
        return raw.getvalue()
    writer = PdfWriter(clone_from=raw)
    for page in writer.pages:
        shown = StreamObject()
        shown.set_data(b"BT /F1 12 Tf 50 50 Td (" + text.encode() + b") Tj ET")
        font = DictionaryObject(
            {NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")}
        )
        font[NameObject("/BaseFont")] = NameObject("/Helvetica")
        resources = page["/Resources"]
        assert isinstance(resources, DictionaryObject)
        resources[NameObject("/Font")] = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Contents")] = writer._add_object(shown)
    written = BytesIO()
    writer.write(written)
    return written.getvalue()


def read(raw: bytes) -> Picture:
    """For somebody who waits."""
    return read_picture(raw, check=lambda: None)


def seen(picture: Picture) -> Image.Image:
    """The picture that a model sees."""
    return Image.open(BytesIO(picture.jpeg))


def claimed(width: int, height: int) -> bytes:
    """A PNG of a hundred bytes that claims this size."""
    parts = b"\x89PNG\r\n\x1a\n"
    for kind, body in ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(b""))):
        parts += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return parts


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_picture_is_described_and_scaled_down(form: str) -> None:
    found = read(drawn(form, (2000, 1000)))
    assert (found.form, found.width, found.height) == (form, 2000, 1000)
    assert (seen(found).format, seen(found).size) == ("JPEG", (1568, 784))


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGBA", "I;16"])
def test_picture_of_any_colours_is_read(mode: str) -> None:
    assert seen(read(drawn("PNG", mode=mode, color=0))).mode == "RGB"


def test_transparent_picture_is_put_on_white() -> None:
    assert seen(read(drawn("PNG", mode="RGBA", color=(0, 0, 0, 0)))).getpixel((5, 5)) == (255, 255, 255)


def test_photo_is_turned_upright_and_loses_its_metadata() -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    found = seen(read(drawn("JPEG", exif=exif)))
    assert (found.size, dict(found.getexif())) == ((20, 40), {})


def test_noisy_picture_is_scaled_down_until_it_fits() -> None:
    noise = BytesIO()
    Image.effect_noise((3000, 3000), 200).convert("RGB").save(noise, "PNG")
    assert len(read(noise.getvalue()).jpeg) <= 1 << 20


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "not a PNG"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a PNG"),
        (drawn("BMP"), "not a PNG"),
        (drawn("PNG", (400, 400))[:-60], "damaged"),
        (claimed(100_000, 100_000), "more than 40,000,000"),
        (claimed(6_000, 6_000), "damaged"),
    ],
    ids=["empty", "svg", "bmp", "cut", "bomb", "lie"],
)
def test_file_that_is_no_small_picture_is_refused(raw: bytes, why: str) -> None:
    with pytest.raises(CannotRead, match=why) as refused:
        read(raw)
    assert isinstance(refused.value, Damaged)


def pages(raw: bytes) -> list[Image.Image]:
    """The pages of a scan that a model sees."""
    return [Image.open(BytesIO(page)) for page in read_scan(raw, check=lambda: None)]


def test_first_pages_of_a_scan_become_pictures() -> None:
    assert [(page.format, page.size) for page in pages(scanned(5))] == [("JPEG", (600, 800))] * 3


def test_turned_page_of_a_scan_is_upright() -> None:
    writer = PdfWriter(clone_from=BytesIO(scanned(1)))
    writer.pages[0].rotate(90)
    raw = BytesIO()
    writer.write(raw)
    assert [page.size for page in pages(raw.getvalue())] == [(800, 600)]


def test_pdf_with_text_or_ornaments_is_no_scan() -> None:
    assert PdfReader(BytesIO(scanned(1, "hello"))).pages[0].extract_text().strip() == "hello"
    ornament = BytesIO()
    Image.new("1", (40, 40), 1).save(ornament, "PDF")
    assert pages(scanned(1, "hello")) == pages(ornament.getvalue()) == []


@pytest.mark.requirement("A3")
def test_hostile_scans_do_no_harm() -> None:
    locked, raw = PdfWriter(clone_from=BytesIO(scanned(1))), BytesIO()
    locked.encrypt("secret", algorithm="RC4-128")
    locked.write(raw)
    with pytest.raises(Locked):
        pages(raw.getvalue())
    with pytest.raises(Damaged):
        pages(b"none")
    assert pages(scanned(1).replace(b"/Width 600", b"/Width 99999")) == []
