"""Event streams as bytes come: fields in any order, comments, events without a number."""

from __future__ import annotations

import json

from services.cli.streams import numbered

EVENT = {"seq": 7, "type": "turn.ended", "turn_id": "t", "time": "2026-01-01T00:00:00Z", "data": {"state": "completed"}}


def test_an_event_is_read_with_its_number() -> None:
    (seen,) = numbered(["id: 7", "event: turn.ended", f"data: {json.dumps(EVENT)}", ""])
    assert seen.json() == EVENT


def test_heartbeats_and_words_on_their_way_are_passed_over() -> None:
    lines = [": ping", "", "event: delta", 'data: {"text": "hel"}', "", "id: 7", f"data: {json.dumps(EVENT)}", ""]
    assert [seen.seq for seen in numbered(lines)] == [7]


def test_an_event_that_was_cut_off_is_not_half_read() -> None:
    assert list(numbered(["id: 7", f"data: {json.dumps(EVENT)}"])) == []


def test_data_in_several_lines_is_one_text() -> None:
    whole = json.dumps(EVENT, indent=1).splitlines()
    assert [seen.seq for seen in numbered(["id: 7", *(f"data: {line}" for line in whole), ""])] == [7]
