"""Breakers as tests want them."""

from __future__ import annotations

from libs.outbound import Breaker, Rules


def opened(rules: Rules, *, at: float) -> Breaker:
    """One that has just seen enough."""
    breaker = Breaker(rules)
    for _ in range(rules.failures):
        breaker = breaker.failed(0, at)
    return breaker
