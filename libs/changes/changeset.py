"""A changeset: all that follows from one input (an event, a finished lease, a request, a due wait), decided but not
done.

Handlers return them; the writer applies each in one transaction, whole or not at all. Its id is its input's, and
becomes an inbox row, so that an input is answered once, however often it arrives (bus.md 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from libs.bus.ports import Record
from libs.events.base import Event
from libs.leases.ports import Held, Start

Json = Any
NUMBERS = frozenset({"n", "i"})


@dataclass(frozen=True, slots=True)
class Change:
    """One row's change: `<schema>.apply` has a paragraph for each kind. Its `tenant_id` is the changeset's own."""

    schema: str
    kind: str
    row: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Aside:
    """What becomes of an event that stands aside in a group: `replay` or `discard` of a dead one, `retry` of a parked
    one at once. Where it stands there no more, the changeset conflicts."""

    verb: Literal["replay", "discard", "retry"]
    group: str
    event_id: str


@dataclass(frozen=True, slots=True)
class Cause:
    """The one input that a changeset answers, with what its events inherit."""

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
    """The place in `bus.parked` that this is a retry of."""
    lease: Held | None = None

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
    def held(cls, held: Held) -> Cause:
        """A lease's end. What its events inherit was put into its input by the changeset that started it."""
        context = held.input.get("_cause", {})
        return cls(
            id=f"{held.id}:{held.token}",
            group=held.group,
            tenant=held.tenant,
            key=held.key,
            session=context.get("session"),
            turn=context.get("turn"),
            correlation=context.get("correlation"),
            causation=context.get("causation"),
            traceparent=context.get("traceparent"),
            lease=held,
        )

    @classmethod
    def request(
        cls, group: str, *, id: str, tenant: str, key: str, session: str | None = None, turn: str | None = None
    ) -> Cause:
        """An HTTP request."""
        return cls(id=id, group=group, tenant=tenant, key=key, session=session, turn=turn, correlation=id, causation=id)

    def inherited(self) -> dict[str, str | None]:
        """What a lease carries along, so that the events of its end belong to the same story."""
        return {
            "session": self.session,
            "turn": self.turn,
            "correlation": self.correlation,
            "causation": self.causation,
            "traceparent": self.traceparent,
        }


@dataclass(frozen=True, slots=True)
class Changeset:
    """What follows from `cause`. Compose with `+`; events are published in the order in which they were added."""

    cause: Cause
    changes: tuple[Change, ...] = ()
    events: tuple[Event, ...] = ()
    starts: tuple[Start, ...] = ()
    ends: tuple[str, ...] = ()
    """Waits and leases of this group that are needed no more, by id."""
    cancels: tuple[str, ...] = ()
    """Leases of this group whose work is to stop, by id."""
    asides: tuple[Aside, ...] = ()
    then: tuple[Callable[[], None], ...] = ()
    """Called in this process once it has committed: a cached copy is set, a local viewer is woken. Never relied
    upon."""

    def change(self, schema: str, kind: str, **row: Json) -> Changeset:
        if not NUMBERS.isdisjoint(row):
            raise ValueError(f"{schema} {kind}: the writer numbers rows itself, in columns 'n' and 'i'")
        return replace(self, changes=(*self.changes, Change(schema, kind, row)))

    def say(self, *events: Event) -> Changeset:
        return replace(self, events=self.events + events)

    def start(self, *starts: Start) -> Changeset:
        return replace(self, starts=self.starts + starts)

    def end(self, *ids: str) -> Changeset:
        return replace(self, ends=self.ends + ids)

    def cancel(self, *ids: str) -> Changeset:
        return replace(self, cancels=self.cancels + ids)

    def decide(self, *asides: Aside) -> Changeset:
        return replace(self, asides=self.asides + asides)

    def afterwards(self, *then: Callable[[], None]) -> Changeset:
        return replace(self, then=self.then + then)

    def __add__(self, other: Changeset) -> Changeset:
        if other.cause != self.cause:
            raise ValueError("only changesets of one cause can be joined")
        return Changeset(
            self.cause,
            self.changes + other.changes,
            self.events + other.events,
            self.starts + other.starts,
            self.ends + other.ends,
            self.cancels + other.cancels,
            self.asides + other.asides,
            self.then + other.then,
        )
