"""Sources of knowledge bases: their files, and the texts of these (docs/knowledge.md).

A source is a folder or file inside an allowed root, or `skill:NAME`, the folder `kb/` of an installed skill. The memory
service keeps the texts; it reads no file itself. Nothing is followed out of a source, and files with names of secrets
are left out.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from libs import documents
from libs.documents import FORMS
from libs.errors import NotFound, Rejected, SumaError
from libs.guards.paths import is_secret
from libs.runtime import Platform
from libs.skills import SkillDefinition
from libs.workspace.roots import belongs
from libs.workspace.scan import Scan
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from services.tool_executor.settings import Settings
from services.tool_executor.tools.decoding import NoText, SkipReason, decoded
from services.tool_executor.tools.explaining import TEXT, looks_like
from services.tool_executor.tools.parsing import parsed
from services.tool_executor.tools.texts import HEAD, temporary
from services.tool_executor.tools.tool_context import no_cancel
from services.tool_executor.workspaces import ForeignRoot, Workspaces

FILES_MOST = 20_000
LETTERS_MOST = 400_000
"""Letters of one file that are read, and of one answer."""
SECONDS_MOST = 8.0
"""After it, an answer has no further file."""
PAGES = frozenset((".html", ".htm", ".xhtml"))
SKILL, KB = "skill:", "kb/"


class TooManyFiles(Rejected):
    """The folder has more than 20,000 files; add its parts one by one."""

    code = "TOO_MANY_FILES"


@dataclass(frozen=True, slots=True)
class Reading:
    """A file's text. `starts` has the places where the pages of a PDF begin; `gap` says why text is missing."""

    path: str
    text: str = ""
    starts: tuple[int, ...] = ()
    gap: str = ""

    @property
    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "text": self.text, "starts": list(self.starts), "gap": self.gap}


class Source(Protocol):
    """The files of a source, each with a stamp that changes whenever it does."""

    def stamps(self) -> Iterator[tuple[str, str]]: ...

    def content(self, path: str, most: int) -> bytes:
        """Read a file's beginning. Raises SumaError if it is gone or cannot be read."""
        ...


class Sources:
    """The sources of a tenant. Each call looks at the disk anew, in a thread."""

    def __init__(self, platform: Platform, workspaces: Workspaces, settings: Settings) -> None:
        self._platform, self._workspaces, self._settings = platform, workspaces, settings

    async def files(self, tenant: str, source: str) -> Mapping[str, str]:
        """Return the stamp of each file. Raises BadRoot, ForeignRoot, NotFound, TooManyFiles."""
        return await asyncio.to_thread(lambda: _listed(self._opened(tenant, source)))

    async def texts(self, tenant: str, source: str, paths: Sequence[str]) -> list[dict[str, Any]]:
        """Return the texts of these files, of the first few if they are long. A file that is gone is left out.

        Raises:
            BadRoot, ForeignRoot, NotFound: the source may not be read, or is gone.
        """
        return await asyncio.to_thread(lambda: [read.as_json for read in self._texts(tenant, source, paths)])

    def _texts(self, tenant: str, source: str, paths: Sequence[str]) -> Iterator[Reading]:
        opened, until, letters = self._opened(tenant, source), time.monotonic() + SECONDS_MOST, 0
        known = _listed(opened)
        for path in paths:
            if path in known:
                reading = self._read(opened, path)
                yield reading
                letters += len(reading.text)
            if letters >= LETTERS_MOST or time.monotonic() > until:
                return

    def _opened(self, tenant: str, source: str) -> Source:
        if source.startswith(SKILL):
            skill = self._platform.skills.skills.get(source.removeprefix(SKILL))
            if skill is None:
                raise NotFound(f"no skill is called {source.removeprefix(SKILL)}")
            return _Skill(skill)
        place = Path(source).resolve()
        # Before the disk is asked: others cannot probe which files exist.
        if not belongs(place, tenant, self._workspaces.roots(tenant)):
            raise ForeignRoot(f"{place} is not inside an allowed root; allow it first with `suma roots add`")
        if not place.exists():
            raise NotFound(f"{place} does not exist")
        folder = self._workspaces.allowed(tenant, str(place if place.is_dir() else place.parent))
        return _Folder(Stage(Tree(Scan.of(folder))), "" if place.is_dir() else place.name)

    def _read(self, source: Source, path: str) -> Reading:
        try:
            raw = source.content(path, self._settings.document_bytes_most + 1)
        except SumaError:
            return Reading(path, gap=SkipReason.UNREADABLE)
        if len(raw) > self._settings.document_bytes_most:
            return Reading(path, gap=SkipReason.TOO_LARGE)
        try:
            text, starts, whole = _text_of(path, raw)
        except documents.Locked:
            return Reading(path, gap=SkipReason.LOCKED)
        except (documents.CannotRead, NoText):
            return Reading(path, gap=SkipReason.DAMAGED)
        cut = not whole or len(text) > LETTERS_MOST
        gap = "cut" if cut else "" if text.strip() else SkipReason.PICTURES
        return Reading(path, text[:LETTERS_MOST], starts, gap)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder, or the one file of it with this name."""

    stage: Stage
    only: str = ""

    def stamps(self) -> Iterator[tuple[str, str]]:
        for node in self.stage.walk("."):
            if node.kind == "file" and not node.left_alone and self.only in ("", node.path):
                yield node.path, f"{node.size} {node.modified_at.isoformat() if node.modified_at else ''}"

    def content(self, path: str, most: int) -> bytes:
        return self.stage.read_content(path, most).data


@dataclass(frozen=True, slots=True)
class _Skill:
    skill: SkillDefinition

    def stamps(self) -> Iterator[tuple[str, str]]:
        for path, raw in self.skill.files.items():
            if path.startswith(KB):
                yield path.removeprefix(KB), hashlib.sha256(raw).hexdigest()

    def content(self, path: str, most: int) -> bytes:
        return self.skill.files[f"{KB}{path}"][:most]


def _listed(source: Source) -> Mapping[str, str]:
    stamps = {
        path: stamp
        for path, stamp in source.stamps()
        # A name that cannot be printed cannot be cited.
        if path.isprintable() and not (is_secret(path) or temporary(path.rpartition("/")[2]))
    }
    if len(stamps) > FILES_MOST:
        raise TooManyFiles
    return stamps


def _text_of(path: str, raw: bytes, check: Callable[[], None] = no_cancel) -> tuple[str, tuple[int, ...], bool]:
    """Return the text of a file, where its pages begin, and whether it is all. Raises CannotRead, NoText."""
    ending, looks = Path(path).suffix.lower(), looks_like(raw[:HEAD], whole=len(raw) <= HEAD)
    form = ending if ending in FORMS and looks != TEXT else ".pdf" if looks == "PDF document" else None
    if form is not None and raw:
        found = documents.read(form, raw, check=check)
        return found.text, found.starts, found.complete
    if looks != TEXT:
        return "", (), True
    text = decoded(raw).text
    if ending in PAGES:
        page = documents.read_page(text, "", check=check)
        return page.text, (), page.complete
    if ending == ".eml":
        with suppress(Rejected):
            return parsed(path, raw).text, (), True
    return text, (), True
