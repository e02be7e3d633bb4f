"""Approvals: ask a person about a step. The answer counts only for exactly what was shown."""

from __future__ import annotations

from libs import ids
from libs.events import POLICY, ApprovalRequested, Mark, StepState
from libs.leases import NewLease
from libs.policy import Decision
from libs.skills import sources
from services.conversation_worker.domain import digests, event_sizes, match_lines, reasons
from services.conversation_worker.turn import tool_calls
from services.conversation_worker.turn.context import EXPIRY, TurnContext, undo_of
from services.conversation_worker.turn.state import Approval, StepRun
from services.conversation_worker.turn.tool_calls import Ready
from services.conversation_worker.turn.unit_of_work import UnitOfWork


async def ask_again(context: TurnContext, uow: UnitOfWork, run: StepRun) -> None:
    """Ask a person again: the call is no longer the one that they approved (A22a)."""
    ready = await tool_calls.prepare(context, uow, run)
    if ready is None:
        return
    decision = await tool_calls.decide_call(context, uow, run, ready, approved=False)
    run = tool_calls.with_verdict(run, decision)
    if decision.allowed:
        await ask(context, uow, run, ready, decision)
    else:
        tool_calls.fail_step(uow, run, StepState.DENIED, f"{POLICY} {decision.reason}")


async def still_holds(context: TurnContext, uow: UnitOfWork, run: StepRun, approval: Approval) -> bool:
    """Return whether the call that was shown is still exactly the one that would run."""
    ready = await tool_calls.prepare(context, uow, run)
    if ready is None:
        return False
    # Asked without the approval, as when the question was made: the digest binds that decision.
    decision = await tool_calls.ask_policy(context, uow, ready.tool, ready.args, approved=False)
    return decision.allowed and digest_of(uow, ready, decision) == approval.digest


async def ask(context: TurnContext, uow: UnitOfWork, run: StepRun, ready: Ready, decision: Decision) -> None:
    """Ask a person about a step. The answer is bound to what is shown."""
    # In full: a person decides about items, not about the handle of a blob.
    full = await tool_calls.unpack_args(context, uow.cause.tenant, ready.args)
    approval = Approval(
        approval_id=ids.derived(uow.cause.id, "approval", run.step_id),
        kind="step",
        digest=digest_of(uow, ready, decision),
        step_id=run.step_id,
        items=event_sizes.items(digests.items(full)),
    )
    uow.ask(approval)
    uow.update_step(run, state=StepState.AWAITING_APPROVAL, args=ready.args, approval_id=approval.approval_id)
    start_expiry(context, uow, approval)
    uow.emit(
        ApprovalRequested(
            turn_id=uow.turn.turn_id,
            approval_id=approval.approval_id,
            kind="step",
            digest=approval.digest,
            title=run.step.description[:500],
            expires_in=context.settings.approval_seconds,
            step_id=run.step_id,
            tool=ready.tool.name,
            args=ready.args,
            items=approval.items,
            diff=event_sizes.diff(uow.turn.diff),
            undo=undo_of(ready.tool, ready.args),
            rule=decision.rule,
            detail=match_lines.leaves_out(reasons.shown(_sources_of(uow, run))),
            because=_because(uow, decision),
        )
    )


def _because(uow: UnitOfWork, decision: Decision) -> tuple[Mark, ...]:
    """Return what the session has read for which policy wants a person to see the payload."""
    shown = "human_sees_payload" in decision.obligations
    return tuple(mark for mark in uow.session.marks if shown and mark.kind != "private")


def _sources_of(uow: UnitOfWork, run: StepRun) -> list[StepRun]:
    """Return the steps whose results are the input of this one."""
    ordinals = {*run.step.depends_on, *sources(run.step.args)}
    return [other for other in uow.conversation.current() if other.step.ordinal in ordinals]


def digest_of(uow: UnitOfWork, ready: Ready, decision: Decision) -> str:
    """Return the digest that an answer to this question is bound to."""
    return digests.of_step(
        args=ready.args,
        tool=ready.tool.name,
        plan=tool_calls.plan_of(uow),
        rule=decision.rule,
        obligations=decision.obligations,
        epoch=uow.session.epoch,
    )


def start_expiry(context: TurnContext, uow: UnitOfWork, approval: Approval) -> None:
    """Start the wait after which an unanswered question expires."""
    about = {"turn_id": uow.turn.turn_id, "approval_id": approval.approval_id}
    uow.start(NewLease(approval.approval_id, EXPIRY, about, delay=context.settings.approval_seconds))
