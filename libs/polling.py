"""Polling: how long a loop rests between looks that mostly find nothing.

Hints wake such a loop at once. It also looks by itself, for what no hint told: a lost notification, a lease whose
owner died. Without news, looking each second costs an idle process most of its CPU.
"""

from __future__ import annotations

QUIET_LOOKS = 10
"""Looks without news after which a loop is quiet."""
QUIET_TIMES = 4
"""How many times as long a quiet loop rests."""


class Pause:
    """The pause between two looks, in seconds: longer in a quiet loop, until it finds something."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._empty = seconds, 0

    def found(self) -> None:
        """Note that the last look found something."""
        self._empty = 0

    def next(self) -> float:
        """Return how long to rest until the next look."""
        quiet = self._empty >= QUIET_LOOKS
        self._empty += not quiet
        return self._seconds * (QUIET_TIMES if quiet else 1)
