"""Content search over a workspace: the words and the meaning of its files, fused (S4-27).

A search brings the folder's index up to date by size and time of each file, as the last scan found them. Files that the
stage has made, changed or moved, and files beyond the bounds, are counted in every answer as stale (S4-22, S4-23).
Documents that were not read are reported with the reason.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from libs.errors import Rejected, SumaError
from libs.guards import paths
from libs.search import LIKELY, NOTHING, ContentMatch, Found, Near, Place, Vector, fuse
from libs.search.index import QUOTED, under
from libs.search.words import meaning, telling, words
from libs.skills import selected
from libs.texts import one_line
from libs.workspace.scan import Scan
from libs.workspace.stage import Stage
from services.tool_executor.indexes import Indexed, Indexes, base, files_of, stamp_of
from services.tool_executor.tools.decoding import SkipReason
from services.tool_executor.tools.texts import Texts
from services.tool_executor.tools.tool_context import no_cancel
from services.tool_executor.workspaces import Workspace, quickly

NAMED_MOST = 10
"""Paths of documents that were not read, in an answer."""
EXCERPT_LETTERS = 300
EMBED_SECONDS = 2.0
"""How long a search waits for vectors; files without one are found by their words."""
QUERY_SECONDS = 5.0
FIT_SECONDS = 0.2
"""How long a plan waits for an index that is being built."""
LOCK_SECONDS = 0.05
FIT_MOST, FIT_LETTERS, FIT_BEFORE = 5, 600, 200
"""Passages that a plan is given, the letters of each, and how many of them may precede what matched (S0-27)."""
FIT_WORDS = 2
"""Words of a request that a passage must have, and at least half of them, if it is not near in meaning."""
STALE = "Content index out of date for {n} nodes – results may be incomplete. Commit pending changes to reindex."


class IndexStale(Rejected):
    """Files are not indexed as they are now, and the setting block_on_stale refuses to search without them."""

    code = "INDEX_STALE"


@dataclass(frozen=True, slots=True)
class Unknown:
    """The gaps of a search: the number of files that are not indexed as they are now, and the unread documents.
    `progress` is how many files are found by their meaning, and how many there are to be.
    """

    stale: int = 0
    unread: Mapping[str, SkipReason] = field(default_factory=dict)
    progress: tuple[int, int] = (0, 0)


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
    """Searches in the indexes of folders. Each runs in a thread."""

    def __init__(self, indexes: Indexes) -> None:
        self._indexes = indexes

    def texts(self, tenant: str, stage: Stage, check: Callable[[], None] = no_cancel) -> Texts:
        """Open the texts of a stage."""
        return self._indexes.texts(tenant, stage, check)

    def refresh(self, tenant: str, workspace: Workspace) -> None:
        """Bring the folder's index up to date with this scan, in the background."""
        self._indexes.refresh((tenant, workspace.root), workspace.scan)

    def changed(self, tenant: str, root: Path) -> None:
        """Bring the folder's index up to date with the disk, in the background."""
        self._indexes.rescan((tenant, root))

    async def search(
        self, tenant: str, workspace: Workspace, question: Question, *, check: Callable[[], None] = no_cancel
    ) -> tuple[Found, Unknown]:
        """Return the best matches that still exist, and the gaps of the search.

        Files outside `among` are matches only if those inside lack one of the words; else they are in `elsewhere`.
        `check` raises if the caller no longer waits.

        Raises:
            IndexStale: files are stale, and the settings refuse to search without them.
        """
        indexed, scan = self._indexes.of((tenant, workspace.root)), workspace.scan
        await asyncio.to_thread(self._read, indexed, scan, tenant, check)
        # Without its model a search goes by words.
        with suppress(SumaError):
            await self._indexes.catch_up(indexed, seconds=EMBED_SECONDS)
        vector = NOTHING if QUOTED.search(question.query) else await self._vector(indexed, question.query)
        found, unknown = await asyncio.to_thread(self._answer, indexed, workspace.stage, question, vector)
        if unknown.stale and self._indexes.settings.block_on_stale:
            raise IndexStale(STALE.format(n=unknown.stale))
        return found, unknown

    async def fitting(self, tenant: str, root: Path, query: str) -> list[dict[str, Any]]:
        """Return the passages of a folder's files that fit a request, best first, as far as they are indexed (S0-27).

        Waits for an index that is being built, but not for long.
        """
        indexed = await self._indexes.settled((tenant, root), seconds=FIT_SECONDS)
        if not indexed.known:
            return []
        vector = await self._vector(indexed, query)
        return await quickly(indexed.scan, self._fitting, indexed, query, vector)

    async def _vector(self, indexed: Indexed, query: str) -> Vector:
        if len(indexed.passages):
            with suppress(SumaError, TimeoutError):
                async with asyncio.timeout(QUERY_SECONDS):
                    return await self._indexes.embedder.embed_query(query)
        return NOTHING

    def _read(self, indexed: Indexed, scan: Scan, tenant: str, check: Callable[[], None]) -> None:
        settings = self._indexes.settings
        with indexed.lock:
            indexed.follow(scan, settings.index_files_most)
            indexed.read(self._indexes.texts(tenant, base(scan), check), settings.index_text_bytes_most)

    def _answer(self, indexed: Indexed, stage: Stage, question: Question, vector: Vector) -> tuple[Found, Unknown]:
        with indexed.lock:
            view = _View.of(indexed, stage)
            found, kept = self._find(indexed, view, question, vector)
            shown = ((view.shown.get(path), why) for path, why in indexed.unread.items())
            unread = {path: why for path, why in shown if path and under(path, question.within) and kept(path)}
            return found, Unknown(view.stale, unread, indexed.progress)

    def _find(
        self, indexed: Indexed, view: _View, question: Question, vector: Vector
    ) -> tuple[Found, Callable[[str], bool]]:
        """Search, and return the filter of the files that the answer is about."""
        kept = partial(selected, exclude=question.exclude)
        found = self._fused(indexed, view, question, vector, kept)
        if not question.among:
            return found, kept
        asked = partial(selected, include=question.among, exclude=question.exclude)
        narrower = self._fused(indexed, view, question, vector, asked)
        if not narrower.matches or not {*narrower.missing} <= {*found.missing}:
            return found, kept
        others = tuple(match.path for match in found.matches if not asked(match.path))
        return replace(narrower, elsewhere=others), asked

    def _fused(
        self, indexed: Indexed, view: _View, question: Question, vector: Vector, kept: Callable[[str], bool]
    ) -> Found:
        """Fuse the files that have the words with those that are near in meaning."""

        def keep(path: str) -> bool:
            shown = view.shown.get(path)
            return shown is not None and under(shown, question.within) and kept(shown)

        found = view.named(indexed.words.find(question.query, question.top_k, keep=keep))
        near = {view.shown[one.path]: one for one in self._near(indexed, vector, keep)}
        if not near:
            return found
        matched = {match.path: match for match in found.matches}
        ranked = fuse({"words": found.ranked, "meaning": [*near]})
        best = (replace(self._match(indexed, matched, near, one.id), sources=one.sources) for one in ranked)
        return replace(
            found,
            matches=tuple(match for match, _ in zip(best, range(question.top_k), strict=False)),
            fewer=tuple(path for path in found.fewer if path not in near),
            count=len(ranked),
            ranked=tuple(one.id for one in ranked),
        )

    def _near(self, indexed: Indexed, vector: Vector, keep: Callable[[str], bool]) -> list[Near]:
        """Return the files near in meaning, if the model is the one that made their vectors."""
        embedder = self._indexes.embedder
        if not vector.any() or indexed.model != embedder.name:
            return []
        least = next((at / 100 for at in range(101) if embedder.calibrate(at / 100) > LIKELY), 1.0)
        return indexed.passages.near(vector, least, keep)

    def _match(
        self, indexed: Indexed, matched: Mapping[str, ContentMatch], near: Mapping[str, Near], path: str
    ) -> ContentMatch:
        by_words, one = matched.get(path), near.get(path)
        if one is None or (by_words is not None and by_words.place is not None):
            return by_words or ContentMatch(path, 0.0, "")
        text = indexed.words.text(one.path)[one.place.start : one.place.end]
        score = by_words.score if by_words is not None else self._indexes.embedder.calibrate(one.cosine)
        return ContentMatch(path, score, one_line(text)[:EXCERPT_LETTERS], one.place)

    def _fitting(self, indexed: Indexed, query: str, vector: Vector) -> list[dict[str, Any]]:
        # Not for long: it may be held by a search that reads documents.
        if not indexed.lock.acquire(timeout=LOCK_SECONDS):
            return []
        try:
            # A text that has changed since it was read must not be shown as what is there.
            if indexed.scan is not indexed.newest:
                return []

            def keep(path: str) -> bool:
                return indexed.stamps.get(path) == indexed.known.get(path) and not paths.is_secret(path)

            by_words = indexed.words.find(query, 2 * FIT_MOST, keep=keep).matches
            near = {one.path: one.place for one in self._near(indexed, vector, keep)}
            places = {match.path: match.place for match in by_words if match.place and _has(match.excerpt, query)}
            ranked = fuse({"words": [*places], "meaning": [*near]})
            return [self._passage(indexed, one.id, near.get(one.id) or places[one.id]) for one in ranked[:FIT_MOST]]
        finally:
            indexed.lock.release()

    def _passage(self, indexed: Indexed, path: str, place: Place) -> dict[str, Any]:
        """Return the lines around a place."""
        text = indexed.words.text(path)
        start = max(text.rfind("\n", 0, place.start) + 1, place.start - FIT_BEFORE)
        shown = text[start : start + FIT_LETTERS]
        if len(text) > start + FIT_LETTERS:
            shown = shown.rsplit(None, 1)[0]
        first = 1 + text.count("\n", 0, start)
        return {"path": path, "first": first, "last": first + shown.rstrip().count("\n"), "text": shown.rstrip()}


@dataclass(frozen=True, slots=True)
class _View:
    """The session's view of the indexed files: where each is now, and how many are not as they were indexed."""

    shown: Mapping[str, str]
    stale: int

    @classmethod
    def of(cls, indexed: Indexed, stage: Stage) -> _View:
        shown: dict[str, str] = {}
        stale = 0
        for node, path in files_of(stage):
            if path is not None:
                shown[path] = node.path
            fresh = path == node.path and (indexed.known.get(path) == stamp_of(node) or path in indexed.unread)
            stale += not fresh
        return cls(shown, stale)

    def named(self, found: Found) -> Found:
        """Return what was found by the names of the view."""
        return replace(
            found,
            matches=tuple(replace(match, path=self.shown[match.path]) for match in found.matches),
            fewer=tuple(map(self.shown.__getitem__, found.fewer)),
            ranked=tuple(map(self.shown.__getitem__, found.ranked)),
        )


def _has(passage: str, query: str) -> bool:
    """Return whether a passage has enough words of a request, in any form."""
    asked, known = {meaning(word) for word in telling(query)}, {meaning(word) for word in words(passage)}
    return 2 * len(asked & known) >= max(2 * FIT_WORDS, len(asked))


def as_data(found: Found, unknown: Unknown) -> dict[str, Any]:
    """Format the result of a search as the tool returns it."""
    by_reason = Counter(why.value for why in unknown.unread.values())
    unread = {"count": len(unknown.unread), "why": dict(by_reason), "paths": sorted(unknown.unread)[:NAMED_MOST]}
    fewer = {"count": len(found.fewer), "paths": list(found.fewer[:NAMED_MOST])}
    done, whole = unknown.progress
    return {
        "matches": [_match_data(match) for match in found.matches],
        "count": found.count,
        "missing": list(found.missing),
        "fewer": fewer,
        "elsewhere": {"count": len(found.elsewhere), "paths": list(found.elsewhere[:NAMED_MOST])},
        "stale": unknown.stale,
        "unread": unread,
        **({"by_meaning": {"files": done, "of": whole}} if done < whole else {}),
    }


def _match_data(match: ContentMatch) -> dict[str, Any]:
    place, sources = match.place, {one.name: one.rank for one in match.sources}
    return {
        "path": match.path,
        "score": round(match.score, 3),
        "excerpt": match.excerpt,
        **({"lines": [place.first, place.last], "range": [place.start, place.end]} if place else {}),
        **({"ranks": sources} if sources else {}),
    }
