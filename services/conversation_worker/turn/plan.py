"""Acting: a plan is carried out step by step, as a saga. Each attempt is policed anew, on what its args have become.

Steps that change something run alone, in the order of the plan: they wait for everything before them, and what comes
after waits for them. Steps that only read run side by side.
"""

from __future__ import annotations

from libs import ids
from libs.events import (
    ClarificationRequested,
    PlanApproved,
    PlanProposed,
    PlanRequested,
    PlanUnclear,
)
from libs.events.committee import Task
from libs.events.values import POLICY, Body, StepState, Usage
from libs.leases.ports import Start
from libs.skills import sources
from services.conversation_worker.domain import digests, limits, step_references
from services.conversation_worker.turn import approvals, commit, finish, start, tool_calls
from services.conversation_worker.turn.context import CLARIFICATION, Office
from services.conversation_worker.turn.state import STEP_ENDED, Approval, Ending, StepRun, Turn, TurnState
from services.conversation_worker.turn.tool_calls import Ready
from services.conversation_worker.turn.unit_of_work import Scene


async def propose(office: Office, scene: Scene, approved: PlanApproved) -> None:
    """The committee's plan becomes this round's steps."""
    plan = approved.plan
    turn = scene.set_turn(state=TurnState.ACTING, plan=plan, committee=approved.committee)
    scene.change(
        "plan.add",
        plan_id=plan.plan_id,
        session_id=scene.session.session_id,
        turn_id=turn.turn_id,
        round=turn.round,
        doc=plan.model_dump(mode="json"),
    )
    scene.say(PlanProposed(turn_id=turn.turn_id, plan=plan, reviews=approved.reviews, committee=approved.committee))
    scene.add_steps(*(StepRun(step=step, plan_id=plan.plan_id, round=turn.round) for step in plan.steps))
    await advance(office, scene)


async def advance(office: Office, scene: Scene) -> None:
    """Start whatever can start now; when nothing is left of the round, conclude it."""
    if scene.turn.ending is not None:
        finish.wind_down(office, scene)
        return
    if scene.doubtful:
        # An unknown effect holds the turn: whatever came next might rest on it.
        return
    for planned in scene.talk.current():
        doing = scene.talk.doing(planned.step_id) or planned
        if doing.state is StepState.PENDING:
            await _start(office, scene, doing)
            if scene.turn.ending is not None:
                return
    left = [doing for doing in scene.talk.current() if doing.state not in STEP_ENDED]
    if left and all(doing.state is StepState.PENDING for doing in left):
        # Nothing is under way that could make them ready: whatever they wait for will not come.
        for doing in left:
            scene.set_step(doing, state=StepState.SKIPPED, error=step_references.DependencyUnavailable.code)
        left = []
    if not left:
        await conclude(office, scene)


async def _start(office: Office, scene: Scene, doing: StepRun) -> None:
    reason = limits.before_call(scene.turn, office.settings.limits)
    if reason is not None:
        finish.stop(office, scene, Ending(state=TurnState.FAILED, reason=reason))
        return
    states = {other.step.ordinal: other.state for other in scene.talk.current()}
    if step_references.blocked(doing.step, states):
        scene.set_step(doing, state=StepState.SKIPPED, error=step_references.DependencyUnavailable.code)
    elif step_references.ready(doing.step, states) and _in_turn(scene, doing):
        await attempt(office, scene, doing)


def _in_turn(scene: Scene, doing: StepRun) -> bool:
    """A barrier stands before and behind each step that changes something."""
    earlier = [
        other
        for other in scene.talk.current()
        if other.step.ordinal < doing.step.ordinal and other.state not in STEP_ENDED
    ]
    return not any(other.step.mutates for other in earlier) and not (doing.step.mutates and earlier)


async def conclude(office: Office, scene: Scene) -> None:
    """The round's steps have ended: think again, have the diff decided, or answer."""
    turn = scene.turn
    if turn.plan is not None and not turn.plan.complete:
        reason = limits.before_thought(scene.set_turn(round=turn.round + 1), office.settings.limits)
        if reason is not None:
            finish.stop(office, scene, Ending(state=TurnState.FAILED, reason=reason))
        else:
            start.gather(office, scene)
    elif turn.dirty:
        await commit.ask(office, scene)
    else:
        finish.answer(scene)


def think(scene: Scene, task: Task) -> None:
    """Ask the committee for a plan."""
    turn = scene.set_turn(state=TurnState.THINKING, working=None, asked=scene.turn.asked + 1)
    scene.say(PlanRequested(request_id=request_id(turn), turn_id=turn.turn_id, round=turn.round, task=task))


def request_id(turn: Turn) -> str:
    return ids.derived(turn.turn_id, "plan", str(turn.asked))


def thought(office: Office, scene: Scene, usage: Usage) -> None:
    """The committee has answered: what that cost, and how long it took."""
    turn = scene.turn
    took = max(0.0, office.now().timestamp() - turn.since) if turn.since is not None else 0.0
    scene.set_turn(usage=turn.usage.plus(usage), worked=turn.worked + took, since=None)


def ask_back(office: Office, scene: Scene, unclear: PlanUnclear) -> None:
    """The request is unclear: the next message is the answer (S4-32, S4-46)."""
    turn = scene.turn
    wait = ids.derived(scene.cause.id, CLARIFICATION)
    scene.set_turn(state=TurnState.AWAITING_CLARIFICATION, working=wait)
    scene.start(Start(wait, CLARIFICATION, {"turn_id": turn.turn_id}, delay=office.settings.clarification_seconds))
    scene.say(
        ClarificationRequested(
            turn_id=turn.turn_id,
            question=unclear.question[:2000],
            candidates=unclear.candidates[:10],
            missing=unclear.missing[:20],
        )
    )


async def attempt(office: Office, scene: Scene, doing: StepRun, answered: Approval | None = None) -> None:
    """Try a step: resolve its args, ask policy, then run it, or ask a person first. `answered` is a person's yes."""
    ready = await tool_calls.prepare(office, scene, doing)
    if ready is None:
        return
    if answered is None and _idle(doing, ready):
        # Nobody is asked to agree to nothing.
        nothing = Body(json={"files": 0})
        scene.set_step(doing, state=StepState.SUCCEEDED, args=ready.args, data=nothing, summary="Nothing to do.")
        return
    if digests.of_call(ready.tool.name, ready.args) == scene.turn.last_call:
        repeated = Ending(state=TurnState.FAILED, reason="REPEATED_CALL", detail=doing.step.description)
        finish.stop(office, scene, repeated)
        return
    decision = await tool_calls.policed(office, scene, doing, ready, approved=answered is not None)
    if not decision.allowed:
        tool_calls.fail_step(scene, doing, StepState.DENIED, f"{POLICY} {decision.reason}")
    elif not decision.obligations:
        tool_calls.run(office, scene, doing, ready, decision, answered.approval_id if answered else None)
    elif answered is None:
        await approvals.ask(office, scene, doing, ready, decision)
    else:
        tool_calls.fail_step(
            scene, doing, StepState.DENIED, f"{POLICY} {', '.join(decision.obligations)} is still owed"
        )


def _idle(doing: StepRun, ready: Ready) -> bool:
    """Is it a change to whatever a step before finds, and that found nothing?"""
    needed = {need.param for need in ready.tool.needs}
    if ready.tool.in_workspace:
        needed |= {name for name, value in doing.step.args.items() if sources(value)}
    return ready.tool.mutates and any(ready.args.get(name) == [] for name in needed)
