"""Circuit breakers in the states that tests need."""

from __future__ import annotations

from libs.resilience import Breaker, Rules


def opened(rules: Rules, *, at: float) -> Breaker:
    """Return a breaker that has just opened."""
    breaker = Breaker(rules)
    for _ in range(rules.failures):
        breaker = breaker.failed(0, at)
    return breaker
