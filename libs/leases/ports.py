"""The port: leases, their errors, and the store that keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from libs import ids
from libs.errors import Rejected, SumaError

Json = Any

# Three heartbeats fit into a lease, so one that fails loses no work.
TTL_SECONDS = 15.0
BEAT_SECONDS = 5.0
DEATHS_MOST = 3
"""Work becomes a dead letter after this many deaths of its process."""
GIVE_UP_SECONDS = 10.0
"""Seconds without a successful heartbeat after which all work is dropped: another process may soon hold it (bus.md 18).
"""


@dataclass(frozen=True, slots=True)
class NewLease:
    """A lease to create. Without a delay it is claimed at birth if its process has room, so that no poll is needed."""

    id: str
    kind: str
    input: Mapping[str, Json]
    delay: float | None = None
    """Seconds until it falls due; for a wait."""
    repeats: str | None = None
    """The member of `input` that is the data of the event which its handler was called for. A commit that publishes
    this event, too, sends it once.
    """


@dataclass(frozen=True, slots=True)
class Lease:
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
    deaths: int = 0
    """The number of processes that died, or stopped answering, while they held it."""
    valid: Callable[[], bool] = field(default=lambda: True, compare=False, repr=False)
    """Return whether this process may still act under the lease. Call it before each effect. It is false once the lease
    may have expired, also for a process that was stopped meanwhile. Safe to call from any thread.
    """

    def successor(self, input: Mapping[str, Json], *, delay: float | None = None) -> NewLease:
        """Return a lease of this kind that goes on after this one; the same one if this one's end is decided again."""
        return NewLease(ids.derived(self.id, str(self.token)), self.kind, input, delay=delay)


@dataclass(frozen=True, slots=True)
class LeaseCount:
    """A tenant's leases of one kind: all of them, those that a process holds, and those that are due and wait for one.
    `since` is the oldest one's creation.
    """

    group: str
    kind: str
    leases: int
    held: int
    due: int
    since: datetime


class Cancelled(SumaError):
    """The work was cancelled on request."""

    code = "CANCELLED"


class Exhausted(SumaError):
    """The work failed in all its attempts."""

    code = "EXHAUSTED"


class ProcessDied(Rejected):
    """Every attempt ended with the death of its process."""

    code = "PROCESS_DIED"


class Leases(Protocol):
    """The store of leases. Claiming at birth and finishing are parts of a changeset, not methods."""

    async def pending(self, groups: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return the (group, kind) pairs with something due; the kind of a parked event is `""`."""
        ...

    async def claim_due(self, group: str, kind: str, *, room: int, per_tenant: int) -> Sequence[Lease]:
        """Claim due leases, oldest first, round-robin by tenant; each gets a new token."""
        ...

    async def backlog(self, *, most: int) -> int:
        """Return how many leases of all groups are due and unclaimed; counted up to `most`."""
        ...

    async def counts(self, tenant: str) -> Sequence[LeaseCount]:
        """Return a tenant's leases by group and kind."""
        ...

    async def renew(self, leases: Sequence[Lease]) -> Mapping[str, bool]:
        """Renew the leases; return id → cancelled. An id that is absent is lost."""
        ...

    async def cancelled_or_lost(self, leases: Sequence[Lease]) -> Mapping[str, bool]:
        """Return which of these leases were cancelled (False) or lost (True) since."""
        ...

    async def release(self, leases: Sequence[Lease], *, delay: float) -> None:
        """Release the leases; they can be claimed again after `delay` seconds."""
        ...

    async def free(self, owners: Sequence[str]) -> int:
        """Release the leases of dead owners at once. Only the holder of the data directory's lock may call this."""
        ...

    async def leave(self) -> None:
        """Release all leases of this process; they can be claimed at once."""
        ...
