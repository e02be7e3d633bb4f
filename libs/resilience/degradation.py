"""Degradation levels from a dependency's recent calls: how slow and how faulty they were (S3, degradation)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum

WINDOW_SECONDS = 60.0
KEPT_MOST = 256
ENOUGH = 10
"""Fewest calls for which an error rate is meaningful."""


class Level(IntEnum):
    """How far a dependency is degraded."""

    NONE = 0
    MINOR = 1
    """Over 5 s, or over 10 % errors."""
    MODERATE = 2
    """Over 10 s, or over 20 % errors."""
    SEVERE = 3
    """Over 15 s, or its health check fails."""
    CRITICAL = 4
    """Its circuit is open: no call is made."""


def level(*, seconds: float = 0.0, errors: float = 0.0, healthy: bool = True, shut: bool = False) -> Level:
    """Return the level for a mean call time in seconds and an error rate from 0 to 1."""
    if shut:
        return Level.CRITICAL
    if not healthy or seconds > 15.0:
        return Level.SEVERE
    if seconds > 10.0 or errors > 0.2:
        return Level.MODERATE
    if seconds > 5.0 or errors > 0.1:
        return Level.MINOR
    return Level.NONE


@dataclass(slots=True)
class CallWindow:
    """A sliding window over the calls of the last minute, at most KEPT_MOST of them."""

    _calls: deque[tuple[float, float, bool]] = field(default_factory=lambda: deque(maxlen=KEPT_MOST))

    def note(self, at: float, seconds: float, *, ok: bool) -> None:
        self._calls.append((at, seconds, ok))

    def level(self, now: float, *, healthy: bool, shut: bool) -> Level:
        calls = [call for call in self._calls if now - call[0] <= WINDOW_SECONDS]
        if not calls:
            return level(healthy=healthy, shut=shut)
        failed = sum(not ok for _, _, ok in calls) / len(calls) if len(calls) >= ENOUGH else 0.0
        mean = sum(seconds for _, seconds, _ in calls) / len(calls)
        return level(seconds=mean, errors=failed, healthy=healthy, shut=shut)
