"""Handoff: what our own writer has published may be handled at once, where another transport will bring it as well.

A record that Kafka brings names its position in the log, and up to where its sender knew everything before it to be
there already. From both, a tail knows up to which position of the log it has met everything; the very next one may come
from the hand, since in the log positions have no gaps (bus.md 9, 13). Its copy is met later, when the transport brings
it or says where it stands: it is done when the record is, and so is the offset that it stands at.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from libs.bus.ports import Logged, Record

EARLY_MOST, EARLY_MOST_BYTES = 256, 1 << 20
"""What is kept of one partition until what comes before it has been met; beyond it, it is left to the transport."""
OWED_MOST = 512
"""Records of one partition whose copies are still to come: while the transport is away, the hand stops as well."""
BEYOND_MOST = 1024


@dataclass(slots=True)
class Owed:
    """A record from the hand, and where its copies stand: more than one, when a relay has repeated itself."""

    record: Record | None
    """Until it is done."""
    copies: list[int] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.record is None


class Handoff:
    """Of one group in one partition. `known`: all of the log up to there was met here, or done before we began."""

    def __init__(self) -> None:
        self.known: int | None = None
        self._beyond: set[int] = set()
        self._early: dict[int, Record] = {}
        self._early_bytes = 0
        self._owed: dict[str, Owed] = {}

    def offer(self, record: Record) -> None:
        """Our writer has published this, at this position of the log."""
        if self.known is None or record.position <= self.known:
            return
        if len(self._early) < EARLY_MOST and self._early_bytes < EARLY_MOST_BYTES:
            self._early[record.position] = record
            self._early_bytes += len(record.data)

    def has(self, position: int) -> bool:
        """Was it met, or taken?"""
        return self.known is not None and position <= self.known

    def next(self) -> Record | None:
        """The very next one, when we have it; from now on its copy is owed."""
        if self.known is None or len(self._owed) >= OWED_MOST or self.known + 1 not in self._early:
            return None
        record = self._early.pop(self.known + 1)
        self._early_bytes -= len(record.data)
        self._owed[record.event_id] = Owed(record)
        self._reach(record.position)
        return record

    def met(self, event_id: str, position: int, logged: Logged | None) -> Owed | None:
        """The transport has this at that position; what it is a copy of, if it is one."""
        owed = self._owed.get(event_id)
        if logged is not None:
            self._note(*logged, again=owed is None)
        if owed is not None:
            owed.copies.append(position)
            if owed.done:
                del self._owed[event_id]
        return owed

    def done(self, record: Record) -> list[int] | None:
        """The copies' positions, when this one came from the hand."""
        owed = self._owed.get(record.event_id)
        if owed is None or owed.record is not record:
            return None
        owed.record = None
        if owed.copies:
            del self._owed[record.event_id]
        return owed.copies

    def _note(self, position: int, safe: int, *, again: bool) -> None:
        if self.known is None or safe > self.known:
            self._reach(safe)
        assert self.known is not None
        if position > self.known + 1:
            # A relay lets tenants take turns: others of this partition are still to come.
            if len(self._beyond) < BEYOND_MOST:
                self._beyond.add(position)
        elif position == self.known + 1:
            self._reach(position)
        elif again:
            # A relay repeats itself, or the log has been set back: then we begin to know anew from here.
            self._forget()
            self.known = position

    def _forget(self) -> None:
        self._beyond.clear()
        self._early.clear()
        self._early_bytes = 0

    def _reach(self, position: int) -> None:
        """All up to there is met."""
        while position + 1 in self._beyond:
            position += 1
        self.known = position
        if self._beyond:
            self._beyond = {each for each in self._beyond if each > position}
        if self._early:
            for passed in [each for each in self._early if each <= position]:
                self._early_bytes -= len(self._early.pop(passed).data)
