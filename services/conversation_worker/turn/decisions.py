"""Decisions of people: on steps, on the final diff, and cancels. A stale or second answer changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from libs.errors import Rejected
from libs.events import ApprovalDecided, Args, FeedbackGiven, PlanCancelRequested, StepState, TurnCancelRequested
from services.conversation_worker.domain import digests
from services.conversation_worker.turn import approvals, commit, finish, steps, tool_calls, unknown_effects
from services.conversation_worker.turn.context import TurnContext, recorded
from services.conversation_worker.turn.state import ENDED_MOST, Approval, Outcome, StepRun, TurnState
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

VERDICTS = ("approve", "deny", "override")


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, and a person's answer; None if it was not answered in time."""

    approval: Approval
    answer: ApprovalDecided | None


async def decide(context: TurnContext, uow: UnitOfWork, answer: ApprovalDecided) -> None:
    """Apply an answer to an open question, if it is bound to exactly what is still being asked."""
    approval = uow.conversation.approval(answer.approval_id)
    asked = uow.accepts(Input.APPROVAL_DECIDED, answer.approval_id)
    # The digest is compared here, before policy is asked: an answer counts for exactly what was shown.
    if not asked or approval is None or approval.outlives_turn or approval.digest != answer.digest:
        uow.reject_stale(answer, "it is no longer being asked")
        return
    message = uow.turn.message.model_copy(update={"principal": answer.principal, "scopes": answer.scopes})
    decision = await context.decide("approval.decide", uow, message, verdict=answer.verdict)
    uow.emit(
        recorded(decision, message, resource=approval.approval_id, turn_id=uow.turn.turn_id, step_id=approval.step_id)
    )
    if answer.verdict not in VERDICTS or not decision.allowed:
        uow.reject_stale(answer, f"not allowed: {decision.reason}")
        return
    uow.take(Input.APPROVAL_DECIDED, answer.approval_id, Answered(approval, answer))


async def apply(context: TurnContext, uow: UnitOfWork, given: Answered) -> None:
    """Apply a decision that counts, or the lack of one."""
    approval, answer = given.approval, given.answer
    if answer is None:
        await _expired(context, uow, approval)
    elif approval.kind == "commit":
        uow.emit(_feedback(uow, answer))
        await commit.decide(context, uow, approval, answer)
    else:
        await _decide_step(context, uow, approval, answer)


def _feedback(uow: UnitOfWork, answer: ApprovalDecided) -> FeedbackGiven:
    """Return the verdict on a turn's diff as feedback for the memory (S3-12)."""
    return FeedbackGiven(
        subject=uow.turn.turn_id,
        score=-1.0 if answer.verdict == "deny" else 0.0 if answer.verdict == "override" or answer.exclude else 1.0,
        user=answer.principal,
        scopes=answer.scopes,
        comment=answer.reason,
    )


def expire(uow: UnitOfWork, approval_id: str) -> None:
    """Treat a question that was not answered in time as denied."""
    approval = uow.conversation.approval(approval_id)
    if approval is None or not approval.open:
        return
    if approval.outlives_turn:
        unknown_effects.expire(uow, approval)
    else:
        uow.take(Input.APPROVAL_EXPIRED, approval_id, Answered(approval, None))


async def _expired(context: TurnContext, uow: UnitOfWork, approval: Approval) -> None:
    uow.close_approval(approval, "expired")
    if approval.kind == "commit":
        finish.stop(uow, Outcome(state=TurnState.FAILED, reason="APPROVAL_EXPIRED"))
        return
    uow.update_step(_step(uow, approval), state=StepState.DENIED, error="nobody approved it in time")
    await steps.advance(context, uow)


async def _decide_step(context: TurnContext, uow: UnitOfWork, approval: Approval, answer: ApprovalDecided) -> None:
    run = _step(uow, approval)
    if answer.verdict == "deny":
        uow.close_approval(approval, "denied", principal=answer.principal, reason=answer.reason)
        uow.update_step(run, state=StepState.DENIED, error=answer.reason or "a person said no")
    elif not await approvals.still_holds(context, uow, run, approval):
        uow.close_approval(approval, "superseded", principal=answer.principal, reason="what was asked has changed")
        # The check may have ended the step, if its tool or its input is gone.
        if (now := _step(uow, approval)).state is StepState.AWAITING_APPROVAL:
            await approvals.ask_again(context, uow, now)
    elif answer.verdict == "override" or answer.exclude or answer.args is not None:
        await _override(context, uow, approval, answer)
    else:
        uow.close_approval(approval, "approved", principal=answer.principal, reason=answer.reason)
        await steps.attempt(context, uow, run, approval)
    if uow.turn.outcome is None:
        await steps.advance(context, uow)


async def _override(context: TurnContext, uow: UnitOfWork, approval: Approval, answer: ApprovalDecided) -> None:
    """Run the step with the person's exclusions or args, if these fit the tool."""
    run, tenant = _step(uow, approval), uow.cause.tenant
    shown = await tool_calls.unpack_args(context, tenant, run.args or {})
    requested = answer.args if answer.args is not None else shown
    problem = _problem(context, run, shown, requested, answer)
    if problem:
        uow.reject_stale(answer, problem)
        return
    args = await tool_calls.pack_args(context, tenant, digests.without(requested, answer.exclude))
    uow.close_approval(approval, "overridden", principal=answer.principal, reason=answer.reason)
    await steps.attempt(context, uow, uow.update_step(run, args=args, edited=True), approval)


def _problem(context: TurnContext, run: StepRun, shown: Args, requested: Args, answer: ApprovalDecided) -> str:
    """Return why these changes cannot be made; empty if they can."""
    strange = digests.unknown(digests.items(shown), answer.exclude)
    if strange:
        return f"nothing is called {', '.join(strange)}"
    # A person could otherwise name a blob that this turn was never allowed to read.
    if any(map(tool_calls.is_handle, requested.values())):
        return "an argument names a blob"
    tool = context.tool(run.step.tool)
    checked = tool.validate(requested)
    missing = [f"{name} is missing" for name in checked.missing]
    unknown = [f"{name} is unknown" for name in checked.extra]
    return "; ".join((*missing, *unknown, *checked.problems))[:1000]


def _step(uow: UnitOfWork, approval: Approval) -> StepRun:
    run = uow.conversation.step_run(approval.step_id or "")
    if run is None:
        raise Rejected(f"approval {approval.approval_id} is for a step that does not exist")
    return run


def cancel(uow: UnitOfWork, request: TurnCancelRequested) -> None:
    """Cancel the turn under way, a queued one, or one whose message has not arrived yet."""
    cancelled = Outcome(state=TurnState.CANCELLED, reason="CANCELLED", detail=request.reason)
    if any(message.turn_id == request.turn_id for message in uow.session.queue):
        rest = tuple(message for message in uow.session.queue if message.turn_id != request.turn_id)
        uow.update_session(queue=rest)
        uow.end_turn(request.turn_id, cancelled)
    elif uow.accepts(Input.CANCEL, request.turn_id):
        uow.take(Input.CANCEL, request.turn_id)
        # A new epoch makes the questions of the cancelled work stale: their digests name the old one.
        uow.update_session(epoch=uow.session.epoch + 1)
        if uow.turn.state is TurnState.THINKING:
            uow.emit(PlanCancelRequested(request_id=uow.turn.plan_request_id, turn_id=request.turn_id))
        uow.update_turn(outcome=cancelled)
    elif not uow.has_seen(request.turn_id):
        # A cancel is urgent: it may overtake its message.
        uow.update_session(cancelled=(*uow.session.cancelled, request.turn_id)[-ENDED_MOST:])
