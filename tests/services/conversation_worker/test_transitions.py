"""The state machine of a turn: whatever happens, in whatever order, a turn can end and no message is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from tests.support.examples import examples

ANSWERS: dict[Effect, tuple[Input, ...]] = {
    Effect.GATHER_CONTEXT: (Input.CONTEXT_GATHERED, Input.WORK_FAILED),
    Effect.REQUEST_PLAN: (Input.PLAN_APPROVED, Input.PLAN_ANSWERED, Input.PLAN_REJECTED, Input.PLAN_UNCLEAR),
    Effect.ASK_CLARIFICATION: (Input.CLARIFICATION_EXPIRED,),
    Effect.WRITE_ANSWER: (Input.ANSWER_WRITTEN, Input.WORK_FAILED),
    Effect.ASK_COMMIT: (Input.APPROVAL_DECIDED, Input.APPROVAL_EXPIRED),
}
"""What an effect makes the turn wait for."""
SENT: dict[Input, tuple[Input, ...]] = {
    Input.COMMIT_SENT: (Input.COMMITTED, Input.NOT_COMMITTED, Input.COMMIT_REFUSED),
    Input.DROP_SENT: (Input.DROPPED,),
    Input.ROLLBACK_SENT: (Input.ROLLED_BACK, Input.NOT_ROLLED_BACK),
    Input.RESTORE: (Input.RESTORED,),
}
CALL, QUESTION = (Input.STEP_ENDED,), (Input.APPROVAL_DECIDED, Input.APPROVAL_EXPIRED)
SLOT = "slot"
STEPS_MOST = 200
choices = st.lists(st.integers(min_value=0, max_value=1_000), min_size=40, max_size=STEPS_MOST)


@dataclass
class World:
    """Everything around the machine: it runs the effects, and answers what is waited for, as the choices say."""

    choices: Sequence[int]
    position: Position = field(default_factory=Position)
    pending: dict[str, tuple[Input, ...]] = field(default_factory=dict)
    queue: list[str] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    last: tuple[Input, str] | None = None
    _used: int = 0
    _ids: count[int] = field(default_factory=count)

    def choose(self, most: int) -> int:
        self._used += 1
        return self.choices[self._used % len(self.choices)] % most

    def step(self) -> None:
        """One thing happens: a new message, a cancel, a rollback, or an answer to what is waited for."""
        kind = self.choose(8)
        if kind == 0 or (self.position.state is None and kind < 6):
            self.happen(Input.ROLLBACK if kind == 5 else Input.MESSAGE, f"turn{next(self._ids)}")
        elif kind == 1 and self.position.turn_id is not None:
            self.happen(Input.CANCEL, self.position.turn_id)
        elif kind == 2:
            self.happen(Input.RESTORE, f"turn{next(self._ids)}")
        elif self.pending:
            about = sorted(self.pending)[self.choose(len(self.pending))]
            self.happen(self.pending[about][self.choose(len(self.pending[about]))], about)

    def happen(self, input: Input, about: str) -> None:
        if input is Input.SLOT_FREE and not self.queue:
            return
        slot = self.choose(4) > 0 and not self.queue
        move = decide(replace(self.position, slot=slot), input, about)
        if isinstance(move, Refusal):
            return
        self.last = (input, about) if input not in INTERNAL else self.last
        self.pending.pop(about, None)
        self.move(input, about, move)

    def internal(self, input: Input) -> None:
        move = decide(self.position, input)
        assert isinstance(move, Move), (self.position, input, move)
        self.move(input, "", move)

    def move(self, input: Input, about: str, move: Move) -> None:
        before, self.position = self.position, replace(move.position, calls=self._calls())
        if move.ends:
            self.finish(before)
            return
        if input in SENT:
            self.wait(SENT[input])
        if input in (Input.COMMITTED, Input.DROPPED):
            self.position = replace(self.position, staged=False)
        for effect in move.effects:
            self.run(effect, input, about)

    def run(self, effect: Effect, input: Input, about: str) -> None:
        match effect:
            case Effect.BEGIN_TURN:
                self.begun.append(self.queue.pop(0) if input is Input.SLOT_FREE else about)
                self.position = replace(self.position, turn_id=self.begun[-1], incomplete=False, staged=False)
            case Effect.QUEUE_MESSAGE:
                self.queue.append(about)
            case Effect.TAKE_CLARIFICATION:
                self.answered.append(about)
                self.pending.clear()
                self.position = replace(self.position, waits_for=frozenset())
            case Effect.ADVANCE:
                self.advance()
            case Effect.APPLY_DECISION:
                self.apply(input)
            case Effect.STOP:
                self.internal(Input.STOP)
            case Effect.FINISH:
                if isinstance(decide(self.position, Input.IDLE), Move):
                    self.internal(Input.IDLE)
            case Effect.SEND_DROP:
                self.internal(Input.DROP_SENT)
            case Effect.SEND_ROLLBACK:
                self.internal(Input.ROLLBACK_SENT if self.choose(3) else Input.CALL_REFUSED)
            case Effect.ASK_COMMIT:
                self.internal(Input.COMMIT_ASKED if self.choose(5) else Input.CALL_REFUSED)
                if self.position.state is TurnState.AWAITING_COMMIT:
                    self.wait(QUESTION)
            case Effect.COMPLETE | Effect.END_TURN:
                self.internal(Input.END)
            case Effect.CANCEL_WORK | Effect.CANCEL_CALLS:
                pass
            case Effect.WAIT_FOR_SLOT:
                self.pending[SLOT] = (Input.SLOT_FREE,)
            case Effect.END_WAIT:
                self.pending.clear()
                self.position = replace(self.position, waits_for=frozenset())
            case _:
                self.wait(ANSWERS[effect])

    def advance(self) -> None:
        """Steps run, ask a person, or are all done."""
        if self.position.stopping:
            self.run(Effect.FINISH, Input.IDLE, "")
            return
        if self.position.waits_for:
            return
        kind = self.choose(4)
        if kind == 0:
            self.wait(CALL)
            self.position = replace(self.position, calls=True, staged=self.position.staged or bool(self.choose(2)))
        elif kind == 1:
            self.wait(QUESTION)
            self.position = replace(self.position, asking=True)
        else:
            self.position = replace(self.position, incomplete=not self.choose(3), asking=False)
            self.internal(Input.ROUND_ENDED)

    def apply(self, input: Input) -> None:
        """A person has decided, or did not in time."""
        if self.position.state is TurnState.ACTING:
            self.position = replace(self.position, asking=False)
            self.advance()
        elif input is Input.APPROVAL_EXPIRED:
            self.internal(Input.STOP)
        else:
            self.internal([Input.COMMIT_SENT, Input.DROP_SENT, Input.CALL_REFUSED][self.choose(3)])

    def wait(self, answers: tuple[Input, ...]) -> None:
        about = f"work{next(self._ids)}"
        self.pending[about] = answers
        self.position = replace(self.position, waits_for=self.position.waits_for | {about}, calls=self._calls())

    def finish(self, before: Position) -> None:
        assert before.turn_id is not None
        self.ended.append(before.turn_id)
        self.pending.clear()
        self.position = Position(seen=before.seen)
        if self.queue:
            self.internal(Input.SLOT_FREE)

    def _calls(self) -> bool:
        return CALL in self.pending.values()


@given(choices)
@settings(max_examples=examples(150))
def test_turn_can_always_end(chosen: list[int]) -> None:
    world = World(chosen)
    for _ in range(len(chosen)):
        world.step()
        assert world.position.state is None or world.pending, f"{world.position.state} waits for nothing"
    # Stopped, it ends once everything that it waits for has been answered.
    for _ in range(STEPS_MOST):
        if (turn := world.position.turn_id) is not None:
            world.happen(Input.CANCEL, turn)
        for about, answers in list(world.pending.items()):
            world.happen(answers[0], about)
    assert world.position.state is None
    assert world.queue == []


@given(choices)
@settings(max_examples=examples(150))
def test_no_input_is_lost(chosen: list[int]) -> None:
    world = World(chosen)
    asked = 0
    for _ in range(len(chosen)):
        before = len(world.begun) + len(world.queue) + len(world.answered)
        world.step()
        named = {*world.begun, *world.queue, *world.answered}
        assert len(named) == len(world.begun) + len(world.queue) + len(world.answered) >= before
        asked = max(asked, len(named))
    open_turn = {world.position.turn_id} - {None}
    assert {*world.ended, *open_turn} == set(world.begun)
    assert len(world.ended) == len(set(world.ended))


@given(choices)
@settings(max_examples=examples(150))
def test_repeated_input_changes_nothing(chosen: list[int]) -> None:
    world = World(chosen)
    for _ in range(len(chosen)):
        world.step()
        if world.last is not None:
            input, about = world.last
            assert isinstance(decide(world.position, input, about), Refusal), (input, about)


@pytest.mark.parametrize("state", [None, *sorted(OPEN)], ids=str)
def test_every_input_gives_a_move_or_a_refusal(state: TurnState | None) -> None:
    for input in Input:
        for stopping in (False, True):
            position = Position(state=state, turn_id="t", stopping=stopping, waits_for=frozenset({"x"}))
            assert isinstance(decide(position, input, "t" if input is Input.CANCEL else "x"), Move | Refusal)


def test_no_two_rules_hold_at_once() -> None:
    facts = [
        Position(calls=calls, staged=staged, incomplete=more) for calls, staged, more in product(*[(False, True)] * 3)
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
