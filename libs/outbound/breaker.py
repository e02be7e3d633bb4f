"""The breaker, as facts: what one dependency's calls have shown, and whether the next may go.

Closed: calls go. Open, after some failures in a row: none goes until it has rested. Half-open: one goes, and what
becomes of it decides. A call that began before the last opening decides nothing: it saw another time.
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
    """The defaults are the sources' (S3 linked, degradation): 5 failures, 60 s; SomaBrain's client has 3 and 15 s."""

    failures: int = 5
    """In a row."""
    rest: float = 60.0
    """Seconds that it stays open, unless something is known to answer again before."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """Times are seconds of one monotonic clock. Every step makes a new one."""

    rules: Rules = Rules()
    state: State = State.CLOSED
    failures: int = 0
    opened_at: float = 0.0
    probing: bool = False
    """The one call of a half-open breaker is under way."""
    era: int = 0
    """Moves at each opening and each closing; a call belongs to the one in which it began."""

    def wait(self, now: float) -> float:
        """Seconds until a call may be tried; 0 when it may be now."""
        return max(0.0, self.opened_at + self.rules.rest - now) if self.state is State.OPEN else 0.0

    def admitted(self, now: float) -> Breaker | None:
        """With one more call under way, or None: it may not go."""
        if self.state is State.CLOSED:
            return self
        if self.probing or self.wait(now) > 0:
            return None
        return replace(self, state=State.HALF_OPEN, probing=True)

    def answered(self, era: int) -> Breaker:
        """A call of that era was answered."""
        if era != self.era or self.state is State.OPEN:
            return self
        if self.state is State.HALF_OPEN:
            return replace(self, state=State.CLOSED, failures=0, probing=False, era=self.era + 1)
        return replace(self, failures=0) if self.failures else self

    def failed(self, era: int, now: float) -> Breaker:
        """A call of that era was not answered."""
        if era != self.era or self.state is State.OPEN:
            return self
        failures = self.failures + 1
        if self.state is State.CLOSED and failures < self.rules.failures:
            return replace(self, failures=failures)
        return replace(self, state=State.OPEN, failures=failures, opened_at=now, probing=False, era=self.era + 1)

    def withdrawn(self, era: int) -> Breaker:
        """A call of that era was given up by its caller, and says nothing."""
        if era != self.era or self.state is not State.HALF_OPEN:
            return self
        return replace(self, probing=False)

    def roused(self) -> Breaker:
        """Someone has seen it answer: the next call is the probe, without more rest."""
        return replace(self, state=State.HALF_OPEN) if self.state is State.OPEN else self
