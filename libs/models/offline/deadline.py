"""A bound on the time of one plan, checked where work is done."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


class TooSlow(Exception):
    """Planning takes longer than it may."""


class Deadline:
    """Raises `TooSlow` from `check` once its time is over."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._end = clock, clock() + seconds

    def check(self) -> None:
        if self._clock() > self._end:
            raise TooSlow
