"""Ids: new ones carry their time, others do not."""

from __future__ import annotations

import time

import pytest

from libs import ids


def test_a_new_id_knows_when_it_was_made() -> None:
    before = time.time()
    made = ids.made_at(ids.new())
    assert made is not None
    assert before - 0.001 <= made <= time.time()


@pytest.mark.parametrize("id", ["", "turn-1", "99825dcd-80ed-4ef5-893c-d6dd1971a475", ids.derived("a")])
def test_another_id_does_not(id: str) -> None:
    assert ids.made_at(id) is None
