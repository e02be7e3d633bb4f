"""Build the JSON document that `bus.commit` takes from a batch of changesets, and read its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from libs import ids
from libs.bus.ports import Record
from libs.changes.changeset import Cause, Changeset
from libs.database import tenant_set
from libs.errors import Rejected
from libs.events.audit import ActionRecorded, ActionsRecorded
from libs.events.base import Event
from libs.events.envelope import MAX_EVENT_BYTES, Envelope, headers
from libs.leases.ports import TTL_SECONDS, Lease, NewLease

Row = dict[str, Any]
Lane = tuple[str, str]
"""A group and a key, or a group and a partition where it gathers."""
RECORDS_MOST = 100
"""Audit records in one event: an event has at most 256 KiB."""


class EventTooLarge(Rejected):
    """An event is over 256 KiB; move its body into a blob."""

    code = "EVENT_TOO_LARGE"


@dataclass(frozen=True, slots=True)
class Parking:
    """An event to park or to dead-letter; later events of its key and topic wait behind it."""

    record: Record
    state: str
    error: str
    attempts: int = 0
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Consequence:
    """A handling that joins the chain whose event it handles."""

    lane: Lane
    record: Record
    """The event; it has no position yet."""
    after: int
    """The position in the log up to which the lane has had all records of this partition."""


@dataclass(slots=True)
class Queued:
    """Changesets that are applied together, as rows that lack only their numbers in the batch.

    It is one changeset, several gathered ones, or a chain: one and its consequences, in the order in which they follow.
    """

    changesets: list[Changeset]
    items: list[Row]
    lane: Lane
    headers: list[Mapping[str, str]] = field(default_factory=list)
    """The headers that the events of each changeset share."""
    waits: bool = True
    """Whether it waits while Postgres cannot be reached; else it fails."""
    spoken: list[tuple[Envelope[Event], bytes, Row, Mapping[str, str], int]] = field(default_factory=list)
    """Each event, its data, its row, its headers, and the place of its changeset's item among `items`."""
    claimed: list[Lease] = field(default_factory=list)
    starts: list[tuple[Row, int]] = field(default_factory=list)
    """Each lease's row, and the place of its changeset's item."""
    parks: list[Row] = field(default_factory=list)
    consequences: list[Consequence] = field(default_factory=list)

    @property
    def lanes(self) -> list[Lane]:
        """Every lane in which one of its changesets is handled."""
        return [self.lane, *(consequence.lane for consequence in self.consequences)]

    def record(self, n: int, position: int = 0) -> Record:
        """Return the nth event as a record; before its commit it has no position."""
        e, data, row, headers, _ = self.spoken[n]
        return Record(e.topic.name, row["part"], position, e.id, e.tenant, e.key, e.type, headers, data, e)

    def records(self, positions: dict[str, int]) -> list[Record]:
        """Return the published events as records at the positions that the log assigned."""
        return [self.record(n, positions[e.id]) for n, (e, *_) in enumerate(self.spoken) if e.id in positions]

    def of_first(self, records: Sequence[Record]) -> Sequence[Record]:
        """Return the records that the caller's own changeset published: of a chain those of its first."""
        return records[: sum(place == 0 for *_, place in self.spoken)] if self.consequences else records

    def cut(self) -> list[Lease]:
        """Leave only the first changeset of a chain; return the leases that were claimed for its consequences."""
        dropped = {row["id"] for row, place in self.starts if place}
        unborn = [lease for lease in self.claimed if lease.id in dropped]
        self.claimed = [lease for lease in self.claimed if lease.id not in dropped]
        self.starts = [(row, place) for row, place in self.starts if not place]
        self.spoken = [each for each in self.spoken if not each[-1]]
        del self.changesets[1:], self.items[1:], self.headers[1:], self.consequences[:]
        return unborn

    def says(self, id: str) -> bool:
        """Return whether it publishes this event."""
        return any(envelope.id == id for envelope, *_ in self.spoken)


def item(cause: Cause, state: str) -> Row:
    """Return the input as a row, without what is as usual."""
    row: Row = {"grp": cause.group, "tenant": cause.tenant, "key": cause.key}
    if cause.lease is None:
        row["id"] = cause.id
    else:
        # `bus.commit` makes its id of them.
        row |= {"lease": cause.lease.id, "token": cause.lease.token}
    if cause.topic is not None:
        row["topic"] = cause.topic
    if cause.urgent:
        row["urgent"] = True
    if cause.parked is not None:
        row["parked"] = cause.parked
    # Absent means the usual, which keeps the commit's document small.
    if state != "done":
        row["state"] = state
    return row


def envelope(cause: Cause, event: Event, *, now: datetime, traceparent: str | None) -> Envelope[Event]:
    """Wrap the event in an envelope. Its turn is its own where it names one, else its cause's."""
    return Envelope(
        id=ids.new(),
        source=f"suma/{cause.group}",
        time=now,
        tenant=cause.tenant,
        key=cause.key,
        data=event,
        session=cause.session,
        turn=getattr(event, "turn_id", None) or cause.turn,
        correlation=cause.correlation,
        causation=cause.causation,
        traceparent=traceparent or cause.traceparent,
    )


def travelling(events: Sequence[Event]) -> Sequence[Event]:
    """Return the events with the audit records of a changeset as one event, in the place of the first."""
    records = [event for event in events if isinstance(event, ActionRecorded)]
    if len(records) < 2:
        return events
    # Each event costs a row of the log, an inbox row and a span: of 25 events of a turn, ten were such records
    # (decision 0067).
    groups = [ActionsRecorded(records=tuple(some)) for some in _chunks(records)]
    others = [event for event in events if not isinstance(event, ActionRecorded)]
    place = next(n for n, event in enumerate(events) if isinstance(event, ActionRecorded))
    return [*others[:place], *groups, *others[place:]]


def _chunks(records: Sequence[ActionRecorded]) -> Iterator[Sequence[ActionRecorded]]:
    return (records[at : at + RECORDS_MOST] for at in range(0, len(records), RECORDS_MOST))


def shared(cause: Cause, *, now: datetime, traceparent: str | None) -> Mapping[str, str]:
    """Return the headers that all events of a changeset have; one with a turn of its own has another `turnid`."""
    return headers(
        source=f"suma/{cause.group}",
        time=now,
        session=cause.session,
        turn=cause.turn,
        correlation=cause.correlation,
        causation=cause.causation,
        traceparent=traceparent or cause.traceparent,
    )


def abridged(item: Row, headers: Mapping[str, str], first: Row | None) -> Row:
    """Return an item with its headers, without what `bus.commit` adds by itself: the source and the causation, and what
    it shares with the first item of its entry.
    """
    row = dict(item)
    usual: dict[str, Any] = {}
    if first is not None and "headers" in first and (first["tenant"], first["key"]) == (row["tenant"], row["key"]):
        del row["tenant"], row["key"]
        usual |= first["headers"]
    usual["source"] = f"suma/{row['grp']}"
    if "lease" not in row:
        usual["causationid"] = row["id"]
    # A null takes away what would be added.
    absent = dict.fromkeys(usual.keys() - headers.keys())
    return {**row, "headers": {name: value for name, value in headers.items() if usual.get(name) != value} | absent}


def spoken(
    envelope: Envelope[Event], shared: Mapping[str, str]
) -> tuple[Envelope[Event], bytes, Row, Mapping[str, str]]:
    """Return the event with its data, its row of the log without the headers that it shares with its changeset, and all
    of its headers.

    Raises:
        EventTooLarge: its data exceeds 256 KiB.
    """
    data = envelope.data.json_bytes()
    # Refused before the log: a logged event can no longer be refused, and every transport must be able to carry it.
    if len(data) > MAX_EVENT_BYTES:
        raise EventTooLarge(f"{envelope.type} is {len(data)} bytes; at most {MAX_EVENT_BYTES} are allowed")
    topic = envelope.topic
    row = {
        "id": envelope.id,
        "topic": topic.name,
        "part": topic.partition_of(envelope.key),
        "type": envelope.type,
        "data": orjson.Fragment(data),
    }
    headers = envelope.headers()
    own = {name: value for name, value in headers.items() if shared.get(name) != value}
    if own:
        row["headers"] = own
    return envelope, data, row, headers


def started(
    cause: Cause, start: NewLease, headers: Mapping[str, str], *, owner: str | None, with_event: bool
) -> tuple[Row, Lease | None]:
    """Return a lease as a row, and as a `Lease` where it is claimed at birth. `bus.settle` adds what its events inherit
    and, if it is started with the event that causes it, what it repeats of that.
    """
    row: Row = {"id": start.id, "kind": start.kind, "input": dict(start.input)}
    if start.repeats is not None and with_event:
        del row["input"][start.repeats]
        row["repeats"] = start.repeats
    row |= {"owner": owner, "ttl": TTL_SECONDS} if owner else {"delay": start.delay or 0.0}
    content = {**start.input, "_cause": Cause.inherited(headers)}
    # Token and attempts are those that `bus.settle` writes, so nothing is read back.
    lease = Lease(start.id, cause.group, start.kind, cause.tenant, cause.key, 1, 1, content) if owner else None
    return row, lease


def parked(cause: Cause, parking: Parking) -> Row:
    record = parking.record
    return {
        "grp": cause.group,
        "topic": record.topic,
        "key": record.key,
        "event_id": record.event_id,
        "tenant": record.tenant,
        "type": record.type,
        "headers": dict(record.headers),
        "data": orjson.Fragment(record.data),
        "attempts": parking.attempts,
        "delay": parking.delay,
        "state": parking.state,
        "error": parking.error[:2000],
    }


def document(entries: Sequence[Queued]) -> str:
    """Return the batch as `bus.commit` reads it. `n` numbers entries, `c` items, `i` changes."""
    batch: dict[str, Any] = {"items": []}
    changes: dict[str, dict[str, list[Row]]] = {}
    counts: Counter[str] = Counter()
    i = 0
    for n, entry in enumerate(entries):
        first = len(batch["items"])
        batch["items"].extend({"n": n, **item} for item in entry.items)
        for changeset in entry.changesets:
            tenant = changeset.cause.tenant
            for change in changeset.changes:
                # The tenant comes after the row: no handler can write for another tenant than its input's.
                row = {**change.row, "tenant_id": tenant, "n": n, "i": i}
                changes.setdefault(change.schema, {}).setdefault(change.kind, []).append(row)
                counts[change.schema] += 1
                i += 1
            # Absent parts are left out: `bus.commit` runs no statement for them.
            for name, wanted in (("ends", changeset.ends), ("cancels", changeset.cancels)):
                if wanted:
                    batch.setdefault(name, []).extend(
                        {"n": n, "id": id, "grp": changeset.cause.group, "tenant": tenant} for id in wanted
                    )
            for action in changeset.dead_letter_actions:
                row = {"n": n, "verb": action.verb, "grp": action.group, "id": action.event_id, "tenant": tenant}
                batch.setdefault("asides", []).append(row)
        if entry.spoken:
            batch.setdefault("events", []).extend({**row, "c": first + place} for _, _, row, _, place in entry.spoken)
        if entry.starts:
            batch.setdefault("starts", []).extend({**row, "c": first + place} for row, place in entry.starts)
        for place, consequence in enumerate(entry.consequences, 1):
            batch["items"][first + place]["after"] = consequence.after
        if entry.parks:
            batch.setdefault("parks", []).extend({**row, "n": n} for row in entry.parks)
    if changes:
        batch |= {"changes": changes, "counts": counts}
    # Row-level security admits exactly these tenants in the transaction (bus.md 10).
    batch["tenants"] = tenant_set(
        sorted({changeset.cause.tenant for entry in entries for changeset in entry.changesets})
    )
    return orjson.dumps(batch).decode()
