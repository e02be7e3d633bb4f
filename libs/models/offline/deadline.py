"""A bound on the processor time of one plan, checked where work is done.

The thread's own time counts, so that a busy machine answers late instead of not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time


class TooSlow(Exception):
    """Planning takes longer than it may."""


class Deadline:
    """Raises `TooSlow` from `check` once its time is over."""

    def __init__(self, seconds: float, clock: Callable[[], float] = thread_time) -> None:
        self._clock, self._end = clock, clock() + seconds

    def check(self) -> None:
        if self._clock() > self._end:
            raise TooSlow
