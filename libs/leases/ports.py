"""What a lease is, what may be done under one, and the port that keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from libs.errors import SumaError

Json = Any

TTL_SECONDS = 15.0
BEAT_SECONDS = 5.0
GIVE_UP_SECONDS = 10.0
"""Without a successful heartbeat for this long all work is dropped: someone else may soon hold it (bus.md 18)."""


@dataclass(frozen=True, slots=True)
class Start:
    """A lease to create. Without a delay it is claimed at birth where its process has room, so that nothing polls."""

    id: str
    kind: str
    input: Mapping[str, Json]
    delay: float | None = None
    """Seconds until it falls due; a wait."""


@dataclass(frozen=True, slots=True)
class Held:
    """A lease that this process holds. Only its newest token can finish it."""

    id: str
    group: str
    kind: str
    tenant: str
    key: str
    token: int
    attempts: int
    input: Mapping[str, Json]
    cancelled: bool = False
    valid: Callable[[], bool] = field(default=lambda: True, compare=False, repr=False)
    """May this process still act under it? Asked before each effect; false once it may have run out, also for a process
    that was stopped meanwhile. Safe to ask from any thread."""


class Cancelled(SumaError):
    """Someone asked for this work to stop."""

    code = "CANCELLED"


class Exhausted(SumaError):
    """The work was tried as often as it may be, and did not end."""

    code = "EXHAUSTED"


class Leases(Protocol):
    """The keeper's store. Claiming at birth and finishing are parts of a changeset, not verbs."""

    async def pending(self, groups: Sequence[str]) -> Sequence[tuple[str, str]]:
        """(group, kind) pairs with something due; the kind of a parked event is `""`."""
        ...

    async def due(self, group: str, kind: str, *, room: int, per_tenant: int) -> Sequence[Held]:
        """Claim what is due, oldest first, round-robin by tenant; each with a new token."""
        ...

    async def backlog(self, *, most: int) -> int:
        """How many are due and held by nobody, of all groups; counted up to `most`."""
        ...

    async def beat(self, held: Sequence[Held]) -> Mapping[str, bool]:
        """Renew; id → cancelled. An id that is absent is lost."""
        ...

    async def marked(self, held: Sequence[Held]) -> Mapping[str, bool]:
        """Which of these were cancelled (False) or lost (True) since."""
        ...

    async def release(self, held: Sequence[Held], *, delay: float) -> None:
        """Give back, to be taken again after `delay` seconds."""
        ...

    async def free(self, owners: Sequence[str]) -> int:
        """Free at once what dead owners hold. Only the holder of the data directory's lock may call this."""
        ...
