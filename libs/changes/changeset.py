"""A changeset: everything that one input (an event, a finished lease, a request, a due wait) leads to, as data.

Handlers return changesets; the writer applies each in one transaction, all or nothing. A changeset has its input's id,
which becomes an inbox row, so an input is answered once however often it arrives (bus.md 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from libs.bus.ports import Record
from libs.changes.rows import Row
from libs.events.base import Event
from libs.leases.ports import Lease, NewLease

Json = Any


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one row; `<schema>.apply` has a paragraph for each kind. Its `tenant_id` is the changeset's."""

    schema: str
    kind: str
    row: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class DeadLetterAction:
    """An action on a parked or dead event of a group: `replay` or `discard` a dead one, `retry` a parked one
    immediately. The changeset conflicts when the event is no longer there.
    """

    verb: Literal["replay", "discard", "retry"]
    group: str
    event_id: str


@dataclass(frozen=True, slots=True)
class Cause:
    """The one input that a changeset answers, and what its events inherit from it."""

    id: str
    group: str
    tenant: str
    key: str
    session: str | None = None
    turn: str | None = None
    correlation: str | None = None
    causation: str | None = None
    traceparent: str | None = None
    topic: str | None = None
    urgent: bool = False
    parked: int | None = None
    """The sequence number in `bus.parked` that this retries."""
    lease: Lease | None = None
    again: bool = False
    """Whether this input was decided before, and the changeset conflicted."""
    alone: bool = False
    """Whether its changeset is applied without those that follow from it: a process may have died of this input."""
    uncommitted: frozenset[str] = frozenset()
    """Groups whose changes commit together with this one: their rows cannot be read yet."""

    @classmethod
    def record(cls, group: str, record: Record, *, urgent: bool = False, parked: int | None = None) -> Cause:
        return cls(
            id=record.event_id,
            group=group,
            tenant=record.tenant,
            key=record.key,
            session=record.header("sessionid"),
            turn=record.header("turnid"),
            correlation=record.header("correlationid") or record.event_id,
            causation=record.event_id,
            traceparent=record.header("traceparent"),
            topic=record.topic,
            urgent=urgent,
            parked=parked,
        )

    @classmethod
    def of_lease(cls, lease: Lease) -> Cause:
        """Return the cause of a finished lease. The changeset that started the lease stored what its events inherit."""
        context = lease.input.get("_cause", {})
        return cls(
            id=f"{lease.id}:{lease.token}",
            group=lease.group,
            tenant=lease.tenant,
            key=lease.key,
            session=context.get("session"),
            turn=context.get("turn") or lease.input.get("turn_id"),
            correlation=context.get("correlation"),
            causation=context.get("causation"),
            traceparent=context.get("traceparent"),
            lease=lease,
            alone=lease.deaths > 0,
        )

    @classmethod
    def request(
        cls, group: str, *, id: str, tenant: str, key: str, session: str | None = None, turn: str | None = None
    ) -> Cause:
        """Return the cause of an HTTP request."""
        return cls(id=id, group=group, tenant=tenant, key=key, session=session, turn=turn, correlation=id, causation=id)

    @staticmethod
    def inherited(headers: Mapping[str, str]) -> dict[str, str | None]:
        """Return what a lease carries along of its changeset's headers, so that its events keep the session, turn and
        correlation of its start. `bus.settle` writes the same.
        """
        return {
            "session": headers.get("sessionid"),
            "turn": headers.get("turnid"),
            "correlation": headers.get("correlationid"),
            "causation": headers.get("causationid"),
            "traceparent": headers.get("traceparent"),
        }


@dataclass(frozen=True, slots=True)
class Changeset:
    """The changes that follow from `cause`. Compose with `+`; events are published in the order in which they were
    added.
    """

    cause: Cause
    changes: tuple[Change, ...] = ()
    events: tuple[Event, ...] = ()
    starts: tuple[NewLease, ...] = ()
    ends: tuple[str, ...] = ()
    """Ids of waits and leases of this group to delete."""
    cancels: tuple[str, ...] = ()
    """Ids of leases of this group whose work must stop."""
    dead_letter_actions: tuple[DeadLetterAction, ...] = ()
    then: tuple[Callable[[], None], ...] = ()
    """Called in this process after the commit, such as to set a cached copy. A crash may skip them."""

    def put(self, *rows: Row) -> Changeset:
        """Add rows, in this order."""
        return self._plus(changes=tuple(Change(*row.into, row.columns()) for row in rows))

    def emit(self, *events: Event) -> Changeset:
        return self._plus(events=events)

    def start(self, *starts: NewLease) -> Changeset:
        return self._plus(starts=starts)

    def end(self, *ids: str) -> Changeset:
        return self._plus(ends=ids)

    def cancel(self, *ids: str) -> Changeset:
        return self._plus(cancels=ids)

    def act_on_dead_letters(self, *actions: DeadLetterAction) -> Changeset:
        return self._plus(dead_letter_actions=actions)

    def on_commit(self, *then: Callable[[], None]) -> Changeset:
        return self._plus(then=then)

    def __add__(self, other: Changeset) -> Changeset:
        if other.cause != self.cause:
            raise ValueError("only changesets of one cause can be joined")
        return self._plus(
            other.changes,
            other.events,
            other.starts,
            other.ends,
            other.cancels,
            other.dead_letter_actions,
            other.then,
        )

    def _plus(
        self,
        changes: tuple[Change, ...] = (),
        events: tuple[Event, ...] = (),
        starts: tuple[NewLease, ...] = (),
        ends: tuple[str, ...] = (),
        cancels: tuple[str, ...] = (),
        dead_letter_actions: tuple[DeadLetterAction, ...] = (),
        then: tuple[Callable[[], None], ...] = (),
    ) -> Changeset:
        # A turn makes over a hundred: `dataclasses.replace` would take four times as long.
        return Changeset(
            self.cause,
            self.changes + changes,
            self.events + events,
            self.starts + starts,
            self.ends + ends,
            self.cancels + cancels,
            self.dead_letter_actions + dead_letter_actions,
            self.then + then,
        )
