"""The parent: passes a document to a child, waits within a limit, and trusts nothing of a child that died."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, Any

import orjson

from libs.errors import Rejected

CHILD = Path(__file__).parent / "child.py"
SECONDS_MOST = 60.0
"""Seconds to wait for a child that does not even use its processor time."""
LOOK_SECONDS = 0.2
"""Seconds between two checks for cancellation."""
FORMS: Mapping[str, str] = {
    ".pdf": "PDF",
    ".docx": "Word",
    ".odt": "OpenDocument text",
    ".xlsx": "Excel",
    ".ods": "OpenDocument spreadsheet",
    ".pptx": "PowerPoint",
    ".odp": "OpenDocument presentation",
    ".epub": "e-book",
}
"""Readable formats by file extension."""
SCAN_PAGES = 3
"""Pages of a scan that are shown."""
PICTURES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp"))
"""Extensions of the pictures that `read_picture` reads."""


class CannotRead(Rejected):
    """The document cannot be read."""

    code = "CANNOT_READ"


class Damaged(CannotRead):
    """The file's content cannot be read."""

    code = "DAMAGED"


class Locked(Damaged):
    """The document is protected by a password."""

    code = "LOCKED"


@dataclass(frozen=True, slots=True)
class Document:
    """A document's text. `rows` counts its pages, slides, paragraphs or records; `unit` says which. `complete` is false
    where reading stopped at a limit. `starts` has the place in the text where each page of a PDF begins.
    """

    form: str
    unit: str
    rows: int
    fields: tuple[str, ...]
    head: tuple[Mapping[str, Any], ...]
    text: str
    complete: bool
    starts: tuple[int, ...] = ()


def read(ending: str, raw: bytes, *, check: Callable[[], None]) -> Document:
    """Read a document whose name has this extension, one of `FORMS`. `check` is called repeatedly, and raises on
    cancel.

    Raises:
        Locked: it needs a password.
        Damaged: it is damaged, or not what its name says.
        CannotRead: it takes too much to read.
    """
    return _read(ending, FORMS[ending], raw, check)


def read_page(html: str, url: str, *, check: Callable[[], None]) -> Document:
    """Return a web page as Markdown with absolute links. Its title, if it has one, is the only field.

    Raises:
        CannotRead: it takes too much to read.
    """
    return _read(".html", "web page", f"{url}\n{html}".encode(errors="replace"), check)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of a workbook: its name, empty where there is none of the wanted name; the names of all sheets; its rows
    as lines, with a tab between cells. `complete` is false where reading stopped at a limit.
    """

    name: str
    names: tuple[str, ...]
    text: str
    complete: bool


def read_sheet(raw: bytes, name: str, *, check: Callable[[], None]) -> Sheet:
    """Read the sheet of this name of an Excel file; without a name, the first one with rows.

    Raises:
        Locked, Damaged, CannotRead: as `read`.
    """
    found = _answer(".sheet", " ".join(name.split()).encode() + b"\n" + raw, check)
    return Sheet(**found | {"names": tuple(found["names"])})


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: its form (`PNG`), its size in pixels, and a JPEG of it with sides of at most 1,568 pixels."""

    form: str
    width: int
    height: int
    jpeg: bytes


def read_picture(raw: bytes, *, check: Callable[[], None]) -> Picture:
    """Decode a PNG, JPEG, GIF or WebP, whatever its name says.

    Raises:
        Damaged: it is none of these, is damaged, or has more pixels than are decoded.
        CannotRead: it takes too much to read.
    """
    found = _answer(".picture", raw, check)
    return Picture(**found | {"jpeg": base64.b64decode(found["jpeg"])})


def read_scan(raw: bytes, *, check: Callable[[], None]) -> tuple[bytes, ...]:
    """Return the first pages of a scanned PDF, at most `SCAN_PAGES`, as JPEGs like that of a picture. They are the
    pictures that its pages consist of; of a PDF with text, there are none.

    Raises:
        Locked, Damaged, CannotRead: as `read`.
    """
    return tuple(base64.b64decode(page) for page in _answer(".scan", raw, check)["jpegs"])


def _read(ending: str, form: str, raw: bytes, check: Callable[[], None]) -> Document:
    found = _answer(ending, raw, check)
    return Document(form, **found | {name: tuple(found[name]) for name in ("fields", "head", "starts")})


def _answer(ending: str, raw: bytes, check: Callable[[], None]) -> dict[str, Any]:
    # Not a pipe: a child that dies early, or reads nothing, would block the writer.
    with TemporaryFile() as given:
        given.write(raw)
        given.seek(0)
        status, said = _asked(ending, given, check)
    if status != 0:
        raise CannotRead("it is damaged, or takes too much time or memory to read")
    found: dict[str, Any] = orjson.loads(said)
    if "refused" in found:
        raise (Locked if found.get("locked") else Damaged)(found["refused"])
    return found


def _asked(ending: str, given: IO[bytes], check: Callable[[], None]) -> tuple[int, bytes]:
    """Return the child's exit status and output."""
    command = [sys.executable, "-I", str(CHILD), ending]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(  # noqa: S603 -- our own interpreter and our own file
        command, stdin=given, stdout=subprocess.PIPE, stderr=quiet, cwd="/", env={}
    ) as child:
        try:
            said = _waited(child, check)
        finally:
            child.kill()
        return child.wait(), said


def _waited(child: subprocess.Popen[bytes], check: Callable[[], None]) -> bytes:
    until = monotonic() + SECONDS_MOST
    while monotonic() < until:
        check()
        with suppress(subprocess.TimeoutExpired):
            return child.communicate(timeout=LOOK_SECONDS)[0]
    raise CannotRead("it takes too much time to read")
