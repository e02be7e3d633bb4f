"""Sizes of events, which never exceed 256 KiB. Long lists are cut and large parts left out, and a cut never looks like
the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import orjson

from libs.events import Diff, Exchange, Json, KnownFact, Observation, Passage

T = TypeVar("T")

TEXT_MOST = 120 * 1024
"""Bytes of a message's JSON; a longer one is refused."""
ANSWER_MOST = 40_000
"""Characters of an answer."""
HISTORY_BYTES, OBSERVED_BYTES, MEMORY_BYTES, KNOWN_BYTES = 16 * 1024, 40 * 1024, 12 * 1024, 16 * 1024
PASSAGES_BYTES = 6 * 1024
"""About 1,500 tokens."""
READ_BYTES, NAMES_BYTES, PATHS_BYTES, FEW_BYTES = 12 * 1024, 56 * 1024, 48 * 1024, 16 * 1024
ITEMS_MOST, ITEMS_BYTES, DIFF_BYTES = 200, 40 * 1024, 64 * 1024
LIST_MOST, STRING_MOST = 20, 500


def size(value: Json) -> int:
    """Return the size of a value's JSON in bytes."""
    return len(orjson.dumps(value))


def fitting(values: Iterable[T], most: int, weigh: Any = size) -> tuple[T, ...]:
    """Return as many of the first values as fit into `most` bytes."""
    kept: list[T] = []
    for value in values:
        most -= weigh(value) + 1
        if most < 0:
            break
        kept.append(value)
    return tuple(kept)


def history(exchanges: Iterable[Exchange]) -> tuple[Exchange, ...]:
    """Return the newest exchanges that fit, oldest first."""
    newest = fitting(reversed(tuple(exchanges)), HISTORY_BYTES, _weight)
    return tuple(reversed(newest))


def passages(found: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return the first passages that fit."""
    return fitting(found, PASSAGES_BYTES, _weight)


def observed(found: Iterable[Observation]) -> tuple[Observation, ...]:
    """Return every observation; of older ones that do not fit, the data is left out and the texts are cut."""
    kept: list[Observation] = []
    left = OBSERVED_BYTES
    for each in reversed(tuple(found)):
        shorter = each.model_copy(update={"summary": each.summary[:300], "error": (each.error or "")[:300] or None})
        fits = next(
            (
                one
                for one in (each, shorter, shorter.model_copy(update={"data": None, "excerpt": None}))
                if _weight(one) <= left
            ),
            None,
        )
        if fits is None:
            break
        left -= _weight(fits)
        kept.append(fits)
    return tuple(reversed(kept))


def read(paths: Mapping[str, int]) -> dict[str, int]:
    """Return the newest of the paths that were read, as many as fit."""
    newest = fitting(reversed(tuple(paths.items())), READ_BYTES)
    return dict(reversed(newest))


def known(found: Iterable[KnownFact]) -> tuple[KnownFact, ...]:
    """Return the facts about the person that fit, the most relevant first."""
    return fitting(found, KNOWN_BYTES, _weight)


def facts(found: Mapping[str, Json], said: int = 0) -> dict[str, Json]:
    """Return the facts of the workspace that fit beside `said` bytes of messages.

    Names are all or none: a planner takes a missing name for a missing file.
    """
    long = said > TEXT_MOST // 2
    room = {"names": FEW_BYTES if long else NAMES_BYTES, "paths": FEW_BYTES if long else PATHS_BYTES}
    return {name: value for name, value in found.items() if name not in room or size(value) <= room[name]}


def items(found: Iterable[Json]) -> tuple[Json, ...]:
    """Return the items that a person may exclude, each shortened."""
    shown = (_short(item) for item, _ in zip(found, range(ITEMS_MOST), strict=False))
    return fitting(shown, ITEMS_BYTES)


def diff(whole: Diff | None) -> Diff | None:
    """Return the diff with as many entries as fit; its counts cover all of them."""
    if whole is None:
        return None
    return whole.model_copy(update={"entries": fitting(whole.entries, DIFF_BYTES, _weight)})


def _short(value: Json) -> Json:
    if isinstance(value, str):
        return value if len(value) <= STRING_MOST else value[: STRING_MOST - 1] + "…"
    if isinstance(value, list):
        rest = [f"… and {len(value) - LIST_MOST} more"] if len(value) > LIST_MOST else []
        return [*map(_short, value[:LIST_MOST]), *rest]
    if isinstance(value, Mapping):
        return {name: value[name] if name == "id" else _short(value[name]) for name in value}
    return value


def _weight(value: Any) -> int:
    return len(value.model_dump_json())
