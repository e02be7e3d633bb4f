"""Rate windows: how much has happened in the last seconds, by a sliding window of two counters (S3-43).

What the previous window counted weighs less the more of it has passed. So a burst at the border of two windows does not
get twice its limit, and a limit costs two numbers, however high it is.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

KEPT_MOST = 10_000
"""Windows that a process keeps for itself; the one that was idle longest is forgotten first."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most so much of a tenant's, or of one of its own, in so many seconds."""

    code: str
    """What it is called where it is reached."""
    tenant: str
    most: int
    seconds: float
    whose: str = ""
    """Within the tenant; nobody in particular where it is empty."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A limit that one more would pass, and the seconds after which one fits."""

    limit: Limit
    wait: float


@dataclass(frozen=True, slots=True)
class Counted:
    """A window's state: what this window and the one before it counted, and the seconds since this one began."""

    current: int
    previous: int
    passed: float


class Windows(Protocol):
    """Counts what happens, for all processes that share the store."""

    async def admit(self, limits: Sequence[Limit]) -> Reached | None:
        """Count one more under each of these, of one tenant. Where one is reached nothing is counted, and it is told.

        Raises `Unavailable` when the store does not answer in time.
        """
        ...


def wait(limit: Limit, counted: Counted) -> float:
    """Seconds until one more fits; 0 when it does now."""
    weight = 1.0 - counted.passed / limit.seconds
    if counted.previous * weight + counted.current + 1 <= limit.most:
        return 0.0
    if counted.current + 1 <= limit.most:
        # The older window has to fade some more.
        return limit.seconds * (weight - (limit.most - 1 - counted.current) / counted.previous)
    rest = limit.seconds - counted.passed
    return rest + limit.seconds * (1.0 - (limit.most - 1) / counted.current)


class LocalWindows:
    """In this process alone: where nobody shares it, and while the shared store is away."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._windows: OrderedDict[tuple[str, str], tuple[int, int, int]] = OrderedDict()

    async def admit(self, limits: Sequence[Limit]) -> Reached | None:
        seen = [(limit, *self._counted(limit)) for limit in limits]
        for limit, _, counted in seen:
            if (seconds := wait(limit, counted)) > 0:
                return Reached(limit, seconds)
        for limit, number, counted in seen:
            self._keep(limit, number, counted)
        return None

    def _counted(self, limit: Limit) -> tuple[int, Counted]:
        """The number of the window that we are in, and what it has counted."""
        now = self._now()
        number = math.floor(now / limit.seconds)
        last, current, previous = self._windows.get((limit.tenant, limit.whose), (number, 0, 0))
        if last == number - 1:
            current, previous = 0, current
        elif last != number:
            current = previous = 0
        return number, Counted(current, previous, now - number * limit.seconds)

    def _keep(self, limit: Limit, number: int, counted: Counted) -> None:
        key = limit.tenant, limit.whose
        self._windows[key] = number, counted.current + 1, counted.previous
        self._windows.move_to_end(key)
        if len(self._windows) > KEPT_MOST:
            self._windows.popitem(last=False)
