"""The one handler: the record's leaf. A turn has several of these, so it loads nothing and waits for nothing."""

from __future__ import annotations

from libs.audit.chain import Record, leaf, record_of
from libs.changes import Cause, Changeset
from libs.events import ActionRecorded
from libs.events.envelope import Envelope


async def recorded(cause: Cause, event: Envelope[ActionRecorded]) -> Changeset:
    """Position and link follow in `audit.apply`, under the tenant's head. Chained once: the inbox sees to it."""
    record = described(event)
    return Changeset(cause).change("audit", "chain", record=record, leaf=leaf(record).hex())


def described(event: Envelope[ActionRecorded]) -> Record:
    """All that is chained: what libs.audit takes of an event, its type, and the turn that it belongs to."""
    turn = {"turn": event.turn} if event.turn is not None else {}
    return {**record_of(event), "type": event.type, **turn}
