"""The child: `python -I child.py .docx` parses one document on its standard input and prints its text as JSON; for
`.sheet`, one sheet; for `.picture` and `.scan`, small JPEGs.

It imports no module of Suma, so that it starts fast and holds nothing secret. All limits are set before the first byte
is read. It resolves no reference, follows no link, and opens no file.
"""

from __future__ import annotations

import base64
import json
import re
import resource
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from io import BytesIO
from itertools import islice, pairwise
from posixpath import dirname, join, normpath
from typing import Any
from xml.parsers import expat

MEMORY_MOST, CPU_SECONDS_MOST = 1 << 30, 20
PATIENCE_SECONDS = 12.0
"""Seconds of processor time; then what has been read is returned."""
UNPACKED_MOST = 128 << 20
TEXT_MOST = 1 << 20
HEAD_MOST, FIELDS_MOST, CELL_MOST = 10, 200, 300
DEEPEST = 200
BROKEN = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    expat.ExpatError,
    zipfile.BadZipFile,
    zlib.error,
)
"""The errors of parsers on unexpected bytes."""


class Refused(Exception):
    """The document cannot be read; the message says why."""


class Locked(Refused):
    """The document needs its password."""

    def __init__(self) -> None:
        super().__init__("it is locked with a password")


class Enough(Exception):
    """A limit was reached."""


@dataclass
class Found:
    """The text that was read of a document so far."""

    unit: str
    rows: int = 0
    fields: dict[str, None] = field(default_factory=dict)
    head: list[dict[str, Any]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    letters: int = 0
    complete: bool = True
    exact: bool = False
    """Whether its spaces and empty lines mean something."""
    parts: list[int] = field(default_factory=list)
    """For each page, the place in `words` where it begins."""

    def say(self, words: str) -> None:
        """Append text. Raises Enough."""
        self.words.append(_sound(words))
        self.letters += len(words)
        if self.letters > TEXT_MOST or time.process_time() > PATIENCE_SECONDS:
            raise Enough

    def name(self, title: str) -> None:
        if (title := " ".join(_sound(title).split())) and len(self.fields) < FIELDS_MOST:
            self.fields[title[:CELL_MOST]] = None

    def show(self, **row: Any) -> None:
        if len(self.head) < HEAD_MOST:
            self.head.append(
                {
                    _sound(key): _sound(value[:CELL_MOST]) if isinstance(value, str) else value
                    for key, value in row.items()
                }
            )

    @property
    def text(self) -> str:
        if self.exact:
            return "".join(self.words).strip("\n")[:TEXT_MOST]
        return _tidy("".join(self.words))[:TEXT_MOST]

    @property
    def starts(self) -> list[int]:
        """Where each page begins in the text; pages end with a line break, so that each is tidied alone."""
        found, at = [], 0
        for first, last in pairwise((*self.parts, len(self.words))):
            found.append(min(at, TEXT_MOST))
            letters = len(_tidy("".join(self.words[first:last])))
            at += letters + 1 if letters else 0
        return found


def _tidy(text: str) -> str:
    """Return the lines that are not empty, with single spaces."""
    lines = (re.sub(r"[^\S\t]+", " ", line).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _sound(text: str) -> str:
    """Keep what every JSON parser and database accepts as text."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def main(ending: str) -> None:
    try:
        raw = sys.stdin.buffer.read()
        told = SHOWN[ending](raw) if ending in SHOWN else _told(READERS[ending](raw))
    except Refused as error:
        told = {"refused": str(error), "locked": isinstance(error, Locked)}
    except BROKEN as error:
        told = {"refused": f"it is damaged: {' '.join(str(error).split())[:200]}"}
    sys.stdout.write(json.dumps(told))


def _told(found: Found) -> dict[str, Any]:
    return {
        "unit": found.unit,
        "rows": found.rows,
        "fields": list(found.fields),
        "head": found.head,
        "text": found.text,
        "starts": found.starts,
        "complete": found.complete,
    }


def confine() -> None:
    for bound, most in (
        (resource.RLIMIT_AS, MEMORY_MOST),
        (resource.RLIMIT_CPU, CPU_SECONDS_MOST),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 16),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(bound, (most, most))


def bounded(found: Found, read: Callable[[], None]) -> Found:
    """Keep what was read before the limit."""
    try:
        read()
    except Enough:
        found.complete = False
    return found


# PDF

PDF_END = 2048
"""Bytes at the end of a file that say where its table is (ISO 32000-1, 7.5.5)."""


def pdf(raw: bytes) -> Found:
    """Read page by page. A page of images has no text, and that is the result."""
    import pypdf

    found = Found("page")
    if cut := b"startxref" not in raw[-PDF_END:]:
        # Disable the cross-reference table that stood there, so that the library searches for the objects themselves.
        raw += b"\nstartxref\n0\n%%EOF\n"
    try:
        reader = pypdf.PdfReader(BytesIO(raw))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Locked
        found.rows = len(reader.pages)
        about: Mapping[str, Any] = reader.metadata or {}
        for name in ("/Title", "/Author", "/Subject"):
            if isinstance(value := about.get(name), str) and value.strip():
                found.name(f"{name[1:]}: {value}")
        read = bounded(found, lambda: _pages(found, reader))
        read.complete = read.complete and not cut
        return read
    except pypdf.errors.PyPdfError as error:
        raise ValueError(error) from error


def _pages(found: Found, reader: Any) -> None:
    for number, page in enumerate(reader.pages, 1):
        text = page.extract_text() or ""
        found.show(page=number, text=" ".join(text.split()))
        found.parts.append(len(found.words))
        found.say(f"{text}\n")


# Zipped XML


@dataclass(frozen=True)
class Markup:
    """The meaning of a format's elements, by their names without the namespace."""

    unit: str
    counted: frozenset[str]
    """Elements that count as rows."""
    speaking: frozenset[str]
    """Only these contain text."""
    lines: frozenset[str]
    """Elements that end a line."""
    headings: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    cells: frozenset[str] = frozenset()


def _all(names: str) -> frozenset[str]:
    return frozenset(names.split())


WORD = Markup("paragraph", _all("p"), _all("t"), _all("p br"), silent=_all("instrText delText Fallback"))
SLIDES = Markup("slide", _all("cSld"), _all("t"), _all("p br"))
WRITER = Markup(
    "paragraph", _all("p h"), _all("p h"), _all("p h line-break"), _all("h"), _all("annotation tracked-changes")
)
IMPRESS = Markup("slide", _all("page"), _all("p h"), _all("p h line-break"), _all("h"), _all("notes annotation"))
CALC = Markup(
    "row", _all("table-row"), _all("p"), _all("table-row"), cells=_all("table-cell"), silent=_all("annotation")
)
BOOK = Markup(
    "chapter",
    _all("body"),
    _all("body"),
    _all("body p div li tr br h1 h2 h3 h4 h5 h6 blockquote section"),
    _all("h1 h2 h3"),
    _all("script style svg"),
)


class Words:
    """Reads the text of one XML part; elements that the format does not name are skipped."""

    def __init__(self, found: Found, markup: Markup) -> None:
        self._found, self._markup = found, markup
        self._open: list[str] = []
        self._speaking = self._silent = 0
        self._heading: list[str] | None = None

    def read(self, part: bytes) -> None:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler, parser.EndElementHandler = self._began, self._ended
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = self._said, _doctype
        parser.buffer_text = True
        parser.Parse(part, True)

    def _began(self, tag: str, attributes: Mapping[str, str]) -> None:
        name, markup = _local(tag), self._markup
        self._open.append(name)
        if len(self._open) > DEEPEST:
            raise Refused(f"it is nested more than {DEEPEST} levels deep")
        self._speaking += name in markup.speaking
        self._silent += name in markup.silent
        self._found.rows += name in markup.counted
        if name in markup.headings or _styled(name, attributes):
            self._heading = []
        if name in ("tab", "s") and (self._speaking or self._open[-2:-1] == ["r"]):
            self._found.say(" ")

    def _ended(self, tag: str) -> None:
        name, markup = _local(tag), self._markup
        self._open.pop()
        self._speaking -= name in markup.speaking
        self._silent -= name in markup.silent
        if name in markup.cells:
            self._found.say("\t")
        if name in markup.lines:
            self._found.say("\n")
        if self._heading is not None and (name in markup.headings or name == "p"):
            self._found.name("".join(self._heading))
            self._heading = None

    def _said(self, words: str) -> None:
        if self._speaking and not self._silent:
            # Line breaks of the XML source are not part of the text.
            words = " ".join(words.split("\n"))
            if self._heading is not None:
                self._heading.append(words)
            self._found.say(words)


def _styled(name: str, attributes: Mapping[str, str]) -> bool:
    """Return whether a Word paragraph has a heading style, or a slide element is a title."""
    if name not in ("pStyle", "ph"):
        return False
    style = next((value.lower() for key, value in attributes.items() if _local(key) in ("val", "type")), "")
    return style.startswith(("heading", "title", "berschrift", "titel", "ttulo", "título", "ctrtitle"))


def _local(tag: str) -> str:
    return tag.rpartition(" ")[2]


def _doctype(name: str, system: str | None, public: str | None, internal: int) -> None:
    """Pages of a book name a known DTD, which is not fetched; an internal one may be a bomb."""
    if internal:
        raise Refused("it has an internal DTD, which may expand to gigabytes")


ENCRYPTED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The start of an encrypted office file, stored in the older container format (MS-OFFCRYPTO, 2.3)."""


class Archive:
    """The parts of a zipped document, limited in total size."""

    def __init__(self, raw: bytes) -> None:
        if raw.startswith(ENCRYPTED):
            raise Locked
        if not zipfile.is_zipfile(BytesIO(raw)):
            raise Refused("it is damaged, or not what its name says")
        self._zip = zipfile.ZipFile(BytesIO(raw))
        self.names = self._zip.namelist()
        if sum(entry.file_size for entry in self._zip.infolist()) > UNPACKED_MOST:
            raise Refused(f"it grows beyond {UNPACKED_MOST >> 20} MiB when it is unpacked")
        if any(entry.flag_bits & 1 for entry in self._zip.infolist()):
            raise Locked

    def part(self, name: str) -> bytes:
        if name not in self.names:
            raise Refused(f"it is not what its name says: there is no {name} in it")
        return self._zip.read(name)

    def numbered(self, pattern: str) -> list[str]:
        """Return names that match a pattern with one number, ordered by it."""
        found = ((re.fullmatch(pattern, name), name) for name in self.names)
        return [name for _, name in sorted((int(match[1]), name) for match, name in found if match)]


def _parts(markup: Markup, choose: Callable[[Archive], Iterable[str]]) -> Callable[[bytes], Found]:
    def read(raw: bytes) -> Found:
        archive, found = Archive(raw), Found(markup.unit)

        def parts() -> None:
            for name in choose(archive):
                begun = len(found.words)
                Words(found, markup).read(archive.part(name))
                if markup.unit in ("slide", "chapter"):
                    found.show(
                        **{markup.unit: len(found.head) + 1, "text": " ".join("".join(found.words[begun:]).split())}
                    )

        return bounded(found, parts)

    return read


def _content(name: str) -> Callable[[Archive], Iterable[str]]:
    return lambda archive: (name,)


def _slides(archive: Archive) -> list[str]:
    return archive.numbered(r"ppt/slides/slide(\d+)\.xml") or ["ppt/presentation.xml"]


def _chapters(archive: Archive) -> Iterator[str]:
    """Return the parts in reading order (EPUB 3.3, the package's spine)."""
    roots = [root for name, root in _elements(archive.part(CONTAINER)) if name == "rootfile"]
    package = roots[0].get("full-path", "") if roots else ""
    told = _elements(archive.part(package))
    names = {item.get("id", ""): item.get("href", "") for name, item in told if name == "item"}
    for name, item in told:
        if name == "itemref" and (chapter := item.get("idref", "")) in names:
            yield normpath(join(dirname(package), names[chapter].partition("#")[0]))


CONTAINER = "META-INF/container.xml"


def _elements(part: bytes) -> list[tuple[str, Mapping[str, str]]]:
    """Yield each element's name and attributes, in order."""
    found: list[tuple[str, Mapping[str, str]]] = []
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = lambda tag, attributes: found.append((_local(tag), attributes))
    parser.StartDoctypeDeclHandler = _doctype
    parser.Parse(part, True)
    return found


# Tables


SHEET = ".sheet"


def excel(raw: bytes) -> Found:
    """Read the values of each sheet; the first row of the first sheet names the columns. Formulas are not evaluated."""
    found, book = Found("row", exact=True), _book(raw)
    return bounded(found, lambda: _tabled(found, (row for sheet in book.worksheets for row in _rows(sheet))))


def sheet(given: bytes) -> dict[str, Any]:
    """Read the sheet that the first line names, else the first one with rows; and name all sheets."""
    name, _, raw = given.partition(b"\n")
    wanted, found, book = name.decode().casefold(), Found("row", exact=True), _book(raw)
    named = [each for each in book.worksheets if each.title.strip().casefold() == wanted] if wanted else book.worksheets
    chosen = next((each for each in named if next(_rows(each), None)), named[0] if named else None)
    if chosen is not None:
        bounded(found, lambda: _tabled(found, _rows(chosen)))
    names = [_sound(each.title) for each in book.worksheets[:FIELDS_MOST]]
    title = _sound(chosen.title) if chosen is not None else ""
    return {"name": title, "names": names, "text": found.text, "complete": found.complete}


def _book(raw: bytes) -> Any:
    import openpyxl

    # Checked first: the library would unpack a bomb.
    Archive(raw)
    return openpyxl.load_workbook(BytesIO(raw), read_only=True, data_only=True, keep_links=False)


def _rows(sheet: Any) -> Iterator[list[str]]:
    for row in sheet.iter_rows(values_only=True):
        # A tab or a line break in a cell would be taken for a border of one.
        cells = ["" if value is None else " ".join(str(value).split()) for value in row]
        if any(cells):
            yield cells


def calc(raw: bytes) -> Found:
    lines = _parts(CALC, _content("content.xml"))(raw)
    found = Found("row", complete=lines.complete)
    return bounded(
        found, lambda: _tabled(found, (line.rstrip("\t").split("\t") for line in lines.text.split("\n") if line))
    )


def _tabled(found: Found, rows: Iterator[list[str]]) -> None:
    header = next(rows, [])
    for n, name in enumerate(header, 1):
        found.name(name or f"column {n}")
    found.say("\t".join(header) + "\n")
    names = [*header, *(f"column {n}" for n in range(len(header) + 1, 1000))]
    for row in rows:
        found.rows += 1
        found.show(**{names[n] or f"column {n + 1}": cell for n, cell in enumerate(islice(row, 50))})
        found.say("\t".join(row) + "\n")


# Pages of the web

HEAD_BYTES = 64 << 10
"""Bytes within which the title of a page is."""


def page(raw: bytes) -> Found:
    """Convert HTML to Markdown. The first line is the page's address, by which its links are made absolute."""
    from html_to_markdown import ConversionOptions, convert

    address, _, html = raw.partition(b"\n")
    text, found = html.decode(errors="replace"), Found("page", rows=1, exact=True)
    # The two are read apart: the converter writes a title that it finds into the text.
    title = convert(text[:HEAD_BYTES]).metadata.document.title
    options = ConversionOptions(
        base_url=address.decode(errors="replace"), extract_metadata=False, inline_data_media="alt_text_only"
    )
    read = convert(text, options)
    if title:
        found.name(title)
    skipped = any("depth_limit" in str(warning.kind) for warning in read.warnings)
    done = bounded(found, lambda: found.say((read.content or "")[: TEXT_MOST + 1]))
    done.complete = done.complete and not skipped
    return done


# Pictures

PICTURE = ".picture"
PIXELS_MOST = 40_000_000
"""Pixels of a picture that is decoded: a small file may claim any number."""
SIZES = ((1568, 85), (1568, 60), (1024, 60), (512, 60))
"""Longest side in pixels and quality, tried in turn; models scale larger pictures down themselves."""
JPEG_MOST = 1 << 20


def picture(raw: bytes) -> dict[str, Any]:
    """Return the form and size of a picture, and a JPEG of its first frame as it is meant to be seen, on white."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    # Its size is checked here, by one limit.
    Image.MAX_IMAGE_PIXELS = None
    try:
        found = Image.open(BytesIO(raw), formats=("PNG", "JPEG", "GIF", "WEBP"))
    except UnidentifiedImageError:
        raise Refused("it is not a PNG, JPEG, GIF or WebP picture") from None
    with found:
        form, width, height = found.format, found.width, found.height
        if width * height > PIXELS_MOST:
            raise Refused(f"its {width} × {height} pixels are more than {PIXELS_MOST:,}")
        found.draft("RGB", (SIZES[0][0], SIZES[0][0]))
        return {"form": form, "width": width, "height": height, "jpeg": _small(ImageOps.exif_transpose(found))}


def _small(found: Any) -> str:
    """Return a picture as a small JPEG on white, in base64."""
    from PIL import Image

    seen, jpeg = found.convert("RGBA"), BytesIO()
    for side, quality in SIZES:
        seen.thumbnail((side, side))
        flat, jpeg = Image.new("RGB", seen.size, "white"), BytesIO()
        flat.paste(seen, mask=seen)
        flat.save(jpeg, "JPEG", quality=quality)
        if jpeg.tell() <= JPEG_MOST:
            break
    return base64.b64encode(jpeg.getvalue()).decode()


# Scans

SCAN = ".scan"
SCAN_PAGES, LOOKED_PAGES = 3, 10
"""Pages of a scan that are returned, and among which they are looked for."""
SCAN_PIXELS_LEAST = 100_000
"""Pixels of a scanned page; a smaller picture is an ornament."""


def scan(raw: bytes) -> dict[str, Any]:
    """Return the first pages of a PDF that are pictures without text, as JPEGs."""
    import pypdf

    jpegs: list[str] = []
    try:
        reader = pypdf.PdfReader(BytesIO(raw))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Locked
        for page in islice(reader.pages, LOOKED_PAGES):
            if len(jpegs) == SCAN_PAGES or time.process_time() > PATIENCE_SECONDS:
                break
            if (name := _largest(page)) is None or (page.extract_text() or "").strip():
                continue
            if (found := page.images[name].image) is not None:
                jpegs.append(_small(found.rotate(-page.rotation, expand=True)))
    except pypdf.errors.PyPdfError as error:
        raise ValueError(error) from error
    return {"jpegs": jpegs}


def _largest(page: Any) -> str | None:
    """Return the name of the page's largest picture that is as large as a page, and may be decoded."""
    sizes = {}
    for name, held in (page.get("/Resources", {}).get("/XObject", {}) or {}).items():
        about = held.get_object()
        if about.get("/Subtype") == "/Image":
            sizes[name] = int(about["/Width"]) * int(about["/Height"])
    fitting = [name for name, size in sizes.items() if SCAN_PIXELS_LEAST <= size <= PIXELS_MOST]
    return max(fitting, key=sizes.__getitem__, default=None)


SHOWN: Mapping[str, Callable[[bytes], dict[str, Any]]] = {SHEET: sheet, PICTURE: picture, SCAN: scan}

READERS: Mapping[str, Callable[[bytes], Found]] = {
    ".pdf": pdf,
    ".docx": _parts(WORD, _content("word/document.xml")),
    ".odt": _parts(WRITER, _content("content.xml")),
    ".xlsx": excel,
    ".ods": calc,
    ".pptx": _parts(SLIDES, _slides),
    ".odp": _parts(IMPRESS, _content("content.xml")),
    ".epub": _parts(BOOK, _chapters),
    ".html": page,
}

LIBRARIES = {
    ".pdf": "pypdf",
    ".xlsx": "openpyxl",
    SHEET: "openpyxl",
    ".html": "html_to_markdown",
    PICTURE: "PIL.Image",
    SCAN: "pypdf",
}

if __name__ == "__main__":
    # Import before the limits are set, and only what this format needs.
    if sys.argv[1] in LIBRARIES:
        import_module(LIBRARIES[sys.argv[1]])
    confine()
    main(sys.argv[1])
