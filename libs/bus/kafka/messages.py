"""Events as Kafka messages: CloudEvents 1.0.2 binary mode, attributes in `ce_*` headers (architecture.md 6).

Anything with write access to the broker may write anything. A message that names a tenant and an id is kept, and its
flaw makes it a dead letter when it is handled; one that names neither is skipped and counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import orjson
from cloudevents.core.bindings import kafka
from cloudevents.core.exceptions import CloudEventValidationError
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from typing_extensions import override

from libs.bus.ports import Logged, Record
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
"""Envelope attributes that travel as headers of a record."""
NAME_MOST = 255
"""Most characters of an id, a tenant or a type."""
VALUE_MOST = 1024
"""Most characters of a key or any other attribute."""
OURS = {f"ce_{name}": name for name in (*ATTRIBUTES, "id", "type", "tenantid", "partitionkey", "specversion")} | {
    "content-type": "datacontenttype",
    "suma-log": "log",
}
"""Our headers. `suma-log` belongs to the transport, not to the event: its log position, and the position up to which
its whole partition was on Kafka before it.
"""
NEEDED = frozenset(("id", "type", "source", "tenantid", "specversion"))
NULL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""A null character as JSON spells it; Postgres cannot store one."""
NOBODY = "suma"
"""The source of an event without one; CloudEvents requires it."""
FLAW_MOST = 300
EXCERPT = 4096
"""Most characters kept of data that is no JSON."""


class Message(Protocol):
    """A message as the Kafka client delivers it."""

    @property
    def offset(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]: ...


class _Untouched(JSONFormat):
    """The data stays bytes; it is parsed when a subscription matches its type."""

    @override
    def read_data(self, body: bytes, datacontenttype: str | None) -> bytes:
        return body


JSON = _Untouched()


def written(record: Record, safe: int) -> tuple[bytes, bytes, list[tuple[str, bytes]]]:
    """Return the key, value and headers of an event. A test compares them with the CloudEvents library's."""
    attributes = {
        "specversion": "1.0",
        "id": record.event_id,
        "source": NOBODY,
        "type": record.type,
        "tenantid": record.tenant,
        "partitionkey": record.key,
        **record.headers,
    }
    headers = [(f"ce_{name}", value.encode()) for name, value in attributes.items()]
    transport = [("content-type", b"application/json"), ("suma-log", b"%d %d" % (record.position, safe))]
    return record.key.encode(), record.data, headers + transport


def read(message: Message, topic: str, part: int) -> Record:
    """Return the message as a record. Without an id and a tenant its type is empty, which nothing subscribes to."""
    known = _as_ours(message)
    attributes, flaw = (known, None) if known is not None else _as_anyones(message)
    id, tenant, logged = attributes.get("id", ""), attributes.get("tenantid", ""), _logged(attributes.get("log", ""))
    if not (id and tenant):
        return Record(topic, part, message.offset, "", "", "", "", {}, b"null", flaw="it names no id or no tenant")
    data, no_json = _json(message.value)
    flaw = flaw or no_json
    # A flawed message gets a key of its own, so that it cannot block another tenant's key.
    key = f"{tenant}:{id}" if flaw else attributes["partitionkey"]
    headers = {} if flaw else {name: value for name, value in attributes.items() if name in ATTRIBUTES}
    type = attributes.get("type", "")
    return Record(topic, part, message.offset, id, tenant, key, type, headers, data, flaw=flaw, logged=logged)


def _logged(text: str) -> Logged | None:
    position, _, safe = text.partition(" ")
    if not (position.isdecimal() and safe.isdecimal() and int(safe) < int(position)):
        return None
    return Logged(int(position), int(safe))


def _as_ours(message: Message) -> dict[str, str] | None:
    """Return the attributes of a message in our own form; None when the CloudEvents library must parse it, which takes
    five times as long.
    """
    if message.key is None:
        return None
    try:
        attributes = {OURS[name]: (value or b"").decode() for name, value in message.headers}
        attributes["partitionkey"] = key = message.key.decode()
        time = datetime.fromisoformat(attributes["time"])
    except (KeyError, ValueError):
        return None
    attributes["time"] = time.isoformat()
    lengths = [len(value) for value in attributes.values()]
    fits = min(lengths) > 0 and max(lengths) <= NAME_MOST and time.tzinfo is not None
    whole = attributes.keys() >= NEEDED and attributes["specversion"] == "1.0"
    if not (fits and whole and key.startswith(f"{attributes['tenantid']}:")) or "\0" in "".join(attributes.values()):
        return None
    return attributes


def _as_anyones(message: Message) -> tuple[dict[str, str], str | None]:
    """Return a message's attributes and why it cannot be handled or kept; then only id, tenant and type remain."""
    headers = {name.lower(): value for name, value in message.headers if value is not None}
    names = {name: _name(headers.get(f"ce_{name}")) for name in ("id", "tenantid", "type")}
    try:
        event = kafka.from_binary(kafka.KafkaMessage(headers, message.key, message.value or b""), JSON, CloudEvent)
        attributes = {name: _text(value) for name, value in event.get_attributes().items()}
    except (CloudEventValidationError, ValueError, OverflowError) as error:
        return names, f"it is no CloudEvent: {error}"[:FLAW_MOST]
    flaw = _flaw(attributes, names["tenantid"])
    return (names, flaw) if flaw else ({**attributes, **names}, None)


def _name(value: bytes | None) -> str:
    """Return a short text; empty when it is not one."""
    if value is None or len(value) > NAME_MOST or b"\0" in value:
        return ""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return ""


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _flaw(attributes: dict[str, str], tenant: str) -> str | None:
    """Return why these attributes cannot be handled or kept, or None."""
    if any(len(value) > VALUE_MOST for value in attributes.values()):
        return "an attribute is too long"
    if any("\0" in value for value in attributes.values()):
        return "an attribute holds a null character"
    if not attributes.get("partitionkey", "").startswith(f"{tenant}:"):
        return "its partition key is not its tenant's"
    return None


def _json(value: bytes | None) -> tuple[bytes, str | None]:
    """Return the data as JSON that Postgres can store, and what was wrong with it."""
    if value is None:
        return b"null", "it has no data"
    if len(value) > MAX_EVENT_BYTES:
        return _excerpt(value), f"its data is {len(value)} bytes; at most {MAX_EVENT_BYTES} are allowed"
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError as error:
        return _excerpt(value), f"its data is no JSON: {error}"
    if b"\\u0000" in value and NULL.search(value):
        return _excerpt(NULL.sub(b"", value)), "its data holds a null character"
    return value, None


def _excerpt(value: bytes) -> bytes:
    return orjson.dumps(value[:EXCERPT].decode(errors="replace").replace("\0", ""))
