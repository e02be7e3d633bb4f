"""Events as Kafka messages: CloudEvents 1.0.2 in binary mode, the attributes in `ce_*` headers, the data as JSON
(DESIGN §5).

Whoever may write to the broker may write anything. A message that names a tenant and an id is kept, and its flaw makes
it a dead letter when it is handled; one that names neither is passed over, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

import orjson
from cloudevents.core.bindings import kafka
from cloudevents.core.exceptions import CloudEventValidationError
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from typing_extensions import override

from libs.bus.ports import Record
from libs.events.envelope import MAX_EVENT_BYTES

ATTRIBUTES = frozenset(
    (
        "source",
        "time",
        "subject",
        "sessionid",
        "turnid",
        "correlationid",
        "causationid",
        "idempotencykey",
        "traceparent",
    )
)
"""Those of our envelope that travel as headers of a record."""
NAME_MOST = 255
"""Characters of an id, a tenant or a type."""
VALUE_MOST = 1024
"""Characters of a key or any other attribute."""
NOBODY = "suma"
"""The source of an event that names none: CloudEvents wants one."""
FLAW_MOST = 300
EXCERPT = 4096
"""What is kept of data that is no JSON."""


class Message(Protocol):
    """A message as the client gives it to us."""

    @property
    def offset(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]: ...


class _Untouched(JSONFormat):
    """The data stays bytes: it is parsed when someone listens to its type."""

    @override
    def read_data(self, body: bytes, datacontenttype: str | None) -> bytes:
        return body


JSON = _Untouched()


def written(record: Record) -> tuple[bytes, bytes, list[tuple[str, bytes]]]:
    """The key, value and headers of an event of ours."""
    attributes: dict[str, object] = {
        **record.headers,
        "id": record.event_id,
        "type": record.type,
        "source": record.headers.get("source", NOBODY),
        "tenantid": record.tenant,
        "partitionkey": record.key,
        "datacontenttype": "application/json",
    }
    if "time" in attributes:
        attributes["time"] = datetime.fromisoformat(record.headers["time"])
    message = kafka.to_binary(CloudEvent(attributes, record.data), JSON)
    return record.key.encode(), message.value, list(message.headers.items())


def read(message: Message, topic: str, part: int) -> Record:
    """The message as a record. One without an id and a tenant is a record of no type, to which nobody listens."""
    headers = {name.lower(): value for name, value in message.headers if value is not None}
    id, tenant = _name(headers.get("ce_id")), _name(headers.get("ce_tenantid"))
    if not (id and tenant):
        return Record(topic, part, message.offset, "", "", "", "", {}, b"null", flaw="it names no id or no tenant")
    try:
        event = kafka.from_binary(kafka.KafkaMessage(headers, message.key, message.value or b""), JSON, CloudEvent)
        attributes = {name: _text(value) for name, value in event.get_attributes().items()}
        flaw = _flaw(attributes, tenant)
    except (CloudEventValidationError, ValueError, OverflowError) as error:
        attributes, flaw = {}, f"it is no CloudEvent: {error}"[:FLAW_MOST]
    data, no_json = _json(message.value)
    record = Record(
        topic,
        part,
        message.offset,
        id,
        tenant,
        attributes.get("partitionkey", ""),
        _name(headers.get("ce_type")),
        {name: value for name, value in attributes.items() if name in ATTRIBUTES},
        data,
    )
    flaw = flaw or no_json
    # A key that is not of its tenant could hold up another's.
    return replace(record, key=f"{tenant}:{id}", headers={}, flaw=flaw) if flaw else record


def _name(value: bytes | None) -> str:
    """A short text; empty when it is none."""
    if value is None or len(value) > NAME_MOST or b"\0" in value:
        return ""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return ""


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _flaw(attributes: dict[str, str], tenant: str) -> str | None:
    """What makes these attributes unfit to be handled or kept."""
    if any(len(value) > VALUE_MOST for value in attributes.values()):
        return "an attribute is too long"
    if any("\0" in value for value in attributes.values()):
        return "an attribute holds a null character"
    if not attributes.get("partitionkey", "").startswith(f"{tenant}:"):
        return "its partition key is not its tenant's"
    return None


def _json(value: bytes | None) -> tuple[bytes, str | None]:
    """The data as JSON that Postgres can keep, and what was wrong with it."""
    if value is None:
        return b"null", "it has no data"
    if len(value) > MAX_EVENT_BYTES:
        return _excerpt(value), f"its data is {len(value)} bytes; at most {MAX_EVENT_BYTES} are allowed"
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError as error:
        return _excerpt(value), f"its data is no JSON: {error}"
    # Postgres takes no null character, however it is spelled.
    if b"\\u0000" in value:
        return _excerpt(value.replace(b"\\u0000", b"")), "its data holds a null character"
    return value, None


def _excerpt(value: bytes) -> bytes:
    return orjson.dumps(value[:EXCERPT].decode(errors="replace").replace("\0", ""))
