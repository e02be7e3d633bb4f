"""The view of a turn: it knows every event of the topic, and needs none that it does not know."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

import orjson
import pytest

from libs.events import (
    ClarificationRequested,
    MessageCompleted,
    Outbound,
    StepChanged,
    StepState,
    TurnEnded,
    Usage,
    registry,
)
from libs.events.topics import OUTBOUND
from services.gateway.http.models import short
from services.gateway.sessions.store import Numbered
from services.gateway.surfaces.turn_view import TurnView, fold

STEP = StepChanged(
    turn_id="t", plan_id="p", step_id="s", ordinal=1, tool="list", description="List", state=StepState.RUNNING
)


def numbered(seq: int, event: Outbound, **more: object) -> Numbered:
    body = orjson.dumps({**event.model_dump(mode="json"), **more}).decode()
    return Numbered(seq, short(event.type), "t", datetime.now(UTC), body, None)


def test_union_has_every_outbound_event() -> None:
    assert set(get_args(Outbound)) == {cls for cls in registry.values() if cls.topic is OUTBOUND}


def test_view_follows_a_turn_to_its_end() -> None:
    asked = numbered(1, ClarificationRequested(turn_id="t", question="Which?"))
    assert TurnView.of([asked]).state == "awaiting_clarification"
    answer = MessageCompleted(turn_id="t", message_id="m", text="Done.", usage=Usage(output_tokens=7))
    rest = numbered(2, STEP), numbered(3, answer), numbered(4, TurnEnded(turn_id="t", state="completed"))
    view = TurnView.of([asked, *rest])
    assert (view.seq, view.state, view.step, view.usage) == (4, "completed", STEP, Usage(output_tokens=7))


@pytest.mark.parametrize(
    "newer",
    [
        Numbered(5, "turn.pondered", "t", datetime.now(UTC), "{}", None),
        numbered(5, STEP, state="pondering"),
    ],
    ids=["type", "value"],
)
def test_unknown_event_moves_only_the_position(newer: Numbered) -> None:
    before = TurnView.of([numbered(1, STEP)])
    assert fold(before, newer) == TurnView(5, before.state, step=before.step, steps=before.steps)


def test_unknown_field_is_ignored() -> None:
    assert numbered(1, STEP, mood="calm").event == STEP
