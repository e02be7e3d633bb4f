"""A short memory of what was read of people, so that a turn does not read it again."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

PEOPLE_MOST = 1_000
"""People of whom something is kept."""
T = TypeVar("T")


class Recent(Generic[T]):
    """The results of `read` by tenant and person, each for at most `seconds`. A change by another process shows after
    that.
    """

    def __init__(
        self, read: Callable[[str, str], Awaitable[T]], seconds: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._seconds, self._now = read, seconds, now
        self._kept: OrderedDict[tuple[str, str], tuple[float, T]] = OrderedDict()
        self._changes = 0

    async def of(self, tenant: str, person: str, read: Callable[[str, str], Awaitable[T]] | None = None) -> T:
        """Return what is known of a person, by this `read` if one is given and it is needed."""
        now, kept = self._now(), self._kept.get((tenant, person))
        if kept is not None and now - kept[0] < self._seconds:
            return kept[1]
        changes, found = self._changes, await (read or self._read)(tenant, person)
        # A change that committed meanwhile is perhaps not part of it.
        if changes == self._changes:
            self._kept[tenant, person] = now, found
            self._kept.move_to_end((tenant, person))
            if len(self._kept) > PEOPLE_MOST:
                self._kept.popitem(last=False)
        return found

    def changed(self, tenant: str, person: str) -> None:
        """Drop what is kept of a person. Called once a change has committed."""
        self._changes += 1
        self._kept.pop((tenant, person), None)

    def clear(self) -> None:
        """Drop what is kept of everyone. Called as `changed` is."""
        self._changes += 1
        self._kept.clear()
