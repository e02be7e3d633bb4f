"""The chain: the members of a record, and links that cover a record and all earlier ones."""

import hashlib

import pytest

from libs.audit.chain import genesis, leaf, link, record_of
from tests.libs.audit.exports import event


@pytest.mark.requirement("A36")
def test_the_formulas_are_the_documented_ones() -> None:
    record = {"b": 1, "a": "x"}
    assert genesis("acme") == hashlib.sha256(b"suma.audit.v1:acme").digest()
    assert leaf(record) == hashlib.sha256(b'{"a":"x","b":1}').digest()
    assert link(genesis("acme"), leaf(record)) == hashlib.sha256(genesis("acme") + leaf(record)).digest()


def test_each_tenant_begins_elsewhere() -> None:
    assert genesis("acme") != genesis("other")


@pytest.mark.requirement("S0-07", "S3-34")
def test_record_has_actor_action_resource_and_time() -> None:
    record = record_of(event(1))
    told = {name: record[name] for name in ("id", "tenant", "session", "time")}
    assert told == {"id": "event-1", "tenant": "acme", "session": "s-1", "time": "2026-01-01T00:00:00+00:00"}
    assert (record["data"]["action"], record["data"]["principal"]) == ("tool.execute", "ada")


def test_absent_fields_are_left_out_of_the_record() -> None:
    record = record_of(event(1))
    assert None not in [*record.values(), *record["data"].values()]
