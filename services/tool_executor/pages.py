"""Pages of the web: the text of an answer by its declared type, and the parts in which a model reads it (S2-09).

HTML and PDF are parsed by a child process with limits, since they come from strangers. What a page says is data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.message import Message
from typing import Any

import orjson

from libs import documents
from libs.clients import Answer
from libs.errors import Rejected
from libs.texts import one_line
from services.tool_executor.tools.decoding import NoText, decoded

PART_BYTES = 12 * 1024
"""Bytes of JSON of one part: with the other fields it fits into what a model sees of a step (16 KiB)."""
URL_BYTES = 2 * 1024
"""Bytes of an address for which there is room beside a part; a longer one shortens the part."""
TITLE_MOST = 200
TYPE_MOST = 200
"""Characters of a content type that are looked at; parsing it takes time by the square of its length."""
HTML = frozenset(("text/html", "application/xhtml+xml"))
PDF = "application/pdf"
TEXTS = re.compile(r"text/[\w.+-]+|application/([\w.-]+\+)?(json|xml)|application/(x-)?(ndjson|yaml|toml|javascript)")
TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}")
ACCEPT = "text/html, application/xhtml+xml, text/markdown, text/plain, application/json, application/pdf, */*;q=0.1"
CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
CHARSET_BYTES = 1024
"""Where a page names its encoding (HTML, 4.2.5.4)."""
ENCODINGS = re.compile(r"(iso-8859-|windows-|koi8-|euc-)\w{1,4}|shift_jis|gb(k|2312|18030)|big5", re.IGNORECASE)
"""Encodings of texts that are not UTF; other names mean codecs of Python that may take long."""


class NotReadable(Rejected):
    """The page has a type that is not read, or its content is not of that type."""

    code = "NOT_READABLE"


class NoSuchPart(Rejected):
    """The page ends before this character."""

    code = "NO_SUCH_PART"


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read. `whole` is false where the beginning was read only."""

    url: str
    status: int
    media_type: str
    title: str
    text: str
    whole: bool
    fetched_at: datetime

    def part(self, offset: int, *, cached: bool) -> Mapping[str, Any]:
        """Return the text from a character on, as much as a model sees at once, with its source. `complete` means that
        this is all of the page, `next` is the character to go on with.
        """
        if offset and offset >= len(self.text):
            raise NoSuchPart(f"{self.url} has {len(self.text)} characters")
        text = _fitting(self.text[offset : offset + PART_BYTES], PART_BYTES - max(0, len(self.url) - URL_BYTES))
        end = offset + len(text)
        return {
            "url": self.url,
            "status": self.status,
            "title": self.title,
            "media_type": self.media_type,
            "text": text,
            "offset": offset,
            "next": end if end < len(self.text) else None,
            "complete": self.whole and len(text) == len(self.text),
            "fetched_at": self.fetched_at.isoformat(),
            "cached": cached,
            "untrusted": f"said by the page {self.url[:200]}",
        }


def read(url: str, answer: Answer, at: datetime, *, check: Callable[[], None]) -> Page:
    """Return the page of an answer. `check` raises once the call is no longer wanted.

    Raises:
        NotReadable: this type is not read, or its content is not what the type says.
        CannotRead: parsing it takes too much.
    """
    about = Message()
    about["Content-Type"] = answer.content_type[:TYPE_MOST] or "text/plain"
    kind = about.get_content_type()
    title, text, whole = "", "", answer.whole
    if kind in HTML:
        found = documents.read_page(_decoded(url, answer, about.get_content_charset()), url, check=check)
        title, text, whole = " ".join(found.fields), found.text, whole and found.complete
    elif kind == PDF:
        found = _pdf(url, answer, check)
        title, text, whole = " ".join(found.fields[:1]).removeprefix("Title: "), found.text, found.complete
    elif TEXTS.fullmatch(kind):
        text = _decoded(url, answer, about.get_content_charset())
    else:
        raise NotReadable(f"{url} is of the type {_type(kind)}; only text, HTML, JSON, XML and PDF are read")
    return Page(url, answer.status, _type(kind), one_line(title)[:TITLE_MOST], text, whole, at)


def _pdf(url: str, answer: Answer, check: Callable[[], None]) -> documents.Document:
    if not answer.whole:
        raise NotReadable(f"{url} is a PDF larger than {len(answer.body):,} bytes")
    try:
        return documents.read(".pdf", answer.body, check=check)
    except documents.Damaged as error:
        raise NotReadable(f"{url} cannot be read: {error}") from error


def _decoded(url: str, answer: Answer, charset: str | None) -> str:
    """Return the text; an encoding other than UTF is the declared one."""
    try:
        found = decoded(answer.body, whole=answer.whole)
    except NoText as error:
        raise NotReadable(f"{url} says that it is text, and is not") from error
    if not found.guessed:
        return found.text
    meta = CHARSET.search(answer.body[:CHARSET_BYTES])
    named = charset or (meta[1].decode("ascii", "replace") if meta else "")
    if not ENCODINGS.fullmatch(named):
        return found.text
    try:
        return answer.body.decode(named, "replace")
    except LookupError:
        return found.text


def _type(kind: str) -> str:
    return kind if TYPE.fullmatch(kind) else "unknown"


def _fitting(text: str, most: int) -> str:
    """Return as much of the text as fits into a part, up to the end of a line if one is near."""
    whole = text
    while (size := len(orjson.dumps(text))) > most:
        text = text[: len(text) * most // size]
    line = text.rfind("\n", len(text) // 2) + 1
    return text[:line] if line and len(text) < len(whole) else text
