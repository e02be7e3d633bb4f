"""Recently refused keys. A client that keeps using a revoked key must not flood the audit log."""

from __future__ import annotations

from collections import OrderedDict

EVERY_SECONDS = 60.0
REMEMBERED = 1_000


class Refusals:
    def __init__(self) -> None:
        self._at: OrderedDict[str, float] = OrderedDict()

    def fresh(self, key: str, now: float) -> bool:
        """Return whether to record this key's refusal: once a minute. `now` is in seconds."""
        if now - self._at.get(key, now - EVERY_SECONDS) < EVERY_SECONDS:
            return False
        self._at[key] = now
        self._at.move_to_end(key)
        if len(self._at) > REMEMBERED:
            self._at.popitem(last=False)
        return True
