"""Reading a file in pages: its exact text by lines, from any line to the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO, TextIOWrapper
from typing import TextIO

import orjson

from libs.documents import FORMS, PICTURES, CannotRead, read_picture, read_scan
from libs.errors import Rejected
from libs.workspace.view import Node
from services.tool_executor.tools.decoding import GUESSED, NoText, decoded
from services.tool_executor.tools.parsing import CannotParse, read
from services.tool_executor.tools.tool_context import Args, ToolContext, ToolOutput, TooMuch, human, many

PAGE_BYTES = 12 * 1024
"""JSON bytes of the text of one page: with its other fields it fits into what a model sees of a step."""
LINE_MOST = 2_000
"""Characters of a line that are shown."""
CHECKED = 1_000
"""Lines between two looks whether the call is still wanted."""


class NoSuchLine(Rejected):
    """The file has fewer lines."""

    code = "NO_SUCH_LINE"


@dataclass(slots=True)
class Page:
    """The lines of a page as they are collected."""

    first: int
    lines: int
    text: list[str] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    """Numbers of lines that are longer than what is shown of them."""
    room: int = PAGE_BYTES

    @property
    def full(self) -> bool:
        return len(self.text) >= self.lines or self.room <= 0

    def take(self, number: int, line: str) -> bool:
        """Add a line, unless the page has no room for it. A page has at least one line."""
        shown = line if len(line) <= LINE_MOST else line[:LINE_MOST] + "\n"
        self.room -= len(orjson.dumps(shown.encode("utf-8", "replace").decode()))
        if self.room < 0 and self.text:
            return False
        if shown is not line:
            self.cut.append(number)
        self.text.append(shown)
        return True


def read_file(context: ToolContext, args: Args) -> ToolOutput:
    """Return lines of a file as they are. `next` is the first line that was not returned; `complete` is true only if
    the result holds the whole file.
    """
    node = context.file(args["path"])
    if node.extension in PICTURES:
        return _picture(context, node)
    page, number, more = Page(args["offset"], args["limit"]), 0, False
    with _opened(context, node) as (lines, encoding):
        for number, line in enumerate(lines, 1):
            if number % CHECKED == 0:
                context.check()
            if number >= page.first and (page.full or not page.take(number, line)):
                more = True
                break
    if not number and node.extension == ".pdf" and (scan := _scan(context, node)) is not None:
        return scan
    if number < page.first and page.first > 1:
        raise NoSuchLine(f"{node.path} has {many(number, 'line')}")
    text, last = "".join(page.text), page.first + len(page.text) - 1
    doubtful = encoding == GUESSED or (bool(encoding) and "\ufffd" in text)
    complete = page.first == 1 and not (more or page.cut or doubtful)
    data = {
        "path": node.path,
        "text": text,
        "first": page.first,
        "last": last,
        "next": last + 1 if more else None,
        "complete": complete,
        "size": node.size,
        "encoding": encoding,
        **({"cut": page.cut} if page.cut else {}),
    }
    part = node.path if complete else f"lines {page.first} to {last} of {node.path}"
    warnings = [f"{node.path} is not {encoding} throughout; \ufffd stands for what is not."] if doubtful else []
    return ToolOutput(data, f"Read {part} ({human(node.size)}).", (node.path,), warnings=tuple(warnings))


def _scan(context: ToolContext, node: Node) -> ToolOutput | None:
    """Return the first page of a PDF without text for a model that sees; None if its pages are no pictures."""
    content = context.stage.read_content(node.path, context.limits.document_bytes_most)
    try:
        pages = read_scan(content.data, check=context.check)
    except CannotRead:
        return None
    if not pages:
        return None
    text = "a scan without text; of its pages only the first is shown, to a model that sees"
    data = {"path": node.path, "text": text, "complete": False, "size": node.size}
    return ToolOutput(data, f"Read {node.path}: {text} ({human(node.size)}).", (node.path,), picture=pages[0])


def _picture(context: ToolContext, node: Node) -> ToolOutput:
    """Return what a picture is in words, and the picture for a model that sees."""
    content = context.stage.read_content(node.path, context.limits.document_bytes_most)
    if content.truncated:
        raise TooMuch(f"{node.path} has {human(node.size)}: too large to be read as a picture")
    try:
        found = read_picture(content.data, check=context.check)
    except CannotRead as error:
        raise CannotParse(f"{node.path} cannot be read: {error}") from error
    text = f"a {found.form} picture of {found.width} × {found.height} pixels"
    data = {"path": node.path, "text": text, "complete": False, "size": node.size}
    return ToolOutput(data, f"Read {node.path}: {text} ({human(node.size)}).", (node.path,), picture=found.jpeg)


@contextmanager
def _opened(context: ToolContext, node: Node) -> Iterator[tuple[Iterator[str], str]]:
    """Yield the lines of a file and its encoding, which is empty for a document whose text a parser extracts."""
    if node.extension in FORMS:
        yield _lines(StringIO(read(context, node).text, newline="")), ""
        return
    head = context.stage.read_content(node.path, context.limits.read_bytes_most)
    try:
        beginning = decoded(head.data, whole=not head.truncated)
    except NoText as error:
        raise CannotParse(f"{node.path} holds no text; explain says what it is") from error
    if not head.truncated:
        yield _lines(StringIO(beginning.text, newline="")), beginning.encoding
        return
    with context.opened(node.path) as raw:
        stream = TextIOWrapper(raw, beginning.codec, errors="replace", newline="")
        yield _lines(stream), beginning.encoding
        stream.detach()


def _lines(stream: TextIO) -> Iterator[str]:
    """Yield the lines with their ends; of a long one only the beginning, so that none takes more memory than that."""
    while line := stream.readline(LINE_MOST + 1):
        rest = line
        while rest and not rest.endswith(("\n", "\r")):
            rest = stream.readline(LINE_MOST + 1)
        yield line
