"""Content search over a workspace: an index of the files' text, built by the first search (S4-27, S4-28).

Each session has its own index, because one session must not see what another has staged. A search brings the index up
to date by size and time of each file, as the last scan found them. Files that the stage has made or changed, and files
beyond the bounds, are counted in every answer as stale (S4-22, S4-23). Documents that were not read are reported with
the reason.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Self

from libs.errors import SumaError
from libs.search import ContentIndex, Found
from libs.search.index import under
from libs.skills import selected
from libs.workspace.stage import Stage
from libs.workspace.view import Node
from services.tool_executor.settings import Settings
from services.tool_executor.tools.decoding import SkipReason
from services.tool_executor.tools.texts import Remembered, Texts, temporary
from services.tool_executor.tools.tool_context import no_cancel
from services.tool_executor.workspaces import Workspace

KEPT_MOST = 8
SHARED = 2
"""All indexes together hold at most this many times the text of the largest allowed one."""
NAMED_MOST = 10
"""Paths of documents that were not read, in an answer."""
Stamp = tuple[int, str | None]
View = tuple[str, str, Path]
"""Tenant, session, folder."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The gaps of a search: the number of files that are not indexed as they are now, and the unread documents."""

    stale: int = 0
    unread: Mapping[str, SkipReason] = field(default_factory=dict)


@dataclass(slots=True)
class Indexed:
    """One session's index, with the stamp of each indexed file."""

    index: ContentIndex = field(default_factory=ContentIndex)
    known: dict[str, Stamp] = field(default_factory=dict)
    unread: dict[str, SkipReason] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """The arguments of a search. `among` selects the files that were asked about; `exclude` leaves files out."""

    query: str
    top_k: int
    within: str
    exclude: Sequence[str] = ()
    among: Sequence[str] = ()

    @classmethod
    def of(cls, args: Mapping[str, Any]) -> Self:
        """Read the arguments of the tool."""
        return cls(args["query"], args["top_k"], args["path"], args.get("exclude", ()), args.get("among", ()))


class Contents:
    """The indexes of all sessions. Each search runs in a thread, with an index that no other search holds."""

    def __init__(self, settings: Settings, *, now: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._now = settings, now
        self._indexes: OrderedDict[View, Indexed] = OrderedDict()
        self._remembered = Remembered()

    async def search(
        self,
        whose: tuple[str, str],
        workspace: Workspace,
        question: Question,
        *,
        check: Callable[[], None] = no_cancel,
    ) -> tuple[Found, Unknown]:
        """Return the best matches that still exist, and the gaps of the search.

        Files outside `among` are matches only if those inside lack one of the words; else they are in `elsewhere`.
        `check` raises if the caller no longer waits.
        """
        view = (*whose, workspace.root)
        indexed = self._indexes.pop(view, None) or Indexed()
        texts = self.texts(whose[0], workspace.stage, check)
        try:
            answer = await asyncio.to_thread(self._answer, indexed, texts, question)
        # Not on a cancel: the thread may still be using the index.
        except SumaError:
            indexed.index.close()
            raise
        self._keep(view, indexed)
        return answer

    def texts(self, tenant: str, stage: Stage, check: Callable[[], None] = no_cancel) -> Texts:
        """Open the texts of a stage, with the tenant's memory of documents that were read before."""
        return Texts(stage, self._settings, self._now, tenant, self._remembered, check)

    def _answer(self, indexed: Indexed, texts: Texts, question: Question) -> tuple[Found, Unknown]:
        nodes = (node for node in texts.stage.walk(".") if node.kind == "file" and not node.left_alone)
        now = {node.path: _stamp(node) for node in nodes if not temporary(node.name)}
        on_disk = ((path, stamp) for path, stamp in now.items() if stamp[1] is not None)
        wanted = dict(islice(on_disk, self._settings.index_files_most))
        _update(indexed, wanted, texts, self._settings.index_text_bytes_most)
        found, kept = _find(indexed.index, question)
        unread = {path: why for path, why in indexed.unread.items() if under(path, question.within) and kept(path)}
        stale = len(now.keys() - indexed.known.keys() - indexed.unread.keys())
        return replace(found, matches=tuple(m for m in found.matches if m.path in now)), Unknown(stale, unread)

    def _keep(self, view: View, indexed: Indexed) -> None:
        """Keep an index for the next search; drop the least recently used beyond the bounds."""
        if (older := self._indexes.pop(view, None)) is not None:
            older.index.close()
        self._indexes[view] = indexed
        most = SHARED * self._settings.index_text_bytes_most
        while len(self._indexes) > KEPT_MOST or sum(one.index.size for one in self._indexes.values()) > most:
            self._indexes.popitem(last=False)[1].index.close()


def _find(index: ContentIndex, question: Question) -> tuple[Found, Callable[[str], bool]]:
    """Search, and return the filter of the files that the answer is about."""
    kept = partial(selected, exclude=question.exclude)
    found = index.find(question.query, question.top_k, within=question.within, keep=kept)
    if not question.among:
        return found, kept
    asked = partial(selected, include=question.among, exclude=question.exclude)
    narrower = index.find(question.query, question.top_k, within=question.within, keep=asked)
    if not narrower.matches or not {*narrower.missing} <= {*found.missing}:
        return found, kept
    others = tuple(match.path for match in found.matches if not asked(match.path))
    return replace(narrower, elsewhere=others), asked


def _update(indexed: Indexed, now: Mapping[str, Stamp], texts: Texts, most: int) -> None:
    """Read files that are new, changed or were put off to a later search, while there is room for their text."""
    for gone in [path for path in indexed.known if path not in now]:
        indexed.index.remove(gone)
        del indexed.known[gone]
    changed = [path for path, stamp in now.items() if indexed.known.get(path) != stamp]
    for path in changed:
        indexed.index.remove(path)
        indexed.known.pop(path, None)
        indexed.unread.pop(path, None)
    for path, text in texts.of(changed) if indexed.index.size < most else ():
        indexed.index.put(path, text)
        # Time and size stay when a person permits reading.
        if texts.unread.get(path) not in (SkipReason.LATER, SkipReason.UNREADABLE):
            indexed.known[path] = now[path]
        if indexed.index.size >= most:
            break
    indexed.unread = {**{path: why for path, why in indexed.unread.items() if path in now}, **texts.unread}


def as_data(found: Found, unknown: Unknown) -> dict[str, Any]:
    """Format the result of a search as the tool returns it."""
    matches = [{"path": m.path, "score": round(m.score, 3), "excerpt": m.excerpt} for m in found.matches]
    by_reason = Counter(why.value for why in unknown.unread.values())
    unread = {"count": len(unknown.unread), "why": dict(by_reason), "paths": sorted(unknown.unread)[:NAMED_MOST]}
    fewer = {"count": len(found.fewer), "paths": list(found.fewer[:NAMED_MOST])}
    return {
        "matches": matches,
        "count": found.count,
        "missing": list(found.missing),
        "fewer": fewer,
        "elsewhere": {"count": len(found.elsewhere), "paths": list(found.elsewhere[:NAMED_MOST])},
        "stale": unknown.stale,
        "unread": unread,
    }


def _stamp(node: Node) -> Stamp:
    """Return size and time of a file; a staged file has no time."""
    return node.size, node.modified_at.isoformat() if node.modified_at else None
