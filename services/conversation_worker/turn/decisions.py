"""What people decide: approvals of steps and of the final diff, and cancels. A stale or second answer is void."""

from __future__ import annotations

from libs.errors import Rejected
from libs.events import ApprovalDecided, FeedbackGiven, PlanCancelRequested, TurnCancelRequested
from libs.events.values import Args, StepState
from services.conversation_worker.domain import digests
from services.conversation_worker.turn import approvals, commit, finish, plan, tool_calls, unknown_effects
from services.conversation_worker.turn.context import Office, recorded
from services.conversation_worker.turn.state import ENDED_MOST, Approval, Ending, StepRun, TurnState
from services.conversation_worker.turn.unit_of_work import Scene

VERDICTS = ("approve", "deny", "override")


async def decided(office: Office, scene: Scene, answer: ApprovalDecided) -> None:
    """An answer to an open question, if it is to exactly what is still being asked."""
    approval = scene.talk.approval(answer.approval_id)
    here = scene.talk.turn is not None and approval is not None and approval.open and not approval.outlives
    if approval is None or not here or approval.digest != answer.digest:
        scene.void(answer, "it is no longer being asked")
        return
    letter = scene.turn.letter.model_copy(update={"principal": answer.principal, "scopes": answer.scopes})
    decision = await office.decide("approval.decide", scene, letter, verdict=answer.verdict)
    scene.say(
        recorded(decision, letter, resource=approval.approval_id, turn_id=scene.turn.turn_id, step_id=approval.step_id)
    )
    if answer.verdict not in VERDICTS or not decision.allowed:
        scene.void(answer, f"not allowed: {decision.reason}")
    elif approval.kind == "commit":
        scene.say(_feedback(scene, answer))
        await commit.decided(office, scene, approval, answer)
    else:
        await _step_decided(office, scene, approval, answer)


def _feedback(scene: Scene, answer: ApprovalDecided) -> FeedbackGiven:
    """A person's verdict on a turn's diff is what the memory learns from (S3-12)."""
    return FeedbackGiven(
        subject=scene.turn.turn_id,
        score=-1.0 if answer.verdict == "deny" else 0.0 if answer.verdict == "override" or answer.exclude else 1.0,
        user=answer.principal,
        scopes=answer.scopes,
        comment=answer.reason,
    )


async def expired(office: Office, scene: Scene, approval_id: str) -> None:
    """Nobody answered in time: that is a no."""
    approval = scene.talk.approval(approval_id)
    if approval is None or not approval.open:
        return
    if approval.outlives:
        unknown_effects.overdue(office, scene, approval)
        return
    scene.close_approval(approval, "expired")
    if approval.kind == "commit":
        finish.stop(office, scene, Ending(state=TurnState.FAILED, reason="APPROVAL_EXPIRED"))
        return
    scene.set_step(_step(scene, approval), state=StepState.DENIED, error="nobody approved it in time")
    await plan.advance(office, scene)


async def _step_decided(office: Office, scene: Scene, approval: Approval, answer: ApprovalDecided) -> None:
    doing = _step(scene, approval)
    if answer.verdict == "deny":
        scene.close_approval(approval, "denied", principal=answer.principal, reason=answer.reason)
        scene.set_step(doing, state=StepState.DENIED, error=answer.reason or "a person said no")
    elif not await approvals.holds(office, scene, doing, approval):
        scene.close_approval(approval, "superseded", principal=answer.principal, reason="what was asked has changed")
        if (now := _step(scene, approval)).state is StepState.AWAITING_APPROVAL:
            await approvals.ask_again(office, scene, now)
    elif answer.verdict == "override" or answer.exclude or answer.args is not None:
        await _overridden(office, scene, approval, answer)
    else:
        scene.close_approval(approval, "approved", principal=answer.principal, reason=answer.reason)
        await plan.attempt(office, scene, doing, approval)
    if scene.talk.turn is not None and scene.turn.ending is None:
        await plan.advance(office, scene)


async def _overridden(office: Office, scene: Scene, approval: Approval, answer: ApprovalDecided) -> None:
    """Some items excluded, or other args: what the person wrote is what runs, if it fits the tool."""
    doing, tenant = _step(scene, approval), scene.cause.tenant
    shown = await tool_calls.unpacked(office, tenant, doing.args or {})
    wanted = answer.args if answer.args is not None else shown
    problem = _problem(office, doing, shown, wanted, answer)
    if problem:
        scene.void(answer, problem)
        return
    args = await tool_calls.packed(office, tenant, digests.without(wanted, answer.exclude))
    scene.close_approval(approval, "overridden", principal=answer.principal, reason=answer.reason)
    await plan.attempt(office, scene, scene.set_step(doing, args=args, edited=True), approval)


def _problem(office: Office, doing: StepRun, shown: Args, wanted: Args, answer: ApprovalDecided) -> str:
    """Why these changes cannot be made; empty when they can."""
    strange = digests.unknown(digests.items(shown), answer.exclude)
    if strange:
        return f"nothing is called {', '.join(strange)}"
    if any(map(tool_calls.is_handle, wanted.values())):
        return "an argument names a blob"
    tool = office.tool(doing.step.tool)
    checked = tool.validate(wanted)
    missing = [f"{name} is missing" for name in checked.missing]
    unknown = [f"{name} is unknown" for name in checked.extra]
    return "; ".join((*missing, *unknown, *checked.problems))[:1000]


def _step(scene: Scene, approval: Approval) -> StepRun:
    doing = scene.talk.doing(approval.step_id or "")
    if doing is None:
        raise Rejected(f"approval {approval.approval_id} is for a step that does not exist")
    return doing


def cancel(office: Office, scene: Scene, request: TurnCancelRequested) -> None:
    """Stop the turn under way, take a queued one out of the mailbox, or turn a message away before it comes."""
    cancelled = Ending(state=TurnState.CANCELLED, reason="CANCELLED", detail=request.reason)
    if any(letter.turn_id == request.turn_id for letter in scene.session.queue):
        rest = tuple(letter for letter in scene.session.queue if letter.turn_id != request.turn_id)
        scene.set_session(queue=rest)
        scene.end_turn(request.turn_id, cancelled)
    elif scene.active(request.turn_id):
        if scene.turn.ending is None:
            scene.set_session(epoch=scene.session.epoch + 1)
            if scene.turn.state is TurnState.THINKING:
                scene.say(PlanCancelRequested(request_id=plan.request_id(scene.turn), turn_id=request.turn_id))
            finish.stop(office, scene, cancelled)
    elif not scene.knows(request.turn_id):
        # A cancel is urgent: it may overtake its message.
        scene.set_session(cancelled=(*scene.session.cancelled, request.turn_id)[-ENDED_MOST:])
