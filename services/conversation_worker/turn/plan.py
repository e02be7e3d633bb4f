"""The plan: run what the committee approved, ask the person about what is unclear, or stop.

Its steps are run by `steps`.
"""

from __future__ import annotations

from libs import ids
from libs.events import ClarificationRequested, Plan, PlanApproved, PlanProposed, PlanRejected, PlanUnclear, Usage
from libs.hooks import HOOK_REFUSED, Point
from libs.leases import NewLease
from services.conversation_worker.domain import limits, reasons
from services.conversation_worker.turn.context import CLARIFICATION, TurnContext
from services.conversation_worker.turn.finish import Answer
from services.conversation_worker.turn.state import Outcome, StepRun, TurnState
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

COMMITTEE_SAYS_NO = ("COMMITTEE_REJECTED", "POLICY_UNAVAILABLE", "POLICY_DENIED")
NO_FOLDER = "This session has no folder to work in. Start one in a folder, as with `suma run … --in DIR`."


async def approve(context: TurnContext, uow: UnitOfWork, approved: PlanApproved) -> None:
    """Take an approved plan: run its steps, or give its answer."""
    _record_planning(context, uow, approved.usage)
    uow.update_turn(wish=approved.wish or uow.turn.wish)
    answer, reason = approved.answer, reasons.of_answer(approved)
    if uow.session.root is None and _needs_folder(context, approved.plan):
        answer, reason = NO_FOLDER, reasons.DECLINED
    elif approved.plan.steps or answer is None:
        tools = tuple(step.tool for step in approved.plan.steps)
        refusal = await context.gate(Point.PLAN_APPROVED, uow, uow.turn.message, tools=tools)
        if refusal is not None:
            uow.take(Input.PLAN_REJECTED, approved.request_id)
            uow.update_turn(outcome=Outcome(state=TurnState.REFUSED, reason=HOOK_REFUSED, detail=refusal))
            return
        # Its effects are performed after this returns: by then there are steps to advance.
        uow.take(Input.PLAN_APPROVED, approved.request_id)
        _propose(uow, approved)
        return
    uow.take(Input.PLAN_ANSWERED, approved.request_id, Answer(answer, reason))


async def reject(context: TurnContext, uow: UnitOfWork, rejected: PlanRejected) -> None:
    """Stop the turn: the committee has no plan for it. At the limit of calls, first offer what earlier plans staged."""
    _record_planning(context, uow, rejected.usage)
    state = TurnState.REFUSED if rejected.code in COMMITTEE_SAYS_NO else TurnState.FAILED
    over = Outcome(state=state, reason=rejected.code, detail=rejected.reason)
    if rejected.code == limits.CALLS:
        over = limits.reached(limits.CALLS, context.settings.limits, rejected.reason)
        if uow.turn.dirty:
            uow.update_turn(limit=over)
            uow.take(Input.PLAN_ANSWERED, rejected.request_id)
            return
    uow.take(Input.PLAN_REJECTED, rejected.request_id)
    uow.update_turn(outcome=over)


async def ask_clarification(context: TurnContext, uow: UnitOfWork, unclear: PlanUnclear) -> None:
    """Ask the person about an unclear request; the next message is the answer (S4-32, S4-46)."""
    _record_planning(context, uow, unclear.usage)
    turn = uow.turn
    wait = ids.derived(uow.cause.id, CLARIFICATION)
    uow.update_turn(working=wait)
    uow.start(NewLease(wait, CLARIFICATION, {"turn_id": turn.turn_id}, delay=context.settings.clarification_seconds))
    uow.emit(
        ClarificationRequested(
            turn_id=turn.turn_id,
            question=unclear.question[:2000],
            candidates=unclear.candidates[:10],
            missing=unclear.missing[:20],
            offers=unclear.offers[:10],
        )
    )


def _needs_folder(context: TurnContext, proposed: Plan) -> bool:
    """Return whether a step works in the session's folder. Tools from outside need none."""
    named = {step.tool for step in proposed.steps}
    return not named <= {tool.name for tool in context.platform.skills.tools if not tool.in_workspace}


def _propose(uow: UnitOfWork, approved: PlanApproved) -> None:
    """Add the committee's plan as the steps of this round."""
    plan = approved.plan
    turn = uow.update_turn(plan=plan, committee=approved.committee)
    uow.emit(
        PlanProposed(
            turn_id=turn.turn_id,
            plan=plan,
            reviews=approved.reviews,
            committee=approved.committee,
            drafts=approved.drafts,
            marks=tuple(mark for mark in uow.session.marks if (mark.turn_id, mark.step_id) == (turn.turn_id, "")),
        )
    )
    uow.add_steps(*(StepRun(step=step, plan_id=plan.plan_id, round=turn.round) for step in plan.steps))


def _record_planning(context: TurnContext, uow: UnitOfWork, usage: Usage) -> None:
    """Record what the committee's answer cost, and how long it took."""
    turn = uow.turn
    took = max(0.0, context.now().timestamp() - turn.since) if turn.since is not None else 0.0
    uow.update_turn(usage=turn.usage.plus(usage), worked=turn.worked + took, since=None)
