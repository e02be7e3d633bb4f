"""Undo: roll a commit back by its journal, or redo it, or restore the open turn's stage to before one of its steps."""

from __future__ import annotations

from dataclasses import dataclass

from libs.events import Args, RollbackRequested, StepState, ToolSucceeded, TurnStarted
from services.conversation_worker.turn import commit, start, tool_calls
from services.conversation_worker.turn.context import TurnContext, recorded
from services.conversation_worker.turn.state import (
    REDO,
    RESTORE,
    ROLLBACK,
    Outcome,
    QueuedMessage,
    Restoring,
    StepRun,
    Turn,
    TurnState,
)
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

NOTHING_TO_ROLL_BACK = ("NOTHING_TO_ROLL_BACK", "this session has no such commit")
NOTHING_TO_REDO = ("NOTHING_TO_REDO", "this session has no such rolled back commit")


@dataclass(frozen=True, slots=True)
class Undo:
    """A request to roll a commit back, or to redo it, all of it but the excluded paths."""

    message: QueuedMessage
    commit_id: str
    exclude: tuple[str, ...]
    redo: bool


async def roll_back(context: TurnContext, uow: UnitOfWork, request: RollbackRequested) -> None:
    """Undo what a person asks for: a commit, the rollback of one, or the stage since a snapshot."""
    message = message_of(request)
    if uow.has_seen(message.turn_id):
        return
    if request.snapshot is not None:
        await _restore(context, uow, message, request.snapshot)
    elif not uow.accepts(Input.ROLLBACK, message.turn_id):
        start.refuse(uow, message, "BUSY", "another turn is under way; cancel it or wait for its end")
    elif not (commit_id := _target(uow, request)):
        start.refuse(uow, message, *(NOTHING_TO_REDO if request.redo else NOTHING_TO_ROLL_BACK))
    else:
        uow.take(Input.ROLLBACK, message.turn_id, Undo(message, commit_id, request.exclude, request.redo))


def _target(uow: UnitOfWork, request: RollbackRequested) -> str:
    """Return the commit to roll back or to redo; empty if the session has none such."""
    session = uow.session
    last = session.undone if request.redo else session.commits
    commit_id = request.commit_id or next(reversed(last), "")
    # One that was rolled back in part is still among the commits.
    return commit_id if commit_id in (*session.commits, *last) else ""


def message_of(request: RollbackRequested) -> QueuedMessage:
    """Return the request as a message: it is a turn of its own."""
    who = {"principal": request.principal, "scopes": request.scopes}
    text = "redo" if request.redo else "rollback"
    return QueuedMessage.model_validate(
        {"message_id": request.turn_id, "turn_id": request.turn_id, "text": text, **who}
    )


async def begin(_: TurnContext, uow: UnitOfWork, given: Undo) -> None:
    """Begin the turn of a rollback."""
    message = given.message
    uow.open_turn(Turn(turn_id=message.turn_id, state=TurnState.ACTING, message=message, commit_id=given.commit_id))
    uow.emit(TurnStarted(turn_id=message.turn_id, message_id=None, text=message.text))


async def send(context: TurnContext, uow: UnitOfWork, given: Undo) -> None:
    """Ask the executor to roll a commit back, or to redo it."""
    args: Args = {"commit_id": given.commit_id, "exclude": list(given.exclude)}
    message, tool = given.message, REDO if given.redo else ROLLBACK
    # The signed request is the person's yes, so its own id takes the place of an approval's.
    await commit.start_workspace_call(context, uow, tool, args, Input.ROLLBACK_SENT, approval_id=message.turn_id)


async def _restore(context: TurnContext, uow: UnitOfWork, message: QueuedMessage, snapshot: str) -> None:
    """Restore the stage to before a step. Its turn waits for a person meanwhile, so none of its calls is running."""
    waits = uow.accepts(Input.RESTORE, message.turn_id)
    if not waits or not any(run.snapshot == snapshot for run in uow.conversation.steps):
        nothing = "no open turn that waits for a person has this snapshot"
        start.refuse(uow, message, "NO_SUCH_SNAPSHOT", nothing)
        return
    decision = await context.decide("workspace.rollback", uow, message)
    uow.emit(recorded(decision, message, turn_id=uow.turn.turn_id, resource=RESTORE))
    if not decision.allowed or decision.obligations:
        start.refuse(uow, message, "POLICY_DENIED", decision.reason)
        return
    # Now, not with the result: an answer that arrives meanwhile would be about what is being taken back.
    uow.close_open_approvals("superseded", principal=message.principal)
    uow.update_session(epoch=uow.session.epoch + 1)
    tool_calls.send_workspace_call(
        context,
        uow,
        RESTORE,
        {"snapshot": snapshot},
        Input.RESTORE,
        revision=decision.revision,
        approval_id=message.turn_id,
        message=message,
    )
    uow.update_turn(restoring=Restoring(turn_id=message.turn_id, snapshot=snapshot))


def restored(uow: UnitOfWork, result: ToolSucceeded | None, trouble: Outcome) -> None:
    """Record that the stage was restored, or was not (`result` is None)."""
    turn = uow.turn
    requested = turn.restoring
    uow.update_turn(restoring=None)
    if requested is not None:
        done = Outcome(state=TurnState.COMPLETED, reason="ROLLBACK", detail=turn.turn_id)
        uow.end_turn(requested.turn_id, done if result is not None else trouble)
    if result is not None and requested is not None:
        uow.update_turn(diff=result.diff)
        _take_back(uow, requested.snapshot)
    # Their questions were closed when the restore was sent; they are asked anew.
    for run in uow.conversation.steps:
        if run.state is StepState.AWAITING_APPROVAL:
            uow.update_step(run, state=StepState.PENDING, approval_id=None)


def _take_back(uow: UnitOfWork, snapshot: str) -> None:
    """Mark the snapshot's step and every later one that succeeded as rolled back (S4-36)."""
    first = next(run for run in uow.conversation.steps if run.snapshot == snapshot)
    for run in uow.conversation.steps:
        if run.state is StepState.SUCCEEDED and _place(run) >= _place(first):
            uow.update_step(run, state=StepState.ROLLED_BACK)


def _place(run: StepRun) -> tuple[int, int]:
    return run.round, run.step.ordinal
