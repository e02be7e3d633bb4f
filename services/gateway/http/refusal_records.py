"""Refusals for the audit log, without a flood: each kind is recorded at once, and its repetitions once a minute."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

EVERY_SECONDS = 60.0
REMEMBERED = 1_000
PLATFORM = "local"
"""The tenant whose log holds refusals of callers that are not identified."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A kind of refusal: who was refused what, and by which rule."""

    tenant: str
    principal: str
    action: str
    resource: str
    rule: str


def anonymous(rule: str) -> Refusal:
    """Return the refusal of a caller that nothing identifies. It has no other detail, so there are few kinds of it."""
    return Refusal(PLATFORM, "anonymous", "identity.authenticate", "", rule)


OTHERS = anonymous("MANY_KINDS")
"""All kinds beyond those that are remembered."""


@dataclass(slots=True)
class _Minute:
    began: float
    uncounted: int = 0


class Tally:
    """The refusals of the last minute, by kind. Times are in seconds."""

    def __init__(self) -> None:
        self._minutes: dict[Refusal, _Minute] = {}

    def add(self, refusal: Refusal, now: float) -> Refusal | None:
        """Count a refusal; return the kind to record at once, or None if its minute already has a record."""
        if refusal not in self._minutes and len(self._minutes) >= REMEMBERED:
            refusal = OTHERS
        minute = self._minutes.get(refusal)
        if minute is None:
            self._minutes[refusal] = _Minute(now)
            return refusal
        minute.uncounted += 1
        return None

    def missed(self, refusal: Refusal, count: int) -> None:
        """Count refusals whose record could not be written."""
        self._minutes.setdefault(refusal, _Minute(0.0)).uncounted += count

    def due(self, now: float) -> Sequence[tuple[Refusal, int]]:
        """Return the kinds whose minute is over, with the number of refusals that have no record yet, and forget
        them.
        """
        over = [kind for kind, minute in self._minutes.items() if now - minute.began >= EVERY_SECONDS]
        ended = [(kind, self._minutes.pop(kind).uncounted) for kind in over]
        return [(kind, count) for kind, count in ended if count]


class OncePerMinute:
    """Recently seen names, at most 1,000."""

    def __init__(self) -> None:
        self._at: OrderedDict[str, float] = OrderedDict()

    def fresh(self, name: str, now: float) -> bool:
        """Return whether this name was not seen for a minute. `now` is in seconds."""
        if now - self._at.get(name, now - EVERY_SECONDS) < EVERY_SECONDS:
            return False
        self._at[name] = now
        self._at.move_to_end(name)
        if len(self._at) > REMEMBERED:
            self._at.popitem(last=False)
        return True
