"""Lines of files that were chosen by their content: a person sees them before anything happens to the files. Also, what
such a choice left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from libs.events import Json
from services.conversation_worker.domain import messages, subfolder_hints

NAMED_MOST = 5


def lines(shown: Iterable[Json]) -> dict[str, str]:
    """Return the line for which each file was chosen, by path."""
    return dict(_texts(shown, "lines"))


def leaves_out(shown: Iterable[Json]) -> str:
    """Return a text about what the lists left out; empty if that is nothing."""
    found = [*shown]
    denied = [*_texts(found, "denied")][:NAMED_MOST]
    count, paths = _unread(found)
    texts = (
        messages.more_below(subfolder_hints.more(found)),
        messages.denied(denied),
        messages.unread(paths, count),
    )
    return "; ".join(filter(None, texts))


def _texts(shown: Iterable[Json], name: str) -> Iterator[tuple[str, str]]:
    for found in shown:
        by_path = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(by_path, Mapping) and "nodes" in found:
            yield from ((str(path), str(line)) for path, line in by_path.items())


def _unread(shown: Iterable[Json]) -> tuple[int, list[str]]:
    """Return the number of unreadable documents, and the names of the first."""
    lists = [found["unread"] for found in shown if isinstance(found, Mapping) and {"unread", "nodes"} <= found.keys()]
    unread = [one for one in lists if isinstance(one, Mapping)]
    paths = [str(path) for one in unread for path in one.get("paths") or ()]
    return max((int(one.get("count", 0)) for one in unread), default=0), paths[:NAMED_MOST]
