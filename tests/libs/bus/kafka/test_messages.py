"""Events as Kafka messages: ours are unchanged after a round trip, and foreign ones never crash the process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.bus.kafka import messages
from libs.bus.ports import Record
from libs.events import RememberRequested
from libs.events.envelope import MAX_EVENT_BYTES, Envelope, Malformed

EVENT = RememberRequested(memory_id="m", kind="fact", text="füße", user="u")
ENVELOPE = Envelope(
    id="e1",
    source="suma/gateway",
    time=datetime(2026, 1, 2, 3, 4, 5, 678901, UTC),
    tenant="t1",
    key="t1:s1",
    data=EVENT,
    session="s1",
    turn="u1",
    correlation="c",
    causation="d",
    idempotency="i",
    traceparent="00-1-2-03",
)
RECORD = Record(
    EVENT.topic.name, 3, 7, "e1", "t1", "t1:s1", EVENT.type, ENVELOPE.headers(), EVENT.model_dump_json().encode()
)


@dataclass
class Put:
    """A foreign message on a topic."""

    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]
    offset: int = 7

    def read(self) -> Record:
        return messages.read(self, EVENT.topic.name, 3)


def put(**changes: bytes | None) -> Put:
    """Return one of our messages with changed headers (None removes one), key or value."""
    key, value, headers = messages.written(RECORD, 5)
    changed = {**dict(headers), **{name: text for name, text in changes.items() if name not in ("key", "value")}}
    kept = [(name, text) for name, text in changed.items() if text is not None]
    return Put(changes.get("key", key), changes.get("value", value), kept)


def test_attributes_are_headers_and_the_data_is_json() -> None:
    key, value, headers = messages.written(RECORD, 5)
    assert (key, orjson.loads(value)) == (b"t1:s1", orjson.loads(RECORD.data))
    assert dict(headers) == {
        "ce_specversion": b"1.0",
        "ce_id": b"e1",
        "ce_type": EVENT.type.encode(),
        "ce_source": b"suma/gateway",
        "ce_time": b"2026-01-02T03:04:05.678901+00:00",
        "ce_tenantid": b"t1",
        "ce_sessionid": b"s1",
        "ce_turnid": b"u1",
        "ce_partitionkey": b"t1:s1",
        "ce_correlationid": b"c",
        "ce_causationid": b"d",
        "ce_idempotencykey": b"i",
        "ce_traceparent": b"00-1-2-03",
        "content-type": b"application/json",
        "suma-log": b"7 5",
    }


def test_written_message_is_read_back_unchanged() -> None:
    assert put().read() == RECORD
    assert put().read().envelope() == ENVELOPE


@pytest.mark.requirement("A14a")
@pytest.mark.parametrize(
    "changes",
    [
        {"ce_source": None},
        {"ce_type": None},
        {"ce_specversion": b"9.9"},
        {"ce_time": b"yesterday"},
        {"ce_time": b"2026-01-02T03:04:05"},
        {"ce_subject": b"\xff"},
        {"ce_subject": b"a\0b"},
        {"ce_subject": b"x" * 5000},
        {"key": b"t2:s1"},
        {"key": None, "ce_partitionkey": None},
        {"key": b"\xff\xfe"},
        {"value": None},
        {"value": b"no json"},
        {"value": b"\xff"},
        {"value": b'{"text": "\\u0000"}'},
        {"value": b'{"text": "\\ud800"}'},
        {"value": b"[" * 100_000},
        {"value": orjson.dumps("x" * MAX_EVENT_BYTES)},
        {"value": b'{"memory_id": 1}'},
    ],
    ids=str,
)
def test_flawed_message_with_id_and_tenant_fails_when_handled(
    changes: dict[str, bytes | None],
) -> None:
    record = put(**changes).read()
    assert (record.event_id, record.tenant, record.position) == ("e1", "t1", 7)
    with pytest.raises(Malformed):
        record.envelope()
    assert record.key.startswith("t1:")
    assert len(record.data) <= MAX_EVENT_BYTES


@pytest.mark.requirement("A14a")
@pytest.mark.parametrize(
    "missing", [{"ce_id": None}, {"ce_tenantid": b""}, {"ce_id": b"\0"}, {"ce_id": b"x" * 999}], ids=str
)
def test_message_without_id_or_tenant_matches_no_subscription(
    missing: dict[str, bytes | None],
) -> None:
    record = put(**missing).read()
    assert (record.event_id, record.tenant, record.type, record.position) == ("", "", "", 7)


def test_slow_and_fast_parsing_give_the_same_record() -> None:
    """An unknown header disables the fast path."""
    assert put(other=b"y").read() == put().read()


def test_text_that_only_speaks_of_a_null_character_is_text() -> None:
    spoken = EVENT.model_copy(update={"text": "\\u0000 and \\\\u0000"})
    record = put(value=spoken.model_dump_json().encode()).read()
    assert record.envelope().data == spoken


def test_a_message_without_a_time_has_that_of_its_reading() -> None:
    assert put(ce_time=None).read().envelope().time > ENVELOPE.time


def test_attributes_that_we_do_not_know_are_left_out() -> None:
    assert put(ce_whatever=b"x", other=b"y").read() == RECORD


def test_relay_sends_log_events_that_lack_cloudevents_attributes() -> None:
    key, value, headers = messages.written(replace(RECORD, headers={}), 5)
    assert Put(key, value, headers).read().event_id == RECORD.event_id


names = st.sampled_from(
    ["ce_id", "ce_tenantid", "ce_type", "ce_source", "ce_time", "ce_specversion", "ce_x", "content-type"]
)
texts = st.binary(max_size=40) | st.just(b"t1") | st.just(b"1.0") | st.just(b"2026-01-01T00:00:00Z") | st.none()


@given(st.binary(max_size=20) | st.none(), st.binary(max_size=80) | st.none(), st.lists(st.tuples(names, texts)))
def test_any_message_parses_to_a_record_that_postgres_accepts(
    key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]]
) -> None:
    record = Put(key, value, headers).read()
    kept = [record.event_id, record.tenant, record.key, record.type, *record.headers.values()]
    assert not any("\0" in text for text in kept)
    assert "\0" not in str(record.raw())
