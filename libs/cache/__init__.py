"""Fast storage that may be lost: everything here can be rebuilt, or is replaced by an event (architecture.md 2, 6)."""

from libs.cache.ports import START, Board, Cache, Delta, Deltas, NoBoard, NoCache, Notice, Stream, StreamEntry
from libs.cache.windows import Limit, LimitState, LocalWindows, Windows

__all__ = [
    "START",
    "Board",
    "Cache",
    "Delta",
    "Deltas",
    "Limit",
    "LimitState",
    "LocalWindows",
    "NoBoard",
    "NoCache",
    "Notice",
    "Stream",
    "StreamEntry",
    "Windows",
    "guarded",
    "redis",
]
