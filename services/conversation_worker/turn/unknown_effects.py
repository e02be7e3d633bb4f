"""Unknown effects: the turn waits until a person reports whether an effect happened; the question outlives the turn.

The answer counts once, also long after the turn has ended: then it changes the step, and no turn (architecture.md 8).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from libs import ids
from libs.audit.digests import digest, salt
from libs.events import ActionRecorded, ApprovalRequested, EffectResolved, StepState, ToolUnknown
from libs.leases import NewLease
from libs.objects import bodies
from libs.policy import Decision
from services.conversation_worker.domain import digests, messages
from services.conversation_worker.domain.call_results import Result, outcome_of
from services.conversation_worker.turn.context import EXPIRY, TurnContext, recorded
from services.conversation_worker.turn.finish import EFFECT_UNKNOWN
from services.conversation_worker.turn.state import EFFECT, Approval, Outcome, QueuedMessage, StepRun, TurnState
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

ACTION = "effect.resolve"
HAPPENED, DID_NOT_HAPPEN = "happened", "did_not_happen"


@dataclass(frozen=True, slots=True)
class Question:
    """The question whether a step's effect happened."""

    turn_id: str
    approval: Approval
    run: StepRun


def ask(context: TurnContext, uow: UnitOfWork, run: StepRun, result: ToolUnknown) -> None:
    """Ask a person, and hold the turn for as long as the settings say."""
    question = _question(uow.turn.turn_id, run, result)
    uow.ask(question.approval)
    uow.emit(_asked(context, question, result))
    # A turn that is stopping does not wait for the answer; the question stays open after it.
    if uow.turn.outcome is None:
        about = {"turn_id": question.turn_id, "approval_id": question.approval.approval_id}
        uow.start(NewLease(question.approval.approval_id, EXPIRY, about, delay=context.settings.unknown_seconds))


def expire(uow: UnitOfWork, approval: Approval) -> None:
    """End the turn: the question was not answered in time, and stays open."""
    uow.take(Input.EFFECT_EXPIRED, approval.approval_id)
    run = uow.conversation.step_run(approval.step_id or "")
    detail = f"{run.step.description}: {run.error}" if run is not None else ""
    uow.update_turn(outcome=Outcome(state=TurnState.FAILED, reason=EFFECT_UNKNOWN, detail=detail))


async def record_late(context: TurnContext, uow: UnitOfWork, result: Result) -> bool:
    """Record a result that arrives after its turn has ended; return False if it is not news."""
    found = await context.store.abandoned(uow.cause.tenant, uow.session.session_id, result.step_id)
    # Another attempt's result, or one of a turn that still takes its own results.
    if found is None or found[1].call_id != result.call_id or uow.is_active(found[0]):
        return False
    turn_id, run = found
    changed = uow.update_step_of(turn_id, run, **outcome_of(result))
    if isinstance(result, ToolUnknown):
        question = _question(turn_id, changed, result)
        uow.ask_of(turn_id, question.approval)
        uow.emit(_asked(context, question, result))
    return True


async def resolve(context: TurnContext, uow: UnitOfWork, answer: EffectResolved) -> None:
    """Apply a person's finding about an effect."""
    question = await _open(context, uow, answer.approval_id)
    if question is None or question.approval.digest != answer.digest:
        uow.reject_stale(answer, "it is no longer being asked")
        return
    message, run = _message_of(question, answer), question.run
    decision = await context.decide(ACTION, uow, message, verdict=answer.verdict, tool=run.step.tool)
    where = {"resource": answer.approval_id, "turn_id": question.turn_id, "step_id": run.step_id}
    uow.emit(recorded(decision, message, call_id=run.call_id, **where))
    if answer.verdict not in (HAPPENED, DID_NOT_HAPPEN) or not decision.allowed or decision.obligations:
        uow.reject_stale(answer, f"not allowed: {decision.reason}")
        return
    uow.emit(await _outcome(context, uow, question, answer, decision))
    update = await _update(context, uow, answer)
    if uow.is_active(question.turn_id):
        _go_on(uow, question, answer, update)
    else:
        uow.close_approval_of(question.turn_id, question.approval, answer.verdict, **_who(answer))
        uow.update_step_of(question.turn_id, run, **update)


def _go_on(uow: UnitOfWork, question: Question, answer: EffectResolved, update: dict[str, Any]) -> None:
    """Continue the turn that waited for the finding."""
    uow.take(Input.EFFECT_RESOLVED, question.approval.approval_id)
    uow.close_approval(question.approval, answer.verdict, **_who(answer))
    uow.update_step(question.run, **update)
    if answer.verdict == DID_NOT_HAPPEN:
        uow.update_turn(errors=uow.turn.errors + 1)


async def _open(context: TurnContext, uow: UnitOfWork, approval_id: str) -> Question | None:
    """Return the open question, of the turn under way or of one that is over."""
    approval = uow.conversation.approval(approval_id)
    run = uow.conversation.step_run(approval.step_id or "") if approval is not None else None
    if approval is not None and run is not None:
        return Question(uow.turn.turn_id, approval, run) if approval.open and approval.outlives_turn else None
    found = await context.store.question(uow.cause.tenant, uow.session.session_id, approval_id)
    return Question(*found) if found is not None else None


async def _update(context: TurnContext, uow: UnitOfWork, answer: EffectResolved) -> dict[str, Any]:
    """Return the fields of the step that the finding changes."""
    why = f": {answer.reason}" if answer.reason else "."
    if answer.verdict == DID_NOT_HAPPEN:
        return {
            "state": StepState.FAILED,
            "error": f"{EFFECT_UNKNOWN}: a person found that it did not happen{why}"[:2000],
        }
    data = await bodies.store(context.platform.objects, uow.cause.tenant, answer.data)
    summary = f"A person found that it happened{why}"[:2000]
    return {"state": StepState.SUCCEEDED, "data": data, "summary": summary, "error": None}


async def _outcome(
    context: TurnContext, uow: UnitOfWork, question: Question, answer: EffectResolved, decision: Decision
) -> ActionRecorded:
    """Return the audit record of the finding, with a digest of its reason."""
    keys, tenant = context.platform.keys, uow.cause.tenant
    salted = await asyncio.to_thread(salt, keys, tenant, answer.principal) if answer.reason else b""
    return ActionRecorded(
        action=ACTION,
        phase="outcome",
        verdict=answer.verdict,
        principal=answer.principal,
        resource=answer.approval_id,
        rule=decision.rule,
        revision=decision.revision,
        turn_id=question.turn_id,
        step_id=question.run.step_id,
        call_id=question.run.call_id,
        digests={"reason": digest(salted, answer.reason)} if answer.reason else {},
    )


def _question(turn_id: str, run: StepRun, result: ToolUnknown) -> Question:
    approval = Approval(
        approval_id=ids.derived(result.call_id, EFFECT),
        kind=EFFECT,
        digest=digests.digest(EFFECT, result.call_id, result.intent, run.step.tool, run.args),
        step_id=run.step_id,
    )
    return Question(turn_id, approval, run)


def _asked(context: TurnContext, question: Question, result: ToolUnknown) -> ApprovalRequested:
    return ApprovalRequested(
        turn_id=question.turn_id,
        approval_id=question.approval.approval_id,
        kind=EFFECT,
        digest=question.approval.digest,
        title=messages.did_it_happen(question.run.step.description),
        expires_in=context.settings.unknown_seconds,
        step_id=question.run.step_id,
        tool=question.run.step.tool,
        args=question.run.args or {},
        detail=result.reason[:2000],
        intent=result.intent,
    )


def _message_of(question: Question, answer: EffectResolved) -> QueuedMessage:
    """Return a message in the name of the finding's author, for policy."""
    return QueuedMessage(
        message_id=answer.approval_id,
        turn_id=question.turn_id,
        text="",
        principal=answer.principal,
        scopes=answer.scopes,
    )


def _who(answer: EffectResolved) -> dict[str, str]:
    return {"principal": answer.principal, "reason": answer.reason}
