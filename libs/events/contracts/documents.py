"""Structured mode: an event as one JSON document, CloudEvents attributes and data side by side (CloudEvents 1.0.2, JSON
format). Examples and exports use it; on a bus the attributes travel as columns or headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from libs.events.base import Event
from libs.events.envelope import Envelope, Malformed, parse

Document = dict[str, Any]
SPECVERSION = "1.0"
MEDIA_TYPE = "application/json"


def document(envelope: Envelope[Event]) -> Document:
    """Return the event with all its fields; absent attributes are left out."""
    return {
        "specversion": SPECVERSION,
        "id": envelope.id,
        "type": envelope.type,
        "datacontenttype": MEDIA_TYPE,
        "tenantid": envelope.tenant,
        "partitionkey": envelope.key,
        **envelope.headers(),
        "data": envelope.data.model_dump(mode="json", by_alias=True),
    }


def read(written: Mapping[str, Any]) -> Envelope[Event]:
    """Return the event of a document. Unknown attributes and fields are ignored.

    Raises:
        Malformed: an attribute is missing, the type is unknown, or the data does not match it.
    """
    known = ("id", "type", "tenantid", "partitionkey", "source", "time", "data")
    if missing := [name for name in known if name not in written]:
        raise Malformed(f"the document lacks {', '.join(missing)}")
    return parse(
        id=written["id"],
        type=written["type"],
        tenant=written["tenantid"],
        key=written["partitionkey"],
        headers={name: value for name, value in written.items() if isinstance(value, str)},
        data=written["data"],
    )
