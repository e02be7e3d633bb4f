"""The retry deadline: how long a policy question may stay unanswered before it counts as denied (architecture.md 9)."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta

from libs.clock import Clock

INPUTS_MOST = 10_000
POLICY_SECONDS = 60.0
"""How long an unanswered question is asked again; then what waits for it is refused as POLICY_UNAVAILABLE (A8)."""


class RetryDeadline:
    """When each input first met no answer, as far as this process knows."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # In memory: after a restart, or once forgotten, an input waits for another minute, and nothing is allowed
        # meanwhile.
        self._since: OrderedDict[str, datetime] = OrderedDict()

    def over(self, input_id: str) -> bool:
        """Note one more missing answer; return whether the deadline has passed."""
        now = self._clock.now()
        since = self._since.setdefault(input_id, now)
        if len(self._since) > INPUTS_MOST:
            self._since.popitem(last=False)
        return now - since > timedelta(seconds=POLICY_SECONDS)
