"""Event streams as bytes come: fields in any order, comments, events without a number."""

from __future__ import annotations

import json

from services.cli.streams import SessionEvent, TextDelta, read

EVENT = {"seq": 7, "type": "turn.ended", "turn_id": "t", "time": "2026-01-01T00:00:00Z", "data": {"state": "completed"}}


def test_an_event_is_read_with_its_number() -> None:
    (seen,) = read(["id: 7", "event: turn.ended", f"data: {json.dumps(EVENT)}", ""])
    assert isinstance(seen, SessionEvent)
    assert seen.json() == EVENT


def test_heartbeats_and_events_without_a_number_are_passed_over() -> None:
    lines = [": ping", "", "event: news", "data: 1", "", "id: 7", f"data: {json.dumps(EVENT)}", ""]
    assert [item.json() for item in read(lines) if isinstance(item, SessionEvent)] == [EVENT]


def test_text_delta_has_a_call_and_no_number() -> None:
    words = {"turn_id": "t", "call": "c", "attempt": 2, "text": "hel"}
    assert list(read(["event: delta", f"data: {json.dumps(words)}", ""])) == [TextDelta("t", ("c", 2), "hel")]


def test_output_of_a_command_names_its_step() -> None:
    words = {"turn_id": "t", "call": "c", "attempt": 2, "text": "ran", "step_id": "s1"}
    assert list(read(["event: delta", f"data: {json.dumps(words)}", ""])) == [TextDelta("t", ("c", 2), "ran", "s1")]


def test_an_event_that_was_cut_off_is_not_half_read() -> None:
    assert list(read(["id: 7", f"data: {json.dumps(EVENT)}"])) == []


def test_data_in_several_lines_is_one_text() -> None:
    whole = json.dumps(EVENT, indent=1).splitlines()
    (seen,) = read(["id: 7", *(f"data: {line}" for line in whole), ""])
    assert isinstance(seen, SessionEvent)
    assert seen.seq == 7
