"""Hints that a list of one folder has more matches in its subfolders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from libs.events import Json


def more(shown: Iterable[Json]) -> int:
    """Return how many more matches the subfolders have, each list counted once."""
    return sum(count for count, _ in dict.fromkeys((int(below["count"]), str(below)) for _, below in _lists(shown)))


def only(shown: Iterable[Json]) -> bool:
    """Return whether everything that was searched for was found in subfolders only."""
    lists = [found for found, _ in _lists(shown)]
    return bool(lists) and all(found.get("count") == 0 for found in lists)


def _lists(shown: Iterable[Json]) -> Iterator[tuple[Mapping[str, Json], Mapping[str, Json]]]:
    for found in shown:
        below = found.get("deeper") if isinstance(found, Mapping) else None
        if isinstance(found, Mapping) and isinstance(below, Mapping) and below.get("count"):
            yield found, below
