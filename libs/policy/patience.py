"""Patience: how long a question to policy may stay unanswered before the answer is no (DESIGN §8)."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta

from libs.clock import Clock

INPUTS_MOST = 10_000


class Patience:
    """By input: since when it has been asked in vain, as far as this process knows."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._most = clock, timedelta(seconds=seconds)
        self._since: OrderedDict[str, datetime] = OrderedDict()

    def over(self, input_id: str) -> bool:
        """It was asked in vain once more: is that enough?"""
        now = self._clock.now()
        since = self._since.setdefault(input_id, now)
        if len(self._since) > INPUTS_MOST:
            self._since.popitem(last=False)
        return now - since > self._most
