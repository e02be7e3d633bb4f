"""Rate windows: how many requests came in the last seconds, by a sliding window of two counters (S3-43).

The previous window's count weighs less the more of it has passed, so a burst at the border of two windows does not get
twice its limit. A limit costs two numbers, however high it is.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

SHORTEST = 0.001
KEPT_MOST = 10_000
"""Most windows that a process keeps in memory; the longest idle is dropped first."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most this many in this many seconds, for a tenant or for one principal of it."""

    code: str
    """The limit's name, which the refusal shows."""
    tenant: str
    most: int
    seconds: float
    whose: str = ""
    """A principal within the tenant; empty for the whole tenant."""


@dataclass(frozen=True, slots=True)
class LimitState:
    """A limit after a request, as the RateLimit headers show it (draft-ietf-httpapi-ratelimit-headers)."""

    limit: Limit
    left: int
    """Requests that fit now."""
    reset: float
    """Seconds until the window ends."""
    wait: float = 0.0
    """Seconds until one more fits, if this limit refused the request."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts of this window and the previous one, and the seconds since this one began."""

    current: int
    previous: int
    passed: float


class Windows(Protocol):
    """Counts requests for all processes that share the store."""

    async def admit(self, limits: Sequence[Limit]) -> Sequence[LimitState]:
        """Count one request under each of a tenant's limits, and return their states, in the same order. If one is
        reached, count nothing; its state has a `wait`.

        However many processes ask at once, no limit is exceeded by one. Raises `Unavailable` when the store does not
        answer in time.
        """
        ...


def limit_state(limit: Limit, counted: Counted, *, refused: bool) -> LimitState:
    """Return the state of a limit with these counts."""
    weight = 1.0 - counted.passed / limit.seconds
    left = max(0, math.floor(limit.most - counted.previous * weight - counted.current))
    reset = limit.seconds - counted.passed
    return LimitState(limit, left, reset, max(wait(limit, counted), SHORTEST) if refused else 0.0)


def wait(limit: Limit, counted: Counted) -> float:
    """Return the seconds until one more fits; 0 when it does now."""
    weight = 1.0 - counted.passed / limit.seconds
    if counted.previous * weight + counted.current + 1 <= limit.most:
        return 0.0
    if counted.current + 1 <= limit.most:
        # The previous window, which cannot be empty here, has to fade further.
        return limit.seconds * (weight - (limit.most - 1 - counted.current) / counted.previous)
    # This window first has to become the previous one.
    rest = limit.seconds - counted.passed
    return rest + limit.seconds * (1.0 - (limit.most - 1) / counted.current)


class LocalWindows:
    """Windows in this process's memory: for a single process, and while the shared store is away."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._windows: OrderedDict[tuple[str, str], tuple[int, int, int]] = OrderedDict()

    async def admit(self, limits: Sequence[Limit]) -> Sequence[LimitState]:
        seen = [(limit, *self._counted(limit)) for limit in limits]
        # All are looked at before one is counted: a refused request counts under none.
        reached = next((limit for limit, _, counted in seen if wait(limit, counted) > 0), None)
        if reached is None:
            seen = [(limit, number, self._keep(limit, number, counted)) for limit, number, counted in seen]
        return [limit_state(limit, counted, refused=limit is reached) for limit, _, counted in seen]

    def _counted(self, limit: Limit) -> tuple[int, Counted]:
        """Return the number of the current window and its count."""
        now = self._now()
        number = math.floor(now / limit.seconds)
        last, current, previous = self._windows.get((limit.tenant, limit.whose), (number, 0, 0))
        if last == number - 1:
            current, previous = 0, current
        elif last != number:
            current = previous = 0
        return number, Counted(current, previous, now - number * limit.seconds)

    def _keep(self, limit: Limit, number: int, counted: Counted) -> Counted:
        key = limit.tenant, limit.whose
        self._windows[key] = number, counted.current + 1, counted.previous
        self._windows.move_to_end(key)
        if len(self._windows) > KEPT_MOST:
            self._windows.popitem(last=False)
        return replace(counted, current=counted.current + 1)
