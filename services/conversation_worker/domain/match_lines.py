"""What files say, where that chose them: the line that a person should see beside each before anything happens to it,
and what such a choice leaves out, since it says the opposite or could not be looked into.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from libs.events.values import Json
from services.conversation_worker.domain import messages, subfolder_hints

NAMED_MOST = 5


def lines(shown: Iterable[Json]) -> dict[str, str]:
    """By path, the line for which a file was chosen."""
    return dict(_texts(shown, "lines"))


def leaves_out(shown: Iterable[Json]) -> str:
    """Say what the lists among the results leave out; empty if that is nothing."""
    found = [*shown]
    denied = [*_texts(found, "denied")][:NAMED_MOST]
    count, paths = _unread(found)
    told = (
        messages.more_below(subfolder_hints.more(found)),
        messages.denied(denied),
        messages.unread(paths, count),
    )
    return "; ".join(filter(None, told))


def _texts(shown: Iterable[Json], name: str) -> Iterator[tuple[str, str]]:
    for found in shown:
        told = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(told, Mapping) and "nodes" in found:
            yield from ((str(path), str(line)) for path, line in told.items())


def _unread(shown: Iterable[Json]) -> tuple[int, list[str]]:
    """How many documents, and the first of them by name."""
    lists = [found["unread"] for found in shown if isinstance(found, Mapping) and {"unread", "nodes"} <= found.keys()]
    told = [one for one in lists if isinstance(one, Mapping)]
    paths = [str(path) for one in told for path in one.get("paths") or ()]
    return max((int(one.get("count", 0)) for one in told), default=0), paths[:NAMED_MOST]
