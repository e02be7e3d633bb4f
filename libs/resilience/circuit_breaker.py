"""A circuit breaker as an immutable value: the outcomes of one dependency's calls, and whether the next may start.

Closed: calls start. Open, after several consecutive failures: no call starts until the rest period is over. Half-open:
one call starts, and its outcome decides. A call that began in an earlier generation changes nothing: its outcome is
stale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class State(StrEnum):
    CLOSED = "closed"
    HALF_OPEN = "half_open"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Rules:
    """When a breaker opens and for how long. Defaults: 5 failures, 60 s (S3, degradation)."""

    failures: int = 5
    """Consecutive failures that open it."""
    rest: float = 60.0
    """Seconds that it stays open, unless a probe succeeds earlier."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """State of one dependency's circuit. Times are seconds of one monotonic clock; each step returns a new value."""

    rules: Rules = Rules()
    state: State = State.CLOSED
    failures: int = 0
    opened_at: float = 0.0
    probing: bool = False
    """The single call of a half-open breaker is running."""
    generation: int = 0
    """Incremented at each opening and closing; a call belongs to the generation in which it began."""

    def wait(self, now: float) -> float:
        """Return the seconds until a call may start; 0 when it may start now."""
        return max(0.0, self.opened_at + self.rules.rest - now) if self.state is State.OPEN else 0.0

    def admitted(self, now: float) -> Breaker | None:
        """Return the breaker with one more call running, or None when no call may start."""
        if self.state is State.CLOSED:
            return self
        if self.probing or self.wait(now) > 0:
            return None
        return replace(self, state=State.HALF_OPEN, probing=True)

    def answered(self, generation: int) -> Breaker:
        """Record a success of a call of that generation."""
        if generation != self.generation or self.state is State.OPEN:
            return self
        if self.state is State.HALF_OPEN:
            return replace(self, state=State.CLOSED, failures=0, probing=False, generation=self.generation + 1)
        return replace(self, failures=0) if self.failures else self

    def failed(self, generation: int, now: float) -> Breaker:
        """Record a failure of a call of that generation."""
        if generation != self.generation or self.state is State.OPEN:
            return self
        failures = self.failures + 1
        if self.state is State.CLOSED and failures < self.rules.failures:
            return replace(self, failures=failures)
        return replace(
            self, state=State.OPEN, failures=failures, opened_at=now, probing=False, generation=self.generation + 1
        )

    def withdrawn(self, generation: int) -> Breaker:
        """Record that the caller abandoned a call; its outcome is unknown."""
        if generation != self.generation or self.state is not State.HALF_OPEN:
            return self
        return replace(self, probing=False)

    def probed_now(self) -> Breaker:
        """Skip the rest period: the next call is the probe."""
        return replace(self, state=State.HALF_OPEN) if self.state is State.OPEN else self
