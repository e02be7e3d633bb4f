"""Years that only some names tell: "everything from 2023", where four files of ten have theirs in the name.

A file may have been saved years after the one in its name, so that neither way to choose is surely meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from libs.models.offline.gist.bounds import YEAR
from libs.models.offline.gist.deeds import LIST, Deed
from libs.models.offline.ground import Ground
from libs.models.offline.selection import escaped
from libs.models.ports import Call
from libs.skills import selected

TIMES = ("modified_after", "modified_before")
OTHERS = frozenset(("include", "most", "order", "containing", "lacking", "larger_than", "smaller_than", "empty"))
FEWEST = 2


def of_names(calls: Sequence[Call], ground: Ground) -> Deed | None:
    """The same calls for the files whose names tell such a year; None where files are not chosen by whole years alone,
    or fewer than two names do.
    """
    told = [(tool, _by_names(args, ground) if tool == LIST else args) for tool, args in calls]
    known = [(tool, args) for tool, args in told if args is not None]
    if len(known) < len(calls) or known == [*calls]:
        return None
    return Deed(tuple((tool, _sorted(args)) for tool, args in known))


def _by_names(args: Mapping[str, Any], ground: Ground) -> Mapping[str, Any] | None:
    after, before = (str(args.get(name, ""))[:10] for name in TIMES)
    if not (after or before):
        return args
    if not OTHERS.isdisjoint(args) or any(day and not day.endswith("-01-01") for day in (after, before)):
        return None
    first, last = int(after[:4] or 0), int(before[:4] or 9999)
    folder = str(args.get("path", "."))
    held = ground.below(folder) if args.get("recursive") else ground.within(folder)
    files = [path for path in held if selected(path, exclude=args.get("exclude", ())) and _tells(path, first, last)]
    rest = {name: value for name, value in args.items() if name not in (*TIMES, "exclude")}
    return {**rest, "include": [escaped(path) for path in files]} if len(files) >= FEWEST else None


def _sorted(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Into folders by the same."""
    return {**args, "by": f"name_{args['by']}"} if args.get("by") in ("year", "month") else args


def _tells(path: str, first: int, last: int) -> bool:
    return any(first <= int(year) < last for year in YEAR.findall(path.rpartition("/")[2]))
