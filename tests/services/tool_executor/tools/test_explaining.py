"""Explaining: what a thing is by its name and by its bytes, and what is in it."""

from __future__ import annotations

import struct
import zipfile
from io import BytesIO
from typing import Any

import pytest

from libs.errors import NotFound
from tests.libs.documents import samples
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-59")

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + bytes(9)
GIF = b"GIF89a" + struct.pack("<HH", 3, 5) + bytes(4)
JPEG = (
    b"\xff\xd8\xff\xe0"
    + struct.pack(">H", 16)
    + bytes(14)
    + b"\xff\xc0"
    + struct.pack(">HBHH", 17, 8, 600, 800)
    + b"\3"
)


def zipped(*names: str) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name in names:
            packed.writestr(name, name)
    return made.getvalue()


def explain(folder: StagedFolder, name: str, content: str | bytes) -> dict[str, Any]:
    folder.write(name, content, at="2024-05-31T10:00:00")
    folder.scan()
    return folder.run("explain.explain", path=name).data


@pytest.mark.parametrize(
    ("name", "content", "kind", "holds"),
    [
        ("a.png", PNG, "PNG image", {"width": 640, "height": 480}),
        ("a.gif", GIF, "GIF image", {"width": 3, "height": 5}),
        ("a.jpg", JPEG, "JPEG image", {"width": 800, "height": 600}),
        ("a.zip", zipped("x.txt", "d/y.txt"), "zip archive", {"files": 2, "names": ["x.txt", "d/y.txt"]}),
        ("a.docx", zipped("word/document.xml"), "Word document", {}),
        ("a.pdf", b"%PDF-1.7\n\x80\x81\0", "PDF document", {}),
        ("a.bin", b"\0\1\2\3", "program", {}),
        ("unknown", b"\0\1\2\3", "binary data", {}),
        ("empty.txt", b"", "plain text", {}),
    ],
)
def test_file_is_explained_with_its_contents(
    folder: StagedFolder, name: str, content: bytes, kind: str, holds: Any
) -> None:
    told = explain(folder, name, content)
    assert (told["kind"], told["agrees"], told["holds"]) == (kind, True, holds)
    assert (told["size"], told["modified_at"]) == (len(content), "2024-05-31T10:00:00+00:00")


def test_explanation_names_columns_of_tables_and_beginnings_of_texts(folder: StagedFolder) -> None:
    table = explain(folder, "a.csv", "x,y\n1,2\n")
    assert (table["holds"]["fields"], table["holds"]["rows"]) == (["x", "y"], 1)
    assert explain(folder, "a.txt", "\n  Dear all,\nhello")["holds"] == {
        "encoding": "UTF-8",
        "lines": 3,
        "begins": "Dear all,",
    }


def test_explanation_of_a_document_has_headings_length_and_beginning(folder: StagedFolder) -> None:
    assert explain(folder, "a.docx", samples.word("Dear all,", heading="Plan"))["holds"] == {
        "format": "Word",
        "fields": ["Plan"],
        "rows": 2,
        "unit": "paragraph",
        "begins": "Plan Dear all,",
    }


@pytest.mark.parametrize(
    ("name", "content", "looks"),
    [
        ("a.pdf", PNG, "PNG image"),
        ("a.jpg", "just text", "text"),
        ("a.txt", b"MZ\0\0\0", "program"),
        ("a.docx", "no zip", "text"),
        ("a.csv", b"\0\1\2", "binary data"),
    ],
)
def test_mismatch_of_extension_and_content_is_reported(
    folder: StagedFolder, name: str, content: bytes, looks: str
) -> None:
    told = explain(folder, name, content)
    assert (told["agrees"], told["looks_like"]) == (False, looks)


@pytest.mark.parametrize(
    "content",
    [PNG[:20], JPEG[:8], b"\xff\xd8\xff\xff" * 9, zipped("x")[:-10], b"GIF8"],
    ids=["png", "jpeg", "marks", "zip", "gif"],  # an archive holds the time: as an id it would change
)
def test_damaged_file_is_still_explained(folder: StagedFolder, content: bytes) -> None:
    assert explain(folder, "a.dat", content)["size"] == len(content)


def test_folder_is_explained_with_its_contents(folder: StagedFolder) -> None:
    folder.files("d/a.jpg", "d/b.jpg", "d/s/c.pdf")
    told = folder.run("explain.explain", path="d").data
    assert told["holds"] == {
        "files": 3,
        "directories": 1,
        "kinds": {"Images": 2, "Documents": 1},
        "names": ["a.jpg", "b.jpg", "s/"],
    }


def test_empty_folder_and_link_are_explained_too(folder: StagedFolder) -> None:
    (folder.root / "hollow").mkdir()
    (folder.root / "link").symlink_to("/etc/passwd")
    folder.scan()
    assert folder.run("explain.explain", path="hollow").data["holds"]["files"] == 0
    assert folder.run("explain.explain", path="link").data["kind"] == "link or device"


def test_missing_path_is_not_explained(folder: StagedFolder) -> None:
    with pytest.raises(NotFound):
        folder.run("explain.explain", path="gone")
