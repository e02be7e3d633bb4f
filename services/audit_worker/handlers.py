"""The handlers of audit events. They load nothing and wait for nothing.

A change names the event by its place in the log; `audit.apply` makes the record from there. Where the log may not have
it, the change carries the record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from libs.audit import Record
from libs.audit.chain import leaf, record_of
from libs.changes import Cause, Changeset
from libs.events import ActionRecorded, ActionsRecorded, Envelope
from libs.keys import canonical
from services.audit_worker.rows import Chained, ChainedTogether, ChainLogged

DEFAULTS = ActionRecorded(action="", phase="", verdict="", principal="").model_dump(mode="json")
FORM = hashlib.sha256(canonical(DEFAULTS)).hexdigest()[:8]
"""The fields of an action and their defaults, as `audit.apply` must know them to make the same record."""


async def chain_action(cause: Cause, event: Envelope[ActionRecorded]) -> Changeset:
    """Chain a record. `audit.apply` assigns position and link under the tenant's head; the inbox prevents a second
    record.
    """
    record = chain_record(event)
    if (reference := cause.reference()) is not None:
        # The leaf is of the record as it was read here, so the log's copy cannot change what is chained unseen.
        return Changeset(cause).put(ChainLogged(**reference, form=FORM, leaves=[leaf(record).hex()]))
    return Changeset(cause).put(Chained(record=record, leaf=leaf(record).hex()))


async def chain_actions(cause: Cause, event: Envelope[ActionsRecorded]) -> Changeset:
    """Chain each record of a changeset, in order. A copy states once what they share."""
    records = [chain_record(one) for one in apart(event)]
    if not records:
        return Changeset(cause)
    if (reference := cause.reference()) is not None:
        leaves = [leaf(record).hex() for record in records]
        return Changeset(cause).put(ChainLogged(**reference, form=FORM, leaves=leaves))
    first, *others = records
    origin = {name: value for name, value in first.items() if all(record.get(name) == value for record in others)}
    entries = [{name: value for name, value in record.items() if name not in origin} for record in records]
    for entry, record in zip(entries, records, strict=True):
        # Of the whole record, not only of what is sent of it.
        entry["leaf"] = leaf(record).hex()
    return Changeset(cause).put(ChainedTogether(origin=origin, entries=entries))


def apart(event: Envelope[ActionsRecorded]) -> Iterator[Envelope[ActionRecorded]]:
    """Yield the records as if each had travelled alone, with the ids `EVENT.0`, `EVENT.1` and so on."""
    whole: Envelope[Any] = event
    for n, record in enumerate(event.data.records):
        yield replace(whole, id=f"{event.id}.{n}", data=record, turn=record.turn_id or event.turn)


def chain_record(event: Envelope[ActionRecorded]) -> Record:
    """Return the record to chain: the members from libs.audit, the event's type and its turn."""
    turn = {"turn": event.turn} if event.turn is not None else {}
    return {**record_of(event), "type": event.type, **turn}
