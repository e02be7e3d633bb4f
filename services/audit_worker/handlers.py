"""The handler of audit events. A turn emits several, so it loads nothing and waits for nothing."""

from __future__ import annotations

from libs.audit.chain import Record, leaf, record_of
from libs.changes import Cause, Changeset
from libs.events import ActionRecorded
from libs.events.envelope import Envelope


async def chain_action(cause: Cause, event: Envelope[ActionRecorded]) -> Changeset:
    """Chain a record. `audit.apply` assigns position and link under the tenant's head; the inbox prevents a second
    record.
    """
    record = chain_record(event)
    return Changeset(cause).change("audit", "chain", record=record, leaf=leaf(record).hex())


def chain_record(event: Envelope[ActionRecorded]) -> Record:
    """Return the record to chain: the members from libs.audit, the event's type and its turn."""
    turn = {"turn": event.turn} if event.turn is not None else {}
    return {**record_of(event), "type": event.type, **turn}
