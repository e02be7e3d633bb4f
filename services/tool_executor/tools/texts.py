"""Texts: the readable content of each file, and the documents that were not read, with the reason.

Files of a binary form hold no text, whatever their bytes look like. PDF, office files and e-books are read by a child
process each (`libs.documents`), which takes time: so smaller ones come first, and one search reads so many of them, for
so long. Content that was read once is remembered by its bytes.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from libs import documents
from libs.documents import FORMS
from libs.errors import Rejected, SumaError
from libs.workspace.errors import Unreadable
from libs.workspace.stage import Stage
from libs.workspace.view import Node
from services.tool_executor.tools.decoding import NoText, SkipReason, decoded
from services.tool_executor.tools.explaining import TEXT, looks_like
from services.tool_executor.tools.limits import Limits
from services.tool_executor.tools.parsing import parsed
from services.tool_executor.tools.tool_context import no_cancel

HEAD = 64 * 1024
MARKED_UP = frozenset((".html", ".htm", ".xhtml", ".eml"))
"""Texts of which a search wants the words without the markup."""
OLDER = frozenset((".doc", ".xls", ".ppt", ".pages", ".numbers", ".key", ".mobi", ".azw3"))
"""Documents of a form that is not read here."""
TEMPORARY = ("~$", ".~lock.")
"""How the names of the small files begin that office programs lay beside an open document."""
REMEMBERED_MOST = 32 << 20
"""Letters of documents that are kept after reading, for all tenants."""
ENTRY = 200
"""The memory of one such document beside its text."""


class Remembered:
    """The texts of documents by tenant and content, least recently used dropped first. Safe for threads."""

    def __init__(self, most: int = REMEMBERED_MOST) -> None:
        self._most, self._lock = most, Lock()
        self._said: OrderedDict[tuple[str, str], str | SkipReason] = OrderedDict()
        self._letters = 0

    def find(self, tenant: str, digest: str) -> str | SkipReason | None:
        with self._lock:
            if (said := self._said.pop((tenant, digest), None)) is not None:
                self._said[tenant, digest] = said
            return said

    def keep(self, tenant: str, digest: str, said: str | SkipReason) -> None:
        with self._lock:
            self._letters += ENTRY + len(said)
            if (before := self._said.pop((tenant, digest), None)) is not None:
                self._letters -= ENTRY + len(before)
            self._said[tenant, digest] = said
            while self._letters > self._most:
                self._letters -= ENTRY + len(self._said.popitem(last=False)[1])


@dataclass(slots=True)
class Texts:
    """Reads the texts of one search. `check` raises once the call is no longer wanted; `now` counts seconds."""

    stage: Stage
    limits: Limits
    now: Callable[[], float]
    tenant: str = ""
    remembered: Remembered = field(default_factory=Remembered)
    check: Callable[[], None] = no_cancel
    unread: dict[str, SkipReason] = field(default_factory=dict)
    """Documents that were not looked into, by their paths."""
    cut: set[str] = field(default_factory=set)
    """Files that go on behind what was read of them."""
    _read: int = 0
    _bytes: int = 0
    _until: float | None = None

    def of(self, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Each path with its text; of what holds none, or cannot be read, with an empty one."""
        later: list[tuple[Node, str]] = []
        for node in map(self.stage.get_metadata, paths):
            self.check()
            head = self._bytes_of(node, HEAD)
            if (form := _form(node, head)) is not None:
                later.append((node, form))
            else:
                yield node.path, self._plain(node, head)
        for node, form in sorted(later, key=lambda found: (found[0].size, found[0].path)):
            self.check()
            yield node.path, self._document(node, form)

    def _plain(self, node: Node, head: bytes) -> str:
        if looks_like(head, whole=node.size <= HEAD) != TEXT:
            if node.extension in OLDER and head:
                self.unread[node.path] = SkipReason.OLDER
            return ""
        most = self.limits.index_bytes_most
        raw = head[:most] if node.size <= len(head) else self._bytes_of(node, most)
        whole = node.size <= len(raw)
        if not whole:
            self.cut.add(node.path)
        if node.extension in MARKED_UP:
            with suppress(Rejected):
                return parsed(node.name, raw, whole=whole).text
        try:
            return decoded(raw, whole=whole).text
        except NoText:
            return ""

    def _document(self, node: Node, form: str) -> str:
        if node.size > self.limits.document_bytes_most:
            return self._not(node, SkipReason.TOO_LARGE)
        if self._enough(node):
            return self._not(node, SkipReason.LATER)
        raw = self._bytes_of(node, self.limits.document_bytes_most)
        # With the form: the same bytes, read as another form, hold another text.
        digest = hashlib.sha256(form.encode() + raw).hexdigest()
        # Of this tenant only: a fast answer would tell that another one has the same document.
        if (said := self.remembered.find(self.tenant, digest)) is None:
            if self._read >= self.limits.search_documents_most:
                return self._not(node, SkipReason.LATER)
            self._read += 1
            try:
                said = self._said(form, raw)
            except documents.CannotRead:
                # It took too much; with less to do beside it, it may go another time.
                return self._not(node, SkipReason.DAMAGED)
            self.remembered.keep(self.tenant, digest, said)
        if isinstance(said, SkipReason):
            return self._not(node, said)
        if len(said) >= self.limits.index_bytes_most:
            self.cut.add(node.path)
        return said

    def _said(self, form: str, raw: bytes) -> str | SkipReason:
        try:
            text = documents.read(form, raw, check=self.check).text
            return text[: self.limits.index_bytes_most] or SkipReason.PICTURES
        except documents.Locked:
            return SkipReason.LOCKED
        except documents.Damaged:
            return SkipReason.DAMAGED

    def _not(self, node: Node, why: SkipReason) -> str:
        self.unread[node.path] = why
        return ""

    def _enough(self, node: Node) -> bool:
        """Count a document; return whether the bound of bytes is exceeded, or that of time, which begins with the first
        one.
        """
        if self._until is None:
            self._until = self.now() + self.limits.search_documents_seconds
        self._bytes += node.size
        return self._bytes > self.limits.search_documents_bytes_most or self.now() > self._until

    def _bytes_of(self, node: Node, most: int) -> bytes:
        try:
            return self.stage.read_content(node.path, most).data
        except Unreadable:
            self.unread[node.path] = SkipReason.UNREADABLE
            return b""
        except SumaError:
            return b""


def temporary(name: str) -> bool:
    return name.startswith(TEMPORARY)


def _form(node: Node, head: bytes) -> str | None:
    """Return the format in which a child process reads a file; plain text is read as such."""
    if not head:
        return None
    looks = looks_like(head, whole=node.size <= HEAD)
    if node.extension in FORMS and looks != TEXT:
        return node.extension
    return ".pdf" if looks == "PDF document" else None
