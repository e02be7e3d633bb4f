"""Acting: a plan is carried out step by step, as a saga. Each attempt is policed anew, on what its args have become.

Steps that change something run alone, in the order of the plan: they wait for everything before them, and what comes
after waits for them. Steps that only read run side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

from libs import ids
from libs.errors import NotFound, Rejected
from libs.events import ActionRecorded, ApprovalRequested, PlanApproved, PlanProposed
from libs.events.values import POLICY, Args, Body, Plan, StepState
from libs.policy.ports import Decision
from libs.skills import ToolDefinition, sources
from services.conversation_worker import calling, committing, ending, turns
from services.conversation_worker.domain import binding, bounds, limits, quoted, reasons, references
from services.conversation_worker.domain.talk import Approval, Doing, Ending, TurnState
from services.conversation_worker.office import Office, recorded, undo_of
from services.conversation_worker.scene import ENDED, Scene


class ToolChanged(Rejected):
    """The tool is not the one that this was planned with."""

    code = "TOOL_CHANGED"


@dataclass(frozen=True, slots=True)
class Ready:
    """A step that could be called: its tool, and its args as resolved."""

    tool: ToolDefinition
    args: Args


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
    scene.add_steps(*(Doing(step=step, plan_id=plan.plan_id, round=turn.round) for step in plan.steps))
    await advance(office, scene)


async def advance(office: Office, scene: Scene) -> None:
    """Start whatever can start now; when nothing is left of the round, conclude it."""
    if scene.turn.ending is not None:
        ending.wind_down(office, scene)
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
    left = [doing for doing in scene.talk.current() if doing.state not in ENDED]
    if left and all(doing.state is StepState.PENDING for doing in left):
        # Nothing is under way that could make them ready: whatever they wait for will not come.
        for doing in left:
            scene.set_step(doing, state=StepState.SKIPPED, error=references.DependencyUnavailable.code)
        left = []
    if not left:
        await conclude(office, scene)


async def _start(office: Office, scene: Scene, doing: Doing) -> None:
    reason = limits.before_call(scene.turn, office.settings.limits)
    if reason is not None:
        ending.stop(office, scene, Ending(state=TurnState.FAILED, reason=reason))
        return
    states = {other.step.ordinal: other.state for other in scene.talk.current()}
    if references.blocked(doing.step, states):
        scene.set_step(doing, state=StepState.SKIPPED, error=references.DependencyUnavailable.code)
    elif references.ready(doing.step, states) and _in_turn(scene, doing):
        await attempt(office, scene, doing)


def _in_turn(scene: Scene, doing: Doing) -> bool:
    """A barrier stands before and behind each step that changes something."""
    earlier = [
        other for other in scene.talk.current() if other.step.ordinal < doing.step.ordinal and other.state not in ENDED
    ]
    return not any(other.step.mutates for other in earlier) and not (doing.step.mutates and earlier)


async def attempt(office: Office, scene: Scene, doing: Doing, answered: Approval | None = None) -> None:
    """Try a step: resolve its args, ask policy, then run it, or ask a person first. `answered` is a person's yes."""
    ready = await prepare(office, scene, doing)
    if ready is None:
        return
    if answered is None and _idle(doing, ready):
        # Nobody is asked to agree to nothing.
        nothing = Body(json={"files": 0})
        scene.set_step(doing, state=StepState.SUCCEEDED, args=ready.args, data=nothing, summary="Nothing to do.")
        return
    if binding.of_call(ready.tool.name, ready.args) == scene.turn.last_call:
        repeated = Ending(state=TurnState.FAILED, reason="REPEATED_CALL", detail=doing.step.description)
        ending.stop(office, scene, repeated)
        return
    decision = await _policed(office, scene, doing, ready, approved=answered is not None)
    if not decision.allowed:
        _failed(scene, doing, StepState.DENIED, f"{POLICY} {decision.reason}")
    elif not decision.obligations:
        run(office, scene, doing, ready, decision, answered.approval_id if answered else None)
    elif answered is None:
        await ask(office, scene, doing, ready, decision)
    else:
        _failed(scene, doing, StepState.DENIED, f"{POLICY} {', '.join(decision.obligations)} is still owed")


def _idle(doing: Doing, ready: Ready) -> bool:
    """Is it a change to whatever a step before finds, and that found nothing?"""
    needed = {need.param for need in ready.tool.needs}
    if ready.tool.in_workspace:
        needed |= {name for name, value in doing.step.args.items() if sources(value)}
    return ready.tool.mutates and any(ready.args.get(name) == [] for name in needed)


async def ask_again(office: Office, scene: Scene, doing: Doing) -> None:
    """What a person answered is no longer what would run: it is put to them anew, as it is now (A22a)."""
    ready = await prepare(office, scene, doing)
    if ready is None:
        return
    decision = await _policed(office, scene, doing, ready, approved=False)
    if decision.allowed:
        await ask(office, scene, doing, ready, decision)
    else:
        _failed(scene, doing, StepState.DENIED, f"{POLICY} {decision.reason}")


async def holds(office: Office, scene: Scene, doing: Doing, approval: Approval) -> bool:
    """Is what was asked still exactly what would run?"""
    ready = await prepare(office, scene, doing)
    if ready is None:
        return False
    decision = await calling.police(office, scene, ready.tool, ready.args, approved=False)
    return decision.allowed and bound(scene, ready, decision) == approval.digest


async def prepare(office: Office, scene: Scene, doing: Doing) -> Ready | None:
    """The step's tool and args; None when it can never be called, and the step says why."""
    try:
        tool = office.tool(doing.step.tool)
        edited = doing.args if doing.edited else None
        if doing.step.tool_digest not in (None, tool.digest):
            raise ToolChanged(f"{tool.name} has changed since this was planned; ask again to have it planned anew")
        args = edited if edited is not None else await calling.resolved(office, scene, doing)
    except references.DependencyUnavailable as error:
        scene.set_step(doing, state=StepState.SKIPPED, error=error.code)
        return None
    except (NotFound, ToolChanged) as error:
        _failed(scene, doing, StepState.FAILED, str(error))
        return None
    if calling.too_large(args):
        _failed(scene, doing, StepState.FAILED, "the args are too large")
        return None
    return Ready(tool, args)


async def ask(office: Office, scene: Scene, doing: Doing, ready: Ready, decision: Decision) -> None:
    """Ask a person. What is shown is what the answer will count for."""
    full = await calling.unpacked(office, scene.cause.tenant, ready.args)
    approval = Approval(
        approval_id=ids.derived(scene.cause.id, "approval", doing.step_id),
        kind="step",
        digest=bound(scene, ready, decision),
        step_id=doing.step_id,
        items=bounds.items(binding.items(full)),
    )
    scene.ask(approval)
    scene.set_step(doing, state=StepState.AWAITING_APPROVAL, args=ready.args, approval_id=approval.approval_id)
    committing.wait(office, scene, approval)
    scene.say(
        ApprovalRequested(
            turn_id=scene.turn.turn_id,
            approval_id=approval.approval_id,
            kind="step",
            digest=approval.digest,
            title=doing.step.description[:500],
            expires_in=office.settings.approval_seconds,
            step_id=doing.step_id,
            tool=ready.tool.name,
            args=ready.args,
            items=approval.items,
            diff=bounds.diff(scene.turn.diff),
            undo=undo_of(ready.tool, ready.args),
            rule=decision.rule,
            detail=quoted.leaves_out(reasons.shown(_feeding(scene, doing))),
        )
    )


def _feeding(scene: Scene, doing: Doing) -> list[Doing]:
    """The steps from which this one takes what it is done to."""
    ordinals = {*doing.step.depends_on, *sources(doing.step.args)}
    return [other for other in scene.talk.current() if other.step.ordinal in ordinals]


def bound(scene: Scene, ready: Ready, decision: Decision) -> str:
    """What an answer to this question would count for."""
    return binding.of_step(
        args=ready.args,
        tool=ready.tool.name,
        plan=_plan(scene),
        rule=decision.rule,
        obligations=decision.obligations,
        epoch=scene.session.epoch,
    )


def run(
    office: Office, scene: Scene, doing: Doing, ready: Ready, decision: Decision, approval_id: str | None = None
) -> None:
    """Send the call, with a grant for exactly this."""
    call_id, tool, args = ids.derived(scene.cause.id, "call", doing.step_id), ready.tool.name, ready.args
    request = calling.request(
        office, scene, call_id=call_id, step_id=doing.step_id, tool=tool, args=args, approval_id=approval_id
    ).model_copy(update={"ordinal": doing.step.ordinal, "skill": doing.step.skill, "plan_id": doing.plan_id})
    request = request.model_copy(update={"tool_digest": ready.tool.digest})
    scene.set_turn(calls=scene.turn.calls + 1, last_call=binding.of_call(tool, args), revision=decision.revision)
    scene.set_step(doing, state=StepState.RUNNING, call_id=call_id, args=args, started=office.now().timestamp())
    scene.say(calling.granted(office, scene, request, revision=decision.revision))


async def conclude(office: Office, scene: Scene) -> None:
    """The round's steps have ended: think again, have the diff decided, or answer."""
    turn = scene.turn
    if turn.plan is not None and not turn.plan.complete:
        reason = limits.before_thought(scene.set_turn(round=turn.round + 1), office.settings.limits)
        if reason is not None:
            ending.stop(office, scene, Ending(state=TurnState.FAILED, reason=reason))
        else:
            turns.gather(office, scene)
    elif turn.dirty:
        await committing.ask(office, scene)
    else:
        turns.answer(scene)


async def _policed(office: Office, scene: Scene, doing: Doing, ready: Ready, *, approved: bool) -> Decision:
    """Policy's word on this attempt, recorded with what it leads to."""
    decision = await calling.police(office, scene, ready.tool, ready.args, approved=approved)
    scene.say(_about(scene, doing, decision))
    return decision


def _failed(scene: Scene, doing: Doing, state: StepState, error: str) -> None:
    scene.set_turn(errors=scene.turn.errors + 1)
    scene.set_step(doing, state=state, error=error)


def _about(scene: Scene, doing: Doing, decision: Decision) -> ActionRecorded:
    return recorded(
        decision, scene.turn.letter, resource=doing.step.tool, turn_id=scene.turn.turn_id, step_id=doing.step_id
    )


def _plan(scene: Scene) -> Plan:
    if scene.turn.plan is None:
        raise LookupError("the turn has no plan")
    return scene.turn.plan
