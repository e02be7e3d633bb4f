"""Events as Kafka messages: CloudEvents 1.0.2 in binary mode, the attributes in `ce_*` headers, the data as JSON
(DESIGN §5).

Whoever may write to the broker may write anything. A message that names a tenant and an id is kept, and its flaw makes
it a dead letter when it is handled; one that names neither is passed over, and counted.
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
"""Those of our envelope that travel as headers of a record."""
NAME_MOST = 255
"""Characters of an id, a tenant or a type."""
VALUE_MOST = 1024
"""Characters of a key or any other attribute."""
OURS = {f"ce_{name}": name for name in (*ATTRIBUTES, "id", "type", "tenantid", "partitionkey", "specversion")} | {
    "content-type": "datacontenttype",
    "suma-log": "log",
}
"""The headers of ours. `suma-log` is of the transport and no attribute of the event: its position in the log, and up to
where all of its partition was on Kafka before it."""
NEEDED = frozenset(("id", "type", "source", "tenantid", "specversion"))
NULL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""A null character, as JSON spells it: Postgres keeps none."""
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


def written(record: Record, safe: int) -> tuple[bytes, bytes, list[tuple[str, bytes]]]:
    """The key, value and headers of an event of ours. What CloudEvents' library makes of them is what we meant: a test
    holds both together."""
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
    """The message as a record. One without an id and a tenant is a record of no type, to which nobody listens."""
    known = _as_ours(message)
    attributes, flaw = (known, None) if known is not None else _as_anyones(message)
    id, tenant, logged = attributes.get("id", ""), attributes.get("tenantid", ""), _logged(attributes.get("log", ""))
    if not (id and tenant):
        return Record(topic, part, message.offset, "", "", "", "", {}, b"null", flaw="it names no id or no tenant")
    data, no_json = _json(message.value)
    flaw = flaw or no_json
    # What is flawed has a key of its own: another's could hold up another tenant.
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
    """The attributes of a message that has the form of ours; None where CloudEvents' library must look at it, which
    takes five times as long."""
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
    """The attributes of any message, and what makes them unfit to be handled or kept; then only id, tenant and type are
    left of them."""
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
    if b"\\u0000" in value and NULL.search(value):
        return _excerpt(NULL.sub(b"", value)), "its data holds a null character"
    return value, None


def _excerpt(value: bytes) -> bytes:
    return orjson.dumps(value[:EXCERPT].decode(errors="replace").replace("\0", ""))
