"""The end of a turn: stop, wait for running calls, discard staged changes, answer, end."""

from __future__ import annotations

from dataclasses import dataclass

from libs import ids
from libs.errors import SumaError
from libs.events import ActionRecorded, Exchange, MessageCompleted, StepState, ToolCancelRequested
from libs.leases import Cancelled, NewLease
from libs.telemetry import metrics
from services.conversation_worker.domain import event_sizes, memory_window, messages, reasons, referenced_files
from services.conversation_worker.turn import start, tool_calls
from services.conversation_worker.turn.context import ANSWER, TurnContext
from services.conversation_worker.turn.state import DROP, Outcome, TurnState
from services.conversation_worker.turn.transitions import BUSY, Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

EFFECT_UNKNOWN = "EFFECT_UNKNOWN"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that completes a turn. `reason` names what kept the turn from doing what was asked."""

    text: str
    reason: str | None = None


async def stop_now(_: TurnContext, uow: UnitOfWork, __: object) -> None:
    """Stop a turn whose outcome is set."""
    assert uow.turn.outcome is not None
    stop(uow, uow.turn.outcome)


def stop(uow: UnitOfWork, outcome: Outcome) -> None:
    """Stop a turn: start nothing new, wait for running calls, then discard staged changes."""
    uow.update_turn(outcome=outcome)
    for run in uow.conversation.steps:
        if run.state in (StepState.PENDING, StepState.AWAITING_APPROVAL):
            uow.update_step(run, state=StepState.CANCELLED)
    uow.close_open_approvals("cancelled")
    uow.take(Input.STOP)


async def cancel_work(_: TurnContext, uow: UnitOfWork, __: object) -> None:
    """Cancel the work that the turn waits for. The turn is not over until its end is reported (`TurnLeases.failed`)."""
    if uow.turn.working is not None:
        uow.cancel(uow.turn.working)


async def end_wait(_: TurnContext, uow: UnitOfWork, __: object) -> None:
    if uow.turn.working is not None:
        uow.end(uow.turn.working)


async def cancel_calls(_: TurnContext, uow: UnitOfWork, __: object) -> None:
    uow.emit(ToolCancelRequested(turn_id=uow.turn.turn_id))


def abandon(uow: UnitOfWork, over: Outcome) -> None:
    """End the turn although a result will never arrive; the effects of its running calls are unknown."""
    unknown = uow.turn.state in BUSY
    uow.take(Input.LOST)
    for run in uow.conversation.steps:
        if run.state is StepState.RUNNING:
            uow.update_step(run, state=StepState.UNKNOWN, error=over.detail)
    over = uow.turn.outcome or over
    if unknown:
        # Committed or not: a stage that is left over is dropped when the next turn begins its own.
        uow.update_turn(working=None, diff=None)
    uow.update_turn(outcome=over)


def give_up(uow: UnitOfWork, input: Input, working: str, error: SumaError) -> None:
    """End the turn without its context, or without its answer."""
    state = TurnState.CANCELLED if isinstance(error, Cancelled) else TurnState.FAILED
    over = uow.turn.outcome or Outcome(state=state, reason=error.code, detail=f"{error}{_completed_steps(uow)}")
    uow.take(input, working)
    uow.update_turn(working=None, outcome=over)


def _completed_steps(uow: UnitOfWork) -> str:
    """Return a note on the steps that stay done although the answer is missing."""
    done = sum(run.state is StepState.SUCCEEDED for run in uow.conversation.steps)
    if uow.turn.state is not TurnState.ANSWERING or not done:
        return ""
    return f" (only the answer is missing: {done} of {len(uow.conversation.steps)} steps are done and stay so)"


async def finish(_: TurnContext, uow: UnitOfWork, __: object) -> None:
    """End a stopped turn once nothing of it is under way."""
    when_idle(uow)


def when_idle(uow: UnitOfWork) -> None:
    """End the turn once no call and no commit is running; discard what is staged first."""
    if uow.turn.outcome is not None and uow.accepts(Input.IDLE):
        uow.take(Input.IDLE)


def note(uow: UnitOfWork, text: str) -> None:
    """Add a note to the outcome of a turn that was stopped."""
    outcome = uow.turn.outcome
    if outcome is not None:
        uow.update_turn(outcome=outcome.model_copy(update={"detail": f"{outcome.detail} ({text})".strip()}))


async def drop(context: TurnContext, uow: UnitOfWork, _: object = None) -> None:
    """Discard the stage. No file was touched and none will be, so only the executor asks policy about it."""
    tool_calls.send_workspace_call(context, uow, DROP, {}, Input.DROP_SENT, revision=context.platform.policy.revision)


async def answer(_: TurnContext, uow: UnitOfWork, __: object) -> None:
    """Start writing the answer, under a lease: it is a model call."""
    writing = NewLease(ids.derived(uow.cause.id, ANSWER), ANSWER, {"turn_id": uow.turn.turn_id})
    uow.update_turn(working=writing.id)
    uow.start(writing)


async def complete(context: TurnContext, uow: UnitOfWork, given: Answer) -> None:
    """Complete the turn with its answer."""
    turn, text, reason = uow.turn, given.text, given.reason
    if turn.limit is not None:
        text, reason = f"{text}\n\n{messages.CUT_SHORT} {turn.limit.detail}", reason or turn.limit.reason
    text = text[: event_sizes.ANSWER_MOST]
    # Derived, so that a repeated handling writes the same message.
    message_id = ids.derived(turn.turn_id, "answer")
    uow.emit(
        MessageCompleted(turn_id=turn.turn_id, message_id=message_id, text=text, usage=turn.usage),
    )
    if turn.message.call is None:
        uow.emit(start.memory_request(turn.message, message_id, "answer", text))
    _remember(uow, text, reason)
    _end(context, uow, Outcome(state=TurnState.COMPLETED, reason=reason))


def _remember(uow: UnitOfWork, answer: str, reason: str | None) -> None:
    """Add the turn to the session's history."""
    shown, steps = referenced_files.named_files(uow.turn.commit_result, uow.conversation.steps), uow.conversation.steps
    text, wish = uow.turn.message.text[:2000], uow.turn.wish
    # The next plan rests on what kept this one from being done; an answer that declines speaks for itself.
    kept = None if reason == reasons.DECLINED else reason
    exchange = Exchange(text=text, answer=answer[:2000], wish=wish, reason=kept, shown=shown)
    uow.update_session(history=memory_window.remembered(uow.session.history, exchange, talked=not steps))


async def end(context: TurnContext, uow: UnitOfWork, _: object) -> None:
    """End a turn that was stopped, with the outcome that it has."""
    outcome = uow.turn.outcome
    assert outcome is not None
    if uow.has_unknown_effect and outcome.reason != EFFECT_UNKNOWN:
        note(uow, "whether one of its effects happened is not known")
    _end(context, uow, uow.turn.outcome or outcome)


def _end(context: TurnContext, uow: UnitOfWork, outcome: Outcome) -> None:
    """End the turn. Once it is handled, the next message of the mailbox begins (`start.continue_mailbox`)."""
    turn = uow.turn
    if turn.asked and outcome.state in (TurnState.REFUSED, TurnState.FAILED, TurnState.CANCELLED):
        # The next message may ask why, or say how else; and "those" are not the files of the turn before.
        _remember(uow, outcome.detail, outcome.reason)
    uow.close_open_approvals("cancelled")
    # What is left asks whether something happened: nobody waits for the answer any more, but it is still to be given.
    uow.end(*(approval.approval_id for approval in uow.conversation.approvals if approval.open))
    # The request to restore has a turn of its own, whose client waits for an end.
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
