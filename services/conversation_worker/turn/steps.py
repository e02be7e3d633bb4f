"""The steps of a plan, run as a saga. Policy decides each attempt anew, on its resolved args.

Steps that change something run alone, in the order of the plan: they wait for everything before them, and what comes
after waits for them. Steps that only read run side by side, but none starts while a person is asked about a step.
"""

from __future__ import annotations

from libs.events import POLICY, Body, StepState
from libs.skills import sources
from services.conversation_worker.domain import digests, limits, step_references
from services.conversation_worker.turn import approvals, finish, tool_calls
from services.conversation_worker.turn.context import TurnContext
from services.conversation_worker.turn.state import STEP_ENDED, Approval, Outcome, StepRun, TurnState
from services.conversation_worker.turn.tool_calls import Ready
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork


async def advance(context: TurnContext, uow: UnitOfWork, _: object = None) -> None:
    """Start every step that can start now; once all have ended, conclude the round."""
    if uow.turn.outcome is not None:
        finish.when_idle(uow)
        return
    if uow.has_unknown_effect:
        # An unknown effect holds the turn: whatever came next might rest on it.
        return
    for planned in uow.conversation.current():
        # Read again: starting an earlier step may have changed this one.
        run = uow.conversation.step_run(planned.step_id) or planned
        if run.state is StepState.PENDING:
            await _start(context, uow, run)
            if uow.turn.outcome is not None:
                return
    left = [run for run in uow.conversation.current() if run.state not in STEP_ENDED]
    if left and all(run.state is StepState.PENDING for run in left):
        # Nothing is under way that could make them ready: whatever they wait for will not come.
        for run in left:
            uow.update_step(run, state=StepState.SKIPPED, error=step_references.DependencyUnavailable.code)
        left = []
    if not left:
        conclude(context, uow)


async def _start(context: TurnContext, uow: UnitOfWork, run: StepRun) -> None:
    # Before each call, not each round: one plan alone may exceed the limits.
    limit = limits.before_call(uow.turn, context.settings.limits)
    if limit is not None:
        finish.stop(uow, limit)
        return
    states = {other.step.ordinal: other.state for other in uow.conversation.current()}
    if step_references.blocked(run.step, states):
        uow.update_step(run, state=StepState.SKIPPED, error=step_references.DependencyUnavailable.code)
    elif step_references.ready(run.step, states) and _in_turn(uow, run):
        await attempt(context, uow, run)


def _in_turn(uow: UnitOfWork, run: StepRun) -> bool:
    """Return whether the step may run now: a step that changes something runs alone, in the order of the plan, and none
    while a person is asked about another, so that a turn has one open question and an answer concerns what was shown.
    """
    steps = uow.conversation.current()
    if any(other.state is StepState.AWAITING_APPROVAL for other in steps):
        return False
    earlier = [other for other in steps if other.step.ordinal < run.step.ordinal and other.state not in STEP_ENDED]
    return not any(other.step.mutates for other in earlier) and not (run.step.mutates and earlier)


def conclude(context: TurnContext, uow: UnitOfWork) -> None:
    """End the round: plan again, ask about the diff, or answer."""
    turn = uow.turn
    if turn.plan is not None and not turn.plan.complete:
        limit = limits.before_thought(uow.update_turn(round=turn.round + 1), context.settings.limits)
        if limit is not None and turn.dirty:
            # Each round was carried out whole, so a person decides whether what is staged is worth keeping.
            uow.update_turn(round=turn.round, limit=limit, plan=turn.plan.model_copy(update={"complete": True}))
        elif limit is not None:
            finish.stop(uow, limit)
            return
    uow.take(Input.ROUND_ENDED)


async def attempt(context: TurnContext, uow: UnitOfWork, run: StepRun, answered: Approval | None = None) -> None:
    """Try a step: resolve its args, ask policy, then run it, or ask a person first. `answered` is an approval."""
    ready = await tool_calls.prepare(context, uow, run)
    if ready is None:
        return
    if answered is None and _has_nothing_to_do(run, ready):
        # Nobody is asked to agree to nothing.
        nothing = Body(json={"files": 0})
        uow.update_step(run, state=StepState.SUCCEEDED, args=ready.args, data=nothing, summary="Nothing to do.")
        return
    # The same call twice in a row means a planner that makes no progress.
    if digests.of_call(ready.tool.name, ready.args) == uow.turn.last_call:
        repeated = Outcome(state=TurnState.FAILED, reason="REPEATED_CALL", detail=run.step.description)
        finish.stop(uow, repeated)
        return
    decision = await tool_calls.decide_call(context, uow, run, ready, approved=answered is not None)
    run = tool_calls.with_verdict(run, decision)
    if not decision.allowed:
        tool_calls.fail_step(uow, run, StepState.DENIED, f"{POLICY} {decision.reason}")
    elif not decision.obligations:
        tool_calls.send_call(context, uow, run, ready, decision, answered.approval_id if answered else None)
    elif answered is None:
        await approvals.ask(context, uow, run, ready, decision)
    else:
        # The person has agreed already, so asking again could not meet it.
        tool_calls.fail_step(uow, run, StepState.DENIED, f"{POLICY} {', '.join(decision.obligations)} is still owed")


def _has_nothing_to_do(run: StepRun, ready: Ready) -> bool:
    """Return whether the step would change what an earlier step found, and that found nothing."""
    needed = {need.param for need in ready.tool.needs}
    if ready.tool.in_workspace:
        needed |= {name for name, value in run.step.args.items() if sources(value)}
    return ready.tool.mutates and any(ready.args.get(name) == [] for name in needed)
