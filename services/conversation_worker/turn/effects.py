"""The turn's table is performed here, and nowhere else: what each effect does (decision 0095)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from services.conversation_worker.turn import commit, decisions, finish, gathering, plan, rollback, start, steps
from services.conversation_worker.turn.context import TurnContext
from services.conversation_worker.turn.rollback import Undo
from services.conversation_worker.turn.start import Incoming
from services.conversation_worker.turn.transitions import Effect
from services.conversation_worker.turn.unit_of_work import UnitOfWork

Perform = Callable[[TurnContext, UnitOfWork, Any], Awaitable[None]]


async def _begin(context: TurnContext, uow: UnitOfWork, given: Incoming | Undo) -> None:
    """Begin the turn of a message or of a rollback."""
    if isinstance(given, Undo):
        await rollback.begin(context, uow, given)
    else:
        await start.begin(context, uow, given)


EFFECTS: Mapping[Effect, Perform] = {
    Effect.BEGIN_TURN: _begin,
    Effect.QUEUE_MESSAGE: start.queue,
    Effect.REFUSE_MESSAGE: start.refuse_full,
    Effect.WAIT_FOR_SLOT: start.wait_for_slot,
    Effect.TAKE_CLARIFICATION: start.answer_clarification,
    Effect.GATHER_CONTEXT: gathering.begin,
    Effect.REQUEST_PLAN: gathering.request_plan,
    Effect.ASK_CLARIFICATION: plan.ask_clarification,
    Effect.ADVANCE: steps.advance,
    Effect.APPLY_DECISION: decisions.apply,
    Effect.ASK_COMMIT: commit.ask,
    Effect.SEND_DROP: finish.drop,
    Effect.SEND_ROLLBACK: rollback.send,
    Effect.WRITE_ANSWER: finish.answer,
    Effect.CANCEL_WORK: finish.cancel_work,
    Effect.CANCEL_CALLS: finish.cancel_calls,
    Effect.END_WAIT: finish.end_wait,
    Effect.STOP: finish.stop_now,
    Effect.FINISH: finish.finish,
    Effect.COMPLETE: finish.complete,
    Effect.END_TURN: finish.end,
}


async def perform(context: TurnContext, uow: UnitOfWork) -> None:
    """Perform what the turn's moves lead to. An effect may take further inputs, whose effects come before the rest.

    Raises:
        Unavailable: policy or another dependency did not answer.
    """
    while (following := uow.next_effect()) is not None:
        effect, given = following
        await EFFECTS[effect](context, uow, given)
