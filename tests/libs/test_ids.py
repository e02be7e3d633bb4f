"""Ids: new ones carry their time, others do not."""

from __future__ import annotations

import time
import uuid

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from libs import ids


def test_a_new_id_knows_when_it_was_made() -> None:
    before = time.time()
    made = ids.made_at(ids.new())
    assert made is not None
    assert before - 0.001 <= made <= time.time()


@pytest.mark.parametrize("id", ["", "turn-1", "99825dcd-80ed-4ef5-893c-d6dd1971a475", ids.derived("a")])
def test_id_of_another_kind_has_no_time(id: str) -> None:
    assert ids.made_at(id) is None


def test_a_new_id_is_a_uuid_of_version_7() -> None:
    made = [uuid.UUID(ids.new()) for _ in range(200)]
    assert {(id.version, id.variant) for id in made} == {(7, uuid.RFC_4122)}
    assert len({id.int & (1 << 62) - 1 for id in made}) == 200


@given(st.lists(st.text(), min_size=1, max_size=3))
def test_a_derived_id_is_the_uuid_of_its_parts(parts: list[str]) -> None:
    assume(not any("\ud800" <= letter <= "\udfff" for part in parts for letter in part))
    assert ids.derived(*parts) == str(uuid.uuid5(uuid.NAMESPACE_OID, "\x1f".join(parts)))
