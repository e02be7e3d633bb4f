"""Content search over a workspace: an index of the files' text, made at the first question (S4-27, S4-28).

An index is of one session's view: what a session has staged is not for another's eyes.

It reads the files as the scan found them. Files that the stage has made or changed since, and those beyond the bound,
are counted in every answer as stale (S4-22, S4-23).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from libs.errors import SumaError
from libs.retrieval import ContentIndex, ContentMatch, Embedder
from libs.workspace.stage import Stage
from libs.workspace.view import Node
from services.tool_executor.settings import Settings
from services.tool_executor.workspaces import Workspace

KEPT_MOST = 8
Stamp = tuple[int, str | None]
View = tuple[str, str, Path]
"""Tenant, session, folder."""


class Contents:
    def __init__(self, embedder: Embedder, settings: Settings) -> None:
        self._embedder, self._settings = embedder, settings
        self._indexes: OrderedDict[View, tuple[ContentIndex, dict[str, Stamp]]] = OrderedDict()

    async def search(
        self, whose: tuple[str, str], workspace: Workspace, query: str, top_k: int, *, within: str
    ) -> tuple[tuple[ContentMatch, ...], int]:
        """The best matches that are still there, and how many files the index does not know as they are now."""
        view = (*whose, workspace.root)
        index, known = self._indexes.pop(view, (ContentIndex(self._embedder), {}))
        now = await asyncio.to_thread(_stamps, workspace.stage)
        most = self._settings.index_files_most
        on_disk = dict(islice(((path, stamp) for path, stamp in now.items() if stamp[1] is not None), most))
        await self._update(index, known, workspace.stage, on_disk)
        self._indexes[view] = index, known
        if len(self._indexes) > KEPT_MOST:
            self._indexes.popitem(last=False)
        stale = len(now.keys() - known.keys())
        found = await index.search(query, top_k, within=within)
        return tuple(match for match in found if match.path in now), stale

    async def _update(self, index: ContentIndex, known: dict[str, Stamp], stage: Stage, now: dict[str, Stamp]) -> None:
        for gone in known.keys() - now.keys():
            index.remove(gone)
            del known[gone]
        changed = [path for path, stamp in now.items() if known.get(path) != stamp]
        texts = await asyncio.to_thread(lambda: dict(_texts(stage, changed, self._settings.index_bytes_most)))
        await index.put(texts)
        known.update({path: now[path] for path in changed})


def _stamps(stage: Stage) -> dict[str, Stamp]:
    """Size and time of every file; what is only staged has no time."""
    return {node.path: _stamp(node) for node in stage.walk(".") if node.kind == "file"}


def _stamp(node: Node) -> Stamp:
    return node.size, node.modified_at.isoformat() if node.modified_at else None


def _texts(stage: Stage, paths: list[str], most: int) -> Iterator[tuple[str, str]]:
    """The text of those that hold text; a file that cannot be read, or is no text, has only its name."""
    for path in paths:
        try:
            raw = stage.read_content(path, most).data
        except SumaError:
            raw = b""
        text = "" if b"\0" in raw[:4096] else raw.decode("utf-8", errors="ignore")
        yield path, f"{path}\n{text}"
