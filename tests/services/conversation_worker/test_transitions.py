"""The state machine of a turn, in every position that it can reach: it can end, and it loses no input."""

from __future__ import annotations

from dataclasses import replace
from graphlib import TopologicalSorter
from itertools import product

import pytest

from services.conversation_worker.turn.state import TurnState
from services.conversation_worker.turn.transitions import (
    BUSY,
    INTERNAL,
    NEW,
    OPEN,
    RULES,
    Effect,
    Input,
    Move,
    Position,
    Refusal,
    decide,
)
from tests.services.conversation_worker.turn_world import CALL, QUESTION, SLOT, Exploration, World

TAKEN = {Effect.BEGIN_TURN, Effect.QUEUE_MESSAGE, Effect.REFUSE_MESSAGE}
"""What can become of a message."""
LATER = {(Input.SLOT_FREE, Refusal.NOT_POSSIBLE)}
"""Answers that may be refused: a rollback began while the mailbox waited, so the mailbox goes on when it ends."""


@pytest.fixture(scope="module")
def explored() -> Exploration:
    return Exploration()


def test_every_turn_and_message_waits_for_something(explored: Exploration) -> None:
    for world in explored.found:
        waits = world.position.waits_for if world.position.state is not None else world.waits(SLOT) or not world.queue
        assert waits, world


def test_every_turn_can_end_by_answers_alone(explored: Exploration) -> None:
    ends = {world for world in explored.found if world.position.state is None}
    before: dict[World, set[World]] = {world: set() for world in explored.found}
    for step in explored.steps:
        if step.is_answer:
            before[step.after.settled()].add(step.start)
    ahead = list(ends)
    while ahead:
        more = before[ahead.pop()] - ends
        ends |= more
        ahead.extend(more)
    assert ends == explored.found.keys()


def test_stopping_turn_ends_with_any_answer(explored: Exploration) -> None:
    after: dict[World, set[World]] = {world: set() for world in explored.found if world.position.stopping}
    for step in explored.steps:
        if step.start in after and step.is_answer and isinstance(step.move, Move):
            after[step.start].add(step.after.settled())
    # A turn that is answered for ever would be a cycle, which is an error here.
    TopologicalSorter(after).prepare()
    left = {world for worlds in after.values() for world in worlds} - after.keys()
    assert {world.position.state for world in left} == {None, TurnState.CONTEXT}, "over, or the next message has begun"


def test_every_pending_answer_is_taken(explored: Exploration) -> None:
    refused = {(step.input, step.move) for step in explored.steps if step.is_answer and not isinstance(step.move, Move)}
    assert refused == LATER


def test_every_message_is_taken_once(explored: Exploration) -> None:
    for step in explored.steps:
        if step.input is Input.MESSAGE:
            assert isinstance(step.move, Move), step
            assert len(TAKEN.intersection(step.move.effects)) == 1, step
            assert Effect.REFUSE_MESSAGE not in step.move.effects or not step.position.room, step


def test_reply_is_taken_only_while_a_clarification_is_open(explored: Exploration) -> None:
    for step in explored.steps:
        if step.input is Input.REPLY:
            asks = step.start.position.state is TurnState.AWAITING_CLARIFICATION
            assert isinstance(step.move, Move) is asks, step


def test_open_turn_can_be_cancelled_or_lost(explored: Exploration) -> None:
    for step in explored.steps:
        if step.input is Input.LOST or (step.input is Input.CANCEL and not step.start.position.stopping):
            assert isinstance(step.move, Move), step


def test_undo_is_taken_between_turns_or_at_a_question(explored: Exploration) -> None:
    for step in explored.steps:
        if step.input is Input.ROLLBACK:
            assert isinstance(step.move, Move) is (step.start.position.state is None), step
        if step.input is Input.RESTORE:
            assert isinstance(step.move, Move) is (step.start.waits(QUESTION) and not step.start.waits(CALL)), step


def test_repeated_input_is_refused(explored: Exploration) -> None:
    for step in explored.steps:
        if isinstance(step.move, Move) and step.input not in INTERNAL:
            assert isinstance(decide(step.after.position, step.input, step.about), Refusal), step


def test_every_rule_fires(explored: Exploration) -> None:
    assert [rule for rule in RULES if rule not in explored.fired] == []


@pytest.mark.parametrize("state", [None, *sorted(OPEN)], ids=str)
def test_every_input_gives_a_move_or_a_refusal(state: TurnState | None) -> None:
    for input in Input:
        for stopping in (False, True):
            position = Position(state=state, turn_id="t", stopping=stopping, waits_for=frozenset({"x"}))
            about = "t" if input in (Input.REPLY, Input.CANCEL) else "x"
            assert isinstance(decide(position, input, about), Move | Refusal)


def test_no_two_rules_hold_at_once() -> None:
    facts = [
        Position(calls=calls, staged=staged, incomplete=more, slot=slot, room=room, queued=queued)
        for calls, staged, more, slot, room, queued in product(*[(False, True)] * 6)
    ]
    for position in facts:
        for state in (None, *OPEN):
            for stopping in (False, True):
                here = replace(position, state=state, stopping=stopping and state is not None)
                for input in Input:
                    assert sum(rule.input is input and rule.holds(here) for rule in RULES) <= 1, (here, input)


def test_final_states_are_left_by_no_rule() -> None:
    assert not any(state is not None and state.has_ended for rule in RULES for state in rule.states)
    assert {rule.input for rule in RULES} == set(Input)
    assert BUSY < OPEN
    assert NEW.isdisjoint(INTERNAL)
