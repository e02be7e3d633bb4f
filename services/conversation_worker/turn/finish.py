"""The end of a turn: stop, wait for running calls, discard staged changes, answer, end."""

from __future__ import annotations

from libs import ids
from libs.events import ActionRecorded, MessageCompleted, ToolCancelRequested
from libs.events.committee import Exchange
from libs.events.values import StepState, Usage
from libs.leases.ports import NewLease
from libs.telemetry import metrics
from services.conversation_worker.domain import event_sizes, memory_window, reasons, referenced_files
from services.conversation_worker.turn import start, tool_calls
from services.conversation_worker.turn.context import ANSWER, TurnContext
from services.conversation_worker.turn.state import DROP, Outcome, TurnState
from services.conversation_worker.turn.transitions import Effect, Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

EFFECT_UNKNOWN = "EFFECT_UNKNOWN"


def stop(context: TurnContext, uow: UnitOfWork, outcome: Outcome) -> None:
    """Stop a turn: start nothing new, wait for running calls, then discard staged changes."""
    turn = uow.update_turn(outcome=outcome)
    for run in uow.conversation.steps:
        if run.state in (StepState.PENDING, StepState.AWAITING_APPROVAL):
            uow.update_step(run, state=StepState.CANCELLED)
    uow.close_open_approvals("cancelled")
    effects = uow.take(Input.STOP)
    if Effect.CANCEL_WORK in effects and turn.working is not None:
        # The turn is not over until the end of this work has been reported (`TurnLeases.failed`).
        uow.cancel(turn.working)
    if Effect.END_WAIT in effects and turn.working is not None:
        uow.end(turn.working)
    if Effect.CANCEL_CALLS in effects:
        uow.emit(ToolCancelRequested(turn_id=turn.turn_id))
    if Effect.FINISH in effects:
        finish_when_idle(context, uow)


def finish_when_idle(context: TurnContext, uow: UnitOfWork) -> None:
    """End the turn once no call and no commit is running; discard what is staged first."""
    outcome = uow.turn.outcome
    if outcome is None or not uow.accepts(Input.IDLE):
        return
    if Effect.SEND_DROP in uow.take(Input.IDLE):
        drop(context, uow)
    else:
        end(context, uow, _with_open_question(uow, outcome))


def _with_open_question(uow: UnitOfWork, outcome: Outcome) -> Outcome:
    """Return the outcome; its detail says whether an effect is still unknown."""
    if not uow.has_unknown_effect or outcome.reason == EFFECT_UNKNOWN:
        return outcome
    return outcome.model_copy(
        update={"detail": f"{outcome.detail} (whether one of its effects happened is not known)".strip()}
    )


def drop(context: TurnContext, uow: UnitOfWork) -> None:
    """Discard the stage. No file was touched and none will be, so only the executor asks policy about it."""
    tool_calls.send_workspace_call(context, uow, DROP, {}, Input.DROP_SENT, revision=context.platform.policy.revision)


def answer(uow: UnitOfWork) -> None:
    """Start writing the answer, under a lease: it is a model call."""
    writing = NewLease(ids.derived(uow.cause.id, ANSWER), ANSWER, {"turn_id": uow.turn.turn_id})
    uow.update_turn(working=writing.id)
    uow.start(writing)


def complete(
    context: TurnContext, uow: UnitOfWork, text: str, usage: Usage | None = None, *, reason: str | None = None
) -> None:
    """Complete the turn with its answer."""
    turn, text = uow.turn, text[: event_sizes.ANSWER_MOST]
    message_id = ids.derived(turn.turn_id, "answer")
    start.add_message(uow, message_id, "assistant", text)
    uow.emit(
        MessageCompleted(turn_id=turn.turn_id, message_id=message_id, text=text, usage=usage or turn.usage),
    )
    if turn.message.call is None:
        uow.emit(start.memory_request(turn.message, message_id, "answer", text))
    _remember(uow, text, reason)
    end(context, uow, Outcome(state=TurnState.COMPLETED, reason=reason))


def _remember(uow: UnitOfWork, answer: str, reason: str | None) -> None:
    """Add the turn to the session's history."""
    shown, steps = referenced_files.named_files(uow.turn.commit_result, uow.conversation.steps), uow.conversation.steps
    text, wish = uow.turn.message.text[:2000], uow.turn.wish
    # The next plan rests on what kept this one from being done; an answer that declines speaks for itself.
    kept = None if reason == reasons.DECLINED else reason
    exchange = Exchange(text=text, answer=answer[:2000], wish=wish, reason=kept, shown=shown)
    uow.update_session(history=memory_window.remembered(uow.session.history, exchange, talked=not steps))


def end(context: TurnContext, uow: UnitOfWork, outcome: Outcome) -> None:
    """End the turn, and begin the next message of the mailbox."""
    turn = uow.turn
    if turn.asked and outcome.state in (TurnState.REFUSED, TurnState.FAILED):
        # The next message may ask why, or say how else.
        _remember(uow, outcome.detail, outcome.reason)
    uow.close_open_approvals("cancelled")
    # What is left asks whether something happened: nobody waits for the answer any more, but it is still to be given.
    uow.end(*(approval.approval_id for approval in uow.conversation.approvals if approval.open))
    if turn.restoring is not None:
        uow.end_turn(turn.restoring.turn_id, outcome)
    uow.close_turn(outcome)
    metrics.turns.labels(outcome.state.value).inc()
    began = ids.made_at(turn.turn_id)
    if began is not None:
        took = context.now().timestamp() - began
        metrics.processing_seconds.labels(outcome.state.value).observe(max(0.0, took))
    uow.emit(
        ActionRecorded(
            action="turn",
            phase="outcome",
            verdict=outcome.state.value,
            principal=turn.message.principal,
            resource=turn.turn_id,
            rule=outcome.reason or "",
            turn_id=turn.turn_id,
        )
    )
    uow.end_turn(turn.turn_id, outcome)
    if uow.session.queue and context.slots.awaited(uow.cause.tenant):
        # Other sessions of this tenant were here before.
        start.wait_for_slot(uow)
    else:
        start.begin_next(context, uow)
