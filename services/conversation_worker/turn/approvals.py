"""Questions to people: a step, or the diff, that waits for a yes. Its answer counts for exactly what was shown."""

from __future__ import annotations

from libs import ids
from libs.events import ApprovalRequested
from libs.events.values import POLICY, StepState
from libs.leases.ports import Start
from libs.policy.ports import Decision
from libs.skills import sources
from services.conversation_worker.domain import digests, event_sizes, match_lines, reasons
from services.conversation_worker.turn import tool_calls
from services.conversation_worker.turn.context import EXPIRY, Office, undo_of
from services.conversation_worker.turn.state import Approval, StepRun
from services.conversation_worker.turn.tool_calls import Ready
from services.conversation_worker.turn.unit_of_work import Scene


async def ask_again(office: Office, scene: Scene, doing: StepRun) -> None:
    """What a person answered is no longer what would run: it is put to them anew, as it is now (A22a)."""
    ready = await tool_calls.prepare(office, scene, doing)
    if ready is None:
        return
    decision = await tool_calls.policed(office, scene, doing, ready, approved=False)
    if decision.allowed:
        await ask(office, scene, doing, ready, decision)
    else:
        tool_calls.fail_step(scene, doing, StepState.DENIED, f"{POLICY} {decision.reason}")


async def holds(office: Office, scene: Scene, doing: StepRun, approval: Approval) -> bool:
    """Is what was asked still exactly what would run?"""
    ready = await tool_calls.prepare(office, scene, doing)
    if ready is None:
        return False
    decision = await tool_calls.police(office, scene, ready.tool, ready.args, approved=False)
    return decision.allowed and bound(scene, ready, decision) == approval.digest


async def ask(office: Office, scene: Scene, doing: StepRun, ready: Ready, decision: Decision) -> None:
    """Ask a person. What is shown is what the answer will count for."""
    full = await tool_calls.unpacked(office, scene.cause.tenant, ready.args)
    approval = Approval(
        approval_id=ids.derived(scene.cause.id, "approval", doing.step_id),
        kind="step",
        digest=bound(scene, ready, decision),
        step_id=doing.step_id,
        items=event_sizes.items(digests.items(full)),
    )
    scene.ask(approval)
    scene.set_step(doing, state=StepState.AWAITING_APPROVAL, args=ready.args, approval_id=approval.approval_id)
    wait(office, scene, approval)
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
            diff=event_sizes.diff(scene.turn.diff),
            undo=undo_of(ready.tool, ready.args),
            rule=decision.rule,
            detail=match_lines.leaves_out(reasons.shown(_feeding(scene, doing))),
        )
    )


def _feeding(scene: Scene, doing: StepRun) -> list[StepRun]:
    """The steps from which this one takes what it is done to."""
    ordinals = {*doing.step.depends_on, *sources(doing.step.args)}
    return [other for other in scene.talk.current() if other.step.ordinal in ordinals]


def bound(scene: Scene, ready: Ready, decision: Decision) -> str:
    """What an answer to this question would count for."""
    return digests.of_step(
        args=ready.args,
        tool=ready.tool.name,
        plan=tool_calls.plan_of(scene),
        rule=decision.rule,
        obligations=decision.obligations,
        epoch=scene.session.epoch,
    )


def wait(office: Office, scene: Scene, approval: Approval) -> None:
    """An answer is waited for as long as the settings say."""
    about = {"turn_id": scene.turn.turn_id, "approval_id": approval.approval_id}
    scene.start(Start(approval.approval_id, EXPIRY, about, delay=office.settings.approval_seconds))
