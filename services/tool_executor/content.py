"""Content search over a workspace: an index of the files' text, made at the first question (S4-27, S4-28).

An index is of one session's view: what a session has staged is not for another's eyes.

It reads the files as the scan found them. Files that the stage has made or changed since, and those beyond the bound,
are counted in every answer as stale (S4-22, S4-23); documents that were not looked into are told with the reason.
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
from threading import Lock
from typing import Any

from libs.retrieval import ContentIndex, Embedder, Found
from libs.retrieval.content import under
from libs.skills import selected
from libs.workspace.stage import Stage
from libs.workspace.view import Node
from services.tool_executor.domain.bench import go_on
from services.tool_executor.domain.texts import Texts, Why, temporary
from services.tool_executor.settings import Settings
from services.tool_executor.workspaces import Workspace

KEPT_MOST = 8
REMEMBERED_MOST = 32 << 20
"""Letters of documents that were read once, of all tenants."""
ENTRY = 200
"""What one costs beside its text."""
NAMED_MOST = 10
"""Documents that were not looked into, told by their names."""
Stamp = tuple[int, str | None]
View = tuple[str, str, Path]
"""Tenant, session, folder."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """What a search does not know: how many files are not indexed as they are now, and the documents that it has not
    looked into, with the reason."""

    stale: int = 0
    unread: Mapping[str, Why] = field(default_factory=dict)


@dataclass(slots=True)
class Indexed:
    """One session's index, with what it knows of each file."""

    index: ContentIndex
    known: dict[str, Stamp] = field(default_factory=dict)
    unread: dict[str, Why] = field(default_factory=dict)


class Contents:
    def __init__(self, embedder: Embedder, settings: Settings, *, now: Callable[[], float] = time.monotonic) -> None:
        self._embedder, self._settings, self._now = embedder, settings, now
        self._indexes: OrderedDict[View, Indexed] = OrderedDict()
        self._remembered = Remembered()

    async def search(
        self,
        whose: tuple[str, str],
        workspace: Workspace,
        query: str,
        top_k: int,
        *,
        within: str,
        exclude: Sequence[str] = (),
        among: Sequence[str] = (),
        check: Callable[[], None] = go_on,
    ) -> tuple[Found, Unknown]:
        """The best matches that are still there, and what is not known: of the files that `among` selects, unless these
        lack a word that others have; those are told besides. `check` raises once nobody waits any more.
        """
        view = (*whose, workspace.root)
        indexed = self._indexes.pop(view, None) or Indexed(ContentIndex(self._embedder))
        now = await asyncio.to_thread(_stamps, workspace.stage)
        most = self._settings.index_files_most
        on_disk = dict(islice(((path, stamp) for path, stamp in now.items() if stamp[1] is not None), most))
        texts = self.texts(whose[0], workspace.stage, check)
        await _update(indexed, on_disk, texts)
        self._indexes[view] = indexed
        if len(self._indexes) > KEPT_MOST:
            self._indexes.popitem(last=False)
        kept = partial(selected, exclude=exclude)
        found = await indexed.index.find(query, top_k, within=within, keep=kept)
        if among:
            asked = partial(selected, include=among, exclude=exclude)
            narrower = await indexed.index.find(query, top_k, within=within, keep=asked)
            if narrower.matches and {*narrower.missing} <= {*found.missing}:
                others = tuple(match.path for match in found.matches if not asked(match.path))
                found, kept = replace(narrower, elsewhere=others), asked
        unread = {path: why for path, why in indexed.unread.items() if under(path, within) and kept(path)}
        stale = len(now.keys() - indexed.known.keys() - indexed.unread.keys())
        return replace(found, matches=tuple(m for m in found.matches if m.path in now)), Unknown(stale, unread)

    def texts(self, tenant: str, stage: Stage, check: Callable[[], None] = go_on) -> Texts:
        """What files of a stage say, with the memory of what the tenant's documents said before."""
        return Texts(stage, self._settings.search, self._now, Remembering(self._remembered, tenant), check)


async def _update(indexed: Indexed, now: Mapping[str, Stamp], texts: Texts) -> None:
    """Read what is new, or has changed, or was put off to a later search."""
    for gone in [path for path in indexed.known if path not in now]:
        indexed.index.remove(gone)
        del indexed.known[gone]
    changed = [path for path, stamp in now.items() if indexed.known.get(path) != stamp]
    found = await asyncio.to_thread(lambda: dict(texts.of(changed)))
    await indexed.index.put(found)
    kept = {path: why for path, why in indexed.unread.items() if path in now and path not in found}
    indexed.unread = {**kept, **texts.unread}
    indexed.known.update({path: now[path] for path in found if texts.unread.get(path) is not Why.LATER})


class Remembered:
    """What documents say by tenant and content, the longest unused forgotten first. Threads share it."""

    def __init__(self, most: int = REMEMBERED_MOST) -> None:
        self._most, self._lock = most, Lock()
        self._said: OrderedDict[tuple[str, str], str | Why] = OrderedDict()
        self._letters = 0

    def find(self, tenant: str, digest: str) -> str | Why | None:
        with self._lock:
            if (said := self._said.pop((tenant, digest), None)) is not None:
                self._said[tenant, digest] = said
            return said

    def keep(self, tenant: str, digest: str, said: str | Why) -> None:
        with self._lock:
            self._letters += ENTRY + len(said)
            if (before := self._said.pop((tenant, digest), None)) is not None:
                self._letters -= ENTRY + len(before)
            self._said[tenant, digest] = said
            while self._letters > self._most:
                self._letters -= ENTRY + len(self._said.popitem(last=False)[1])


class Remembering:
    """What one tenant's searches have read."""

    def __init__(self, remembered: Remembered, tenant: str) -> None:
        self._remembered, self._tenant = remembered, tenant

    def find(self, digest: str) -> str | Why | None:
        return self._remembered.find(self._tenant, digest)

    def keep(self, digest: str, said: str | Why) -> None:
        self._remembered.keep(self._tenant, digest, said)


def told(found: Found, unknown: Unknown) -> dict[str, Any]:
    """What a search shows, as the tool returns it."""
    matches = [{"path": m.path, "score": round(m.score, 3), "excerpt": m.excerpt} for m in found.matches]
    by_reason = Counter(why.value for why in unknown.unread.values())
    unread = {"count": len(unknown.unread), "why": dict(by_reason), "paths": sorted(unknown.unread)[:NAMED_MOST]}
    fewer = {"count": len(found.fewer), "paths": list(found.fewer[:NAMED_MOST])}
    return {
        "matches": matches,
        "missing": list(found.missing),
        "fewer": fewer,
        "elsewhere": {"count": len(found.elsewhere), "paths": list(found.elsewhere[:NAMED_MOST])},
        "stale": unknown.stale,
        "unread": unread,
    }


def _stamps(stage: Stage) -> dict[str, Stamp]:
    """Size and time of every file; what is only staged has no time."""
    return {node.path: _stamp(node) for node in stage.walk(".") if node.kind == "file" and not temporary(node.name)}


def _stamp(node: Node) -> Stamp:
    return node.size, node.modified_at.isoformat() if node.modified_at else None
