"""The unit of work: a turn moves only by inputs, and what a move asks for is done before it is written."""

from __future__ import annotations

import pytest

from libs.changes import Cause
from libs.database import Database, Dsns
from libs.skills import Skills
from services.conversation_worker.admission import Slots
from services.conversation_worker.store import Store
from services.conversation_worker.turn.effects import EFFECTS
from services.conversation_worker.turn.state import Conversation, QueuedMessage, Session, Turn, TurnState
from services.conversation_worker.turn.transitions import RULES, Effect, Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

MESSAGE = QueuedMessage(message_id="m", turn_id="t", text="look", principal="tester")
STORE = Store(Database(Dsns("", "", "")), Slots(1, 1))


@pytest.fixture
def uow() -> UnitOfWork:
    cause = Cause.request("conversation_worker", id="c", tenant="local", key="local:s", session="s")
    acting = Turn(turn_id="t", state=TurnState.ACTING, message=MESSAGE)
    return UnitOfWork(cause, Conversation(Session(session_id="s"), acting), Skills())


def test_state_changes_only_by_an_input(uow: UnitOfWork) -> None:
    with pytest.raises(TypeError, match="use take"):
        uow.update_turn(state=TurnState.ANSWERING)
    uow.take(Input.ROUND_ENDED)
    assert uow.turn.state is TurnState.ANSWERING


def test_input_that_the_state_does_not_take_raises(uow: UnitOfWork) -> None:
    with pytest.raises(LookupError, match="dropped"):
        uow.take(Input.DROPPED, "x")


def test_move_without_its_effect_is_never_written(uow: UnitOfWork) -> None:
    uow.take(Input.ROUND_ENDED)
    with pytest.raises(LookupError, match="write the answer"):
        uow.close(STORE)
    assert uow.next_effect() == (Effect.WRITE_ANSWER, None)
    assert uow.next_effect() is None
    assert uow.close(STORE).changes


def test_effects_of_a_later_input_come_first(uow: UnitOfWork) -> None:
    uow.update_turn(working="commit")
    uow.take(Input.COMMIT_ASKED)
    uow.take(Input.COMMIT_SENT)
    uow.take(Input.NOT_COMMITTED, "commit", "given")
    uow.take(Input.STOP)
    assert [uow.next_effect(), uow.next_effect()] == [(Effect.FINISH, None), (Effect.ASK_COMMIT, "given")]


def test_every_effect_of_the_rules_is_performed() -> None:
    assert {effect for rule in RULES for effect in rule.effects} == set(EFFECTS) == set(Effect)


def test_turn_that_ended_owes_no_effect(uow: UnitOfWork) -> None:
    uow.take(Input.ROUND_ENDED)
    uow.take(Input.END)
    assert uow.close(STORE).changes
