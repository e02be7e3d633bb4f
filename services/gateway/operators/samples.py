"""The last hour of this process, for an operator without a Prometheus: a ring of samples of a few metrics.

The samples cover one process, and end with it. Prometheus and Grafana cover the whole installation.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence

from libs.runtime import Platform
from libs.telemetry import metrics
from libs.telemetry.readings import buckets, resident_bytes, total
from services.gateway.operators.models import MetricSample
from services.gateway.operators.quantile import quantile

EVERY_SECONDS = 15.0
SAMPLES_MOST = 240
"""One hour."""
EXECUTOR, CALLS = "tool_executor", ("tool", "effect")
"""The group and the kinds of lease of a tool call."""


class Samples:
    """The newest samples, oldest first."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._ring: deque[MetricSample] = deque(maxlen=SAMPLES_MOST)
        self._counters, self._times = _counters(), buckets(metrics.request_seconds)

    def __call__(self) -> Sequence[MetricSample]:
        return tuple(self._ring)

    async def serve(self) -> None:
        """Take samples until cancelled."""
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            self.take()

    def take(self) -> None:
        """Take a sample now."""
        counters, times = _counters(), buckets(metrics.request_seconds)
        since = {bound: count - self._times.get(bound, 0.0) for bound, count in times.items()}
        self._ring.append(
            MetricSample(
                at=self._platform.clock.now(),
                **{name: int(count - self._counters[name]) for name, count in counters.items()},
                p95_seconds=quantile(0.95, since),
                lag=int(total(metrics.lag)),
                memory_bytes=resident_bytes(),
            )
        )
        self._counters, self._times = counters, times


def _counters() -> Mapping[str, float]:
    return {
        "turns": total(metrics.turns),
        "tool_calls": total(metrics.tasks, group=(EXECUTOR,), kind=CALLS),
        "allowed": total(metrics.policy_decisions, allowed=("true",)),
        "denied": total(metrics.policy_decisions, allowed=("false",)),
        "unanswered": total(metrics.policy_unanswered),
        "dead_letters": total(metrics.dead_letters),
        "requests": total(metrics.responses),
    }
