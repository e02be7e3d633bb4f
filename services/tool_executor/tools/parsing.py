"""Parsing: what a file of a known form says, in fields and rows (S4-59). It is read as data, and may be hostile.

No parser here resolves anything, runs anything, or is handed more than the bound: XML with a DTD is refused, YAML
with anchors is refused before it is built, nesting is bounded. PDF and office files are read in a process of their own
(`libs.documents`). Only a whole file is parsed; of a table or a list of lines the beginning of a longer one is read,
and the answer says that it is not all.
"""

from __future__ import annotations

import configparser
import csv
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from email import policy
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from functools import partial
from html import unescape
from io import StringIO
from itertools import islice
from pathlib import PurePosixPath
from typing import Any
from xml.parsers import expat

import yaml

from libs import documents
from libs.documents import FORMS
from libs.errors import Rejected
from libs.skills import LOADER
from libs.workspace.view import Node
from services.tool_executor.tools.decoding import NoText, decoded
from services.tool_executor.tools.tool_context import Args, ToolContext, ToolOutput, TooMuch, human, many

HEAD = 10
"""Rows that are shown."""
FIELDS_MOST, CELL_MOST, TEXT_MOST = 200, 300, 4_000
DEEPEST = 100
"""Levels of nesting."""
NODES_MOST = 200_000
"""Values in one document."""
DECLARATION = 100
"""Letters in which an XML document may say how it is encoded."""
SLOW = {".yaml": 1 << 20, ".yml": 1 << 20, ".toml": 1 << 20}
"""Bytes of forms whose parsers take long over a text."""


class CannotParse(Rejected):
    """The file is not what its name says, or of a form that cannot be read here."""

    code = "CANNOT_PARSE"


@dataclass(frozen=True, slots=True)
class Parsed:
    """The content of a file. `rows` counts all that was read, in `unit`s; `complete` is false where the file continues,
    after its first `bytes` if their number is known.
    """

    format: str
    fields: tuple[str, ...] = ()
    rows: int = 0
    head: tuple[Any, ...] = ()
    text: str = ""
    encoding: str = ""
    complete: bool = True
    unit: str = "row"
    bytes: int = 0


Parser = Callable[[str], Parsed]


def parse_content(context: ToolContext, args: Args) -> ToolOutput:
    """Report a file's format, fields, rows and beginning."""
    node = context.file(args["path"])
    found = read(context, node)
    data = {
        "format": found.format,
        "unit": found.unit,
        "encoding": found.encoding,
        "fields": [_cut(field) for field in found.fields[:FIELDS_MOST]],
        "rows": found.rows,
        "head": [_shown(row) for row in found.head[:HEAD]],
        "text": _cut(found.text, TEXT_MOST),
        "complete": found.complete,
    }
    summary = f"{node.path} is {found.format}: {many(found.rows, found.unit)}, {many(len(found.fields), 'field')}."
    beginning = f"first {human(found.bytes)} of {node.path} were" if found.bytes else f"beginning of {node.path} was"
    warnings = [] if found.complete else [f"Only the {beginning} read."]
    if "guessed" in found.encoding:
        warnings.append(f"{node.path} is not UTF-8; it was read as Latin-1.")
    return ToolOutput(data, summary, reads=(node.path,), warnings=tuple(warnings))


def read(context: ToolContext, node: Node) -> Parsed:
    """Parse a file, as far as it may be read. Raises `CannotParse`, `TooMuch`."""
    if node.extension in FORMS:
        return _document_of(context, node)
    most = min(context.limits.read_bytes_most, SLOW.get(node.extension, context.limits.read_bytes_most))
    excerpt = context.stage.read_content(node.path, most)
    return replace(parsed(node.name, excerpt.data, whole=not excerpt.truncated), bytes=len(excerpt.data))


def _document_of(context: ToolContext, node: Node) -> Parsed:
    excerpt = context.stage.read_content(node.path, context.limits.document_bytes_most)
    if excerpt.truncated:
        _too_long(node.name)
    try:
        found = documents.read(node.extension, excerpt.data, check=context.check)
    except documents.CannotRead as error:
        raise CannotParse(f"{node.name} cannot be read: {error}") from error
    head = tuple(dict(row) for row in found.head)
    return Parsed(found.form, found.fields, found.rows, head, found.text, "", found.complete, found.unit)


def parsed(name: str, raw: bytes, *, whole: bool = True) -> Parsed:
    """Parse these bytes as a file of this name. Raises `CannotParse`, `TooMuch`."""
    ending = PurePosixPath(name).suffix.lower()
    if ending in MAILS:
        return _tried(name, lambda: _mail(raw)) if whole else _too_long(name)
    try:
        text = decoded(raw, whole=whole)
    except NoText as error:
        raise CannotParse(f"{name} holds no text") from error
    parse = PARSERS.get(ending, _plain)
    if not whole and ending in WHOLE:
        _too_long(name)
    if not whole and parse is _table:
        # The cut may go through a quoted cell.
        parse = partial(_table, strict=False)
    if not whole:
        text = replace(text, text=text.text.rpartition("\n")[0] or text.text)
    return replace(_tried(name, lambda: parse(text.text)), encoding=text.encoding, complete=whole)


def _too_long(name: str) -> Any:
    raise TooMuch(f"{name} is too large to be parsed whole, and a part of it means nothing")


def _tried(name: str, parse: Callable[[], Parsed]) -> Parsed:
    try:
        return parse()
    except CannotParse as error:
        raise CannotParse(f"{name} cannot be read: {error}") from error
    except (ValueError, csv.Error, configparser.Error, yaml.YAMLError, expat.ExpatError) as error:
        raise CannotParse(f"{name} is damaged or not what its name says: {_first_line(error)}") from error
    except RecursionError as error:
        raise CannotParse(f"{name} is nested too deeply") from error


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
"""The first line by which Excel says how a CSV is separated."""


def _table(text: str, *, strict: bool = True) -> Parsed:
    """Parse a table in its own dialect. The first row names the columns."""
    delimiter, rows = cells(text, strict=strict)
    header = next(rows, [])
    head = [dict(zip(_named(header, row), row, strict=False)) for row in islice(_filled(rows), HEAD)]
    count = len(head) + sum(1 for _ in _filled(rows))
    return Parsed("TSV" if delimiter == "\t" else "CSV", tuple(header), count, tuple(head), _beginning(text))


def cells(text: str, *, strict: bool = True) -> tuple[str, Iterator[list[str]]]:
    """Return the character that divides the cells of a table, and its rows. Iterating raises `csv.Error`."""
    hint = SEPARATOR.match(text)
    text = text[hint.end() :] if hint else text
    delimiter = hint[1] if hint else _delimiter(text)
    return delimiter, csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=strict)


def _filled(reader: Iterable[list[str]]) -> Iterable[list[str]]:
    return (row for row in reader if row)


def _named(header: list[str], row: list[str]) -> list[str]:
    """Name each cell, also if the header has too few names."""
    names = [name or f"column {n}" for n, name in enumerate(header, 1)]
    return [*names, *(f"column {n}" for n in range(len(names) + 1, len(row) + 1))]


def _delimiter(text: str) -> str:
    """Return the character that divides the first lines most evenly; quoted characters do not count."""
    lines = [re.sub(r'"[^"]*"', "", line) for line in text[:20_000].splitlines()[:20] if line.strip()]
    counts = {mark: [line.count(mark) for line in lines] for mark in ";,\t|"}
    even = {mark: found[0] for mark, found in counts.items() if found and found[0] and len(set(found)) == 1}
    some = {mark: found[0] for mark, found in counts.items() if found and found[0]}
    return max(even or some or {",": 1}, key=lambda mark: (even or some or {",": 1})[mark])


def _json(text: str) -> Parsed:
    _refuse_deep(text)
    return _document("JSON", json.loads(text, parse_constant=_no_constant), text)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _refuse_deep(text: str) -> None:
    """Refuse deep nesting, which is counted before anything is built."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    depth, inside, escaped = 0, False, False
    for letter in text:
        if inside:
            inside, escaped = not (letter == '"' and not escaped), letter == "\\" and not escaped
        elif letter == '"':
            inside = True
        elif letter in "[{":
            depth += 1
            if depth > DEEPEST:
                raise CannotParse(f"it is nested more than {DEEPEST} levels deep")
        elif letter in "]}":
            depth -= 1


def _json_lines(text: str) -> Parsed:
    fields: dict[str, None] = {}
    head: list[Any] = []
    rows = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        _refuse_deep(line)
        try:
            row = json.loads(line)
        except ValueError as error:
            raise CannotParse(f"line {number} is no JSON: {_first_line(error)}") from error
        rows += 1
        if isinstance(row, dict) and len(fields) < FIELDS_MOST:
            fields |= dict.fromkeys(map(str, row))
        if len(head) < HEAD:
            head.append(row)
    return Parsed("JSON Lines", tuple(fields), rows, tuple(head), _beginning(text))


def _yaml(text: str) -> Parsed:
    _refuse_aliases(yaml.parse(text, LOADER))
    documents = list(yaml.load_all(text, LOADER))
    value = documents[0] if len(documents) == 1 else documents
    return _document("YAML", value, text)


def _refuse_aliases(events: Iterable[yaml.Event]) -> None:
    """Refuse aliases, of which a few lines can expand to gigabytes, and deep nesting, which recurses."""
    values, depth = 0, 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            raise CannotParse("it refers to itself (an alias), which is not read here")
        values += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if values > NODES_MOST or depth > DEEPEST:
            raise CannotParse("it holds too many values, or nests too deeply")


def _toml(text: str) -> Parsed:
    # A dotted key costs its parser the square of its length.
    if any(line.partition("=")[0].count(".") > DEEPEST for line in text.splitlines()):
        raise CannotParse(f"it is nested more than {DEEPEST} levels deep")
    return _document("TOML", tomllib.loads(text), text)


def _ini(text: str) -> Parsed:
    found = configparser.ConfigParser(interpolation=None, strict=True, allow_no_value=True)
    found.read_string(text)
    sections = tuple(found.sections())
    head = tuple({section: dict(found.items(section, raw=True))} for section in sections[:HEAD])
    return Parsed("INI", sections, sum(len(found[section]) for section in sections), head, _beginning(text))


def _document(form: str, value: Any, text: str) -> Parsed:
    """Return a list as rows, and a record as one row for each field."""
    match value:
        case Mapping():
            fields = tuple(map(str, value))
            head = tuple({key: value} for key, value in islice(value.items(), HEAD))
            return Parsed(form, fields, len(value), head, _beginning(text))
        case list():
            keys = (key for row in value[:NODES_MOST] if isinstance(row, Mapping) for key in row)
            fields = tuple(dict.fromkeys(map(str, keys)))
            return Parsed(form, fields, len(value), tuple(value[:HEAD]), _beginning(text))
        case None:
            return Parsed(form, (), 0, (), _beginning(text))
        case _:
            return Parsed(form, (), 1, (value,), _beginning(text))


def _xml(text: str) -> Parsed:
    """Count and name the elements; nothing is resolved, and a DTD is refused."""
    elements = _Elements()
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = elements.began, elements.ended
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = elements.said, _no_dtd
    # The text is decoded already: what the document says of its encoding no longer holds.
    parser.Parse(re.sub(r"""\s+encoding\s*=\s*["'][^"']*["']""", "", text[:DECLARATION], count=1), False)
    parser.Parse(text[DECLARATION:], True)
    head = tuple({"element": name, "count": count} for name, count in islice(elements.names.items(), HEAD))
    return Parsed("XML", tuple(elements.names), elements.rows, head, " ".join(elements.words))


@dataclass
class _Elements:
    """The content of an XML document: each name and how often, the elements right below the top, the first words."""

    names: dict[str, int] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    rows: int = 0
    depth: int = 0
    letters: int = 0

    def began(self, name: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise CannotParse(f"it is nested more than {DEEPEST} levels deep")
        self.rows += self.depth == 2
        if name in self.names or len(self.names) < FIELDS_MOST:
            self.names[name] = self.names.get(name, 0) + 1

    def ended(self, name: str) -> None:
        self.depth -= 1

    def said(self, piece: str) -> None:
        if self.letters < TEXT_MOST and piece.strip():
            self.words.append(piece.strip())
            self.letters += len(piece)


def _no_dtd(*_: Any) -> None:
    raise CannotParse("it has a DTD, which may expand to gigabytes or read other files")


SILENT = ("script", "style", "template", "noscript", "textarea", "svg")
HEADS = ("title", "h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = frozenset(
    (*HEADS, *["p", "div", "li", "tr", "br", "section", "article", "blockquote", "table", "ul", "ol", "pre"])
)
TAG = re.compile(r"/?([A-Za-z][A-Za-z0-9]*)")
CLOSING = {tag: re.compile(rf"</{tag}\b", re.IGNORECASE) for tag in SILENT}


@dataclass
class _Page:
    """The headings and the readable text of a page. Every look for an end goes on from the last, so that no page
    takes longer than its length.
    """

    headings: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    heading: list[str] | None = None

    def read(self, page: str) -> None:
        at = 0
        while (start := page.find("<", at)) >= 0:
            self.say(page[at:start])
            at = self.past(page, start)
        self.say(page[at:])

    def past(self, page: str, start: int) -> int:
        """Return the position after the element that begins here; the end if it never ends."""
        if page.startswith("<!--", start):
            return _behind(page, "-->", start)
        found = TAG.match(page, start + 1)
        if found is None and page[start + 1 : start + 2] not in ("!", "?", "/"):
            self.say("<")
            return start + 1
        end = _behind(page, ">", start)
        if found is not None:
            self.tag(found[1].lower(), closing=page[start + 1] == "/")
            if found[0].lower() in SILENT and page[end - 2 : end - 1] != "/":
                closing = CLOSING[found[0].lower()].search(page, end)
                return closing.start() if closing else len(page)
        return end

    def tag(self, name: str, *, closing: bool) -> None:
        if name in BLOCKS:
            self.words.append("\n")
        if name in HEADS and self.heading is not None:
            self.headings.append(" ".join("".join(self.heading).split()))
        if name in HEADS:
            self.heading = None if closing else []

    def say(self, piece: str) -> None:
        text = unescape(piece)
        self.words.append(text)
        if self.heading is not None:
            self.heading.append(text)

    @property
    def text(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self.words).split("\n"))
        return "\n".join(line for line in lines if line)


def _behind(page: str, end: str, start: int) -> int:
    found = page.find(end, start)
    return found + len(end) if found >= 0 else len(page)


def _html(text: str) -> Parsed:
    page = _Page()
    page.read(text)
    headings, said = tuple(heading for heading in page.headings if heading), page.text
    return Parsed("HTML", headings, said.count("\n") + bool(said), headings[:HEAD], said)


def _markdown(text: str) -> Parsed:
    headings = tuple(headings_of(text))
    return Parsed("Markdown", headings, len(text.splitlines()), headings[:HEAD], text)


def headings_of(text: str) -> Iterator[str]:
    """Return the headings of a Markdown text, except those in code blocks."""
    fence = ""
    for line in text.splitlines():
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        elif not fence and line.startswith("#"):
            level, _, title = line.partition(" ")
            if not level.strip("#") and len(level) <= 6 and title.strip("# "):
                yield title.strip().rstrip("#").rstrip()


def _plain(text: str) -> Parsed:
    lines = text.splitlines()
    return Parsed("plain text", (), len(lines), tuple(lines[:HEAD]), text)


def _mail(raw: bytes) -> Parsed:
    """Headers and the readable part; attachments are named, not opened. By the parser's older rules: the newer ones
    take the square of a header's length.
    """
    try:
        mail = BytesParser(policy=policy.compat32).parsebytes(raw)
        headers = {name: _header(mail[name]) for name in ("From", "To", "Cc", "Date", "Subject") if mail[name]}
        parts = [part for part in mail.walk() if not part.is_multipart()]
    except (MessageError, LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise CannotParse(f"it is no mail that can be read: {_first_line(error)}") from error
    if not headers:
        raise CannotParse("it has none of the headers of a mail")
    bodies = [part for part in parts if _kind_of(part) in ("text/plain", "text/html") and not _attached(part)]
    body = min(bodies, key=lambda part: _kind_of(part) != "text/plain", default=None)
    text = _body(body) if body is not None else ""
    files = [_attached(part) or _kind_of(part) for part in parts if part not in bodies]
    head = ({"headers": headers}, *({"attachment": name} for name in files))
    return Parsed("mail", tuple(headers), len(text.splitlines()), head, text, "as the mail says")


def _kind_of(part: Message) -> str:
    return part.get_content_type() if _brief(part, "Content-Type") else "application/octet-stream"


def _attached(part: Message) -> str:
    """Return the name of an attachment; "" for a part of the mail's own text."""
    if not _brief(part, "Content-Disposition") or part.get_content_disposition() != "attachment":
        return ""
    return _header(part.get_filename() or "attachment")


def _brief(part: Message, name: str) -> bool:
    return len(str(part.get(name, ""))) <= HEADER_MOST


def _header(value: Any) -> str:
    """Return a decoded header; an overlong one is cut before it is decoded."""
    try:
        return " ".join(str(make_header(decode_header(str(value)[:HEADER_MOST]))).split())
    except (MessageError, LookupError, ValueError) as error:
        raise CannotParse(f"a header cannot be read: {_first_line(error)}") from error


def _body(part: Message) -> str:
    raw = part.get_payload(decode=True)
    charset = part.get_content_charset("utf-8")
    try:
        text = raw.decode(charset, "replace") if isinstance(raw, bytes) else ""
    except LookupError as error:
        raise CannotParse(f"it is written in {charset!r}, which is unknown") from error
    return _html(text).text if _kind_of(part) == "text/html" else text


PARSERS: Mapping[str, Parser] = {
    ".csv": _table,
    ".tsv": _table,
    ".json": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".toml": _toml,
    ".ini": _ini,
    ".cfg": _ini,
    ".xml": _xml,
    ".svg": _xml,
    ".html": _html,
    ".htm": _html,
    ".xhtml": _html,
    ".md": _markdown,
    ".markdown": _markdown,
}
MAILS = frozenset((".eml",))
HEADER_MOST = 2_000
WHOLE = frozenset((".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".xml", ".svg"))
"""Forms of which a beginning cannot be parsed."""


def _beginning(text: str) -> str:
    return text[:TEXT_MOST]


def _cut(text: str, most: int = CELL_MOST) -> str:
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= most else f"{text[:most]}…"


def _shown(value: Any, depth: int = 4) -> Any:
    """Return a value as JSON can hold it, limited in size."""
    match value:
        case Mapping():
            if depth == 0:
                return f"{{…{len(value)}}}"
            return {_cut(str(key)): _shown(item, depth - 1) for key, item in islice(value.items(), 50)}
        case list() | tuple() | set():
            if depth == 0:
                return f"[…{len(value)}]"
            return [_shown(item, depth - 1) for item in islice(value, 20)]
        case str():
            return _cut(value.replace("\0", "\ufffd"))
        case bool() | None:
            return value
        case int():
            return value if abs(value) < 1 << 53 else _cut(_digits(value))
        case float():
            return value if value - value == 0 else str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return _cut(str(value))


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        return "a very large number"
