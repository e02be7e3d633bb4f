"""Local delivery: handle a record of this process's own writer at once, before Kafka delivers its copy.

A record from Kafka names its position in the log, and the position up to which its sender knew that everything was
already in Kafka. From both, a cursor knows up to which log position it has observed everything. Log positions have no
gaps (bus.md 9, 13), so exactly the next one may be delivered locally. Its copy is observed later, when Kafka delivers
it or the relay reports its offset; that offset is done when the record is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from libs.bus.ports import Logged, Record

EARLY_MOST, EARLY_MOST_BYTES = 256, 1 << 20
"""Records and bytes of one partition kept until their predecessors are observed; the rest is left to the transport."""
PENDING_MOST = 512
"""Most locally delivered records of one partition whose copies are pending; local delivery pauses at this bound."""
BEYOND_MOST = 1024


@dataclass(slots=True)
class PendingCopy:
    """A locally delivered record and the offsets of its copies; a relay that repeats a send makes several."""

    record: Record | None
    """None once it is done."""
    copies: list[int] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.record is None


class LocalDelivery:
    """Local delivery for one group in one partition. Everything up to `known` was observed here or done before."""

    def __init__(self) -> None:
        self.known: int | None = None
        self._beyond: set[int] = set()
        self._early: dict[int, Record] = {}
        self._early_bytes = 0
        self._pending: dict[str, PendingCopy] = {}

    def offer(self, record: Record) -> None:
        """Accept a record that this process's writer has published."""
        # Until the transport shows a position, nothing tells what precedes this record: leave it to the transport.
        if self.known is None or record.position <= self.known:
            return
        if len(self._early) < EARLY_MOST and self._early_bytes < EARLY_MOST_BYTES:
            self._early[record.position] = record
            self._early_bytes += len(record.data)

    def has(self, position: int) -> bool:
        """Return whether the record at this log position was observed or taken."""
        return self.known is not None and position <= self.known

    def next(self) -> Record | None:
        """Take the next record if it is here; its copy is pending from now on."""
        # Only the direct successor of what was observed keeps the log's order; a gap may hold an earlier event of its
        # key.
        if self.known is None or len(self._pending) >= PENDING_MOST or self.known + 1 not in self._early:
            return None
        record = self._early.pop(self.known + 1)
        self._early_bytes -= len(record.data)
        self._pending[record.event_id] = PendingCopy(record)
        self._reach(record.position)
        return record

    def observe(self, event_id: str, position: int, logged: Logged | None) -> PendingCopy | None:
        """Record that the transport has this event at `position`; return the pending copy that it matches, if any."""
        pending = self._pending.get(event_id)
        if logged is not None:
            self._note(*logged, again=pending is None)
        if pending is not None:
            pending.copies.append(position)
            # Its record finished before this copy arrived, and no further copy is expected.
            if pending.done:
                del self._pending[event_id]
        return pending

    def done(self, record: Record) -> list[int] | None:
        """Return the offsets of the record's copies if it was delivered locally, else None."""
        pending = self._pending.get(record.event_id)
        if pending is None or pending.record is not record:
            return None
        pending.record = None
        # Without a copy the entry stays: the copy is still to come, and would be handled again.
        if pending.copies:
            del self._pending[record.event_id]
        return pending.copies

    def _note(self, position: int, safe: int, *, again: bool) -> None:
        if self.known is None or safe > self.known:
            self._reach(safe)
        assert self.known is not None
        if position > self.known + 1:
            # The relay interleaves tenants: other records of this partition are still on their way.
            if len(self._beyond) < BEYOND_MOST:
                self._beyond.add(position)
        elif position == self.known + 1:
            self._reach(position)
        elif again:
            # The relay repeated a send, or the log was restored from a backup: restart from this position.
            self._forget()
            self.known = position

    def _forget(self) -> None:
        self._beyond.clear()
        self._early.clear()
        self._early_bytes = 0

    def _reach(self, position: int) -> None:
        """Mark everything up to `position` as observed."""
        while position + 1 in self._beyond:
            position += 1
        self.known = position
        if self._beyond:
            self._beyond = {each for each in self._beyond if each > position}
        # The transport was faster with these: taking them now would handle them twice.
        if self._early:
            for passed in [each for each in self._early if each <= position]:
                self._early_bytes -= len(self._early.pop(passed).data)
