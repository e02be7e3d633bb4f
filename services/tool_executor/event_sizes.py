"""Sizes of events, which never exceed 256 KiB: lists are cut where they no longer fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from pydantic import BaseModel

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
DIFF_BYTES, PREVIEWS_BYTES, GROUPS_BYTES = 64 * 1024, 24 * 1024, 12 * 1024
READS_BYTES, CONFLICTS_BYTES = 24 * 1024, 24 * 1024
WARNINGS_MOST, TEXT_MOST = 50, 500


def fitting(texts: Iterable[str], most: int) -> tuple[str, ...]:
    """Return as many of the first values as fit into `most` bytes of JSON."""
    return _first(texts, most, lambda text: len(text.encode("utf-8", "replace")) + 3)


def weighed(values: Iterable[M], most: int) -> tuple[M, ...]:
    """Return as many of the first values as fit into `most` bytes of JSON."""
    return _first(values, most, lambda value: len(value.model_dump_json()) + 1)


def _first(values: Iterable[T], most: int, size: Callable[[T], int]) -> tuple[T, ...]:
    kept: list[T] = []
    for value in values:
        most -= size(value)
        if most < 0:
            break
        kept.append(value)
    return tuple(kept)


def warnings(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the first warnings, each shortened, and how many more there are."""
    found = list(texts)
    more = [f"… and {len(found) - WARNINGS_MOST} more"] if len(found) > WARNINGS_MOST else []
    return (*(text[:TEXT_MOST] for text in found[:WARNINGS_MOST]), *more)
