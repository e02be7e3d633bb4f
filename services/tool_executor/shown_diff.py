"""The diff of a stage as people approve it: counts over all of it, the riskiest entries first, texts as unified diffs.

Events carry its beginning; the rest is read by page. All surfaces show this one summary (architecture.md 10).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple
from hashlib import sha256
from itertools import islice

import orjson

from libs.errors import Conflict, Rejected
from libs.events import Diff, DiffEntry, DiffGroup
from libs.workspace.diff import Diff as NetDiff
from libs.workspace.diff import Entry
from libs.workspace.stage import Stage
from services.tool_executor import event_sizes, previews

ENTRIES_MOST, GROUPS_MOST, PAGE_MOST = 200, 200, 5_000
PREVIEWED_MOST = 50
"""Entries of one answer whose texts are compared."""
TEXT_MOST = 64 * 1024
"""Bytes of a side that are compared."""
LINES_MOST, PREVIEW_MOST, LINE_MOST = 40, 4_000, 400
"""Lines of a preview, its characters, and those of a line."""
COMPARED = frozenset({"created", "changed", "overwritten"})
Preview = Callable[[Entry], tuple[str, bool] | None]


def of_stage(stage: Stage, revision: int, kept_days: float) -> Diff:
    """Return the stage's net change as events carry it."""
    return of_net(stage.diff(), revision, kept_days, _comparer(stage))


def of_net(net: NetDiff, revision: int, kept_days: float, preview: Preview | None = None) -> Diff:
    """Return a net change as events carry it: counts of all entries, and as many entries as have room."""
    return _whole(net, revision, kept_days, tuple(_carried(net.entries[:ENTRIES_MOST], preview)))


def page(
    stage: Stage, revision: int, kept_days: float, *, after: int, most: int, change: str | None, folder: str | None
) -> tuple[Diff, int | None]:
    """Return a page of the entries of a kind or folder, and where the next page begins; None after the last."""
    net = stage.diff()
    chosen = [one for one in net.entries if change in (None, one.change) and folder in (None, one.folder)]
    shown = tuple(_shown(chosen[after : after + most], _comparer(stage)))
    following = after + len(shown)
    return _whole(net, revision, kept_days, shown), following if following < len(chosen) else None


def _whole(net: NetDiff, revision: int, kept_days: float, entries: tuple[DiffEntry, ...]) -> Diff:
    groups = net.groups
    shown = event_sizes.weighed((DiffGroup(**asdict(one)) for one in groups[:GROUPS_MOST]), event_sizes.GROUPS_BYTES)
    return Diff(
        version=revision,
        count=len(net),
        **net.counts,
        bytes_freed=net.bytes_freed,
        kept_days=kept_days if net.bytes_freed else None,
        # Over all entries, also those for which an event has no room: the approval covers them too.
        digest=_digest(net),
        groups=shown,
        more_groups=len(groups) - len(shown),
        entries=entries,
    )


def _digest(net: NetDiff) -> str:
    hashed = sha256()
    for entry in net.entries:
        hashed.update(orjson.dumps(astuple(entry)) + b"\n")
    return hashed.hexdigest()


def _carried(entries: Sequence[Entry], preview: Preview | None) -> tuple[DiffEntry, ...]:
    return event_sizes.weighed(_shown(entries, preview), event_sizes.DIFF_BYTES)


def _shown(entries: Sequence[Entry], preview: Preview | None) -> Iterator[DiffEntry]:
    """Yield entries for people; the first texts among them with their beginning."""
    left, room = PREVIEWED_MOST, event_sizes.PREVIEWS_BYTES
    for entry in entries:
        compared = preview(entry) if preview and left and entry.change in COMPARED and entry.kind == "file" else None
        if compared is not None:
            left, room = left - 1, room - len(compared[0])
        text, cut = compared if compared is not None and room >= 0 else (None, False)
        yield DiffEntry(
            change=entry.change,
            path=entry.path,
            source=entry.source,
            kind=entry.kind,
            size=entry.size,
            reason=entry.reason,
            files=entry.files,
            same_as=entry.same_as,
            preview=text,
            preview_cut=cut,
        )


def _comparer(stage: Stage) -> Preview:
    def compared(entry: Entry) -> tuple[str, bool] | None:
        """Return the beginning of a text's unified diff; None for anything that is no text, or cannot be read."""
        if entry.change == "created" and entry.source is not None:
            return None  # a copy: its original tells what it holds
        try:
            before = None if entry.change == "created" else previews.text(stage, entry, "before", TEXT_MOST)
            after = previews.text(stage, entry, "after", TEXT_MOST)
        except (Conflict, Rejected):
            return None
        return None if after is None or (before is None and entry.change != "created") else unified(before, after)

    return compared


def unified(before: tuple[str, bool] | None, after: tuple[str, bool]) -> tuple[str, bool]:
    """Return the first lines of the unified diff of two beginnings of texts, and whether more follows."""
    old, new = (before[0].splitlines() if before else []), after[0].splitlines()
    lines = [*islice(difflib.unified_diff(old, new, lineterm="", n=2), 2, 3 + LINES_MOST)]
    cut = len(lines) > LINES_MOST or after[1] or bool(before and before[1])
    shown = "\n".join(line[:LINE_MOST] for line in lines[:LINES_MOST])
    return shown[:PREVIEW_MOST], cut or len(shown) > PREVIEW_MOST or any(len(line) > LINE_MOST for line in lines)
