"""Effects of which nobody knows whether they happened: the turn waits for a person, and the question outlives the turn.

The answer counts once, also long after the turn has ended: then it changes the step, and no turn (DESIGN §7).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from libs import ids
from libs.audit.digests import digest, salt
from libs.events import ActionRecorded, ApprovalRequested, EffectResolved, ToolUnknown
from libs.events.values import StepState
from libs.leases.ports import Start
from libs.objects import bodies
from libs.policy.ports import Decision
from services.conversation_worker.domain import digests, messages
from services.conversation_worker.domain.call_results import Result, outcome_of
from services.conversation_worker.turn import finish, plan
from services.conversation_worker.turn.context import EXPIRY, Office, recorded
from services.conversation_worker.turn.state import EFFECT, Approval, Ending, QueuedMessage, StepRun, TurnState
from services.conversation_worker.turn.unit_of_work import Scene

ACTION = "effect.resolve"
HAPPENED, DID_NOT_HAPPEN = "happened", "did_not_happen"


@dataclass(frozen=True, slots=True)
class Question:
    """Whether a step's effect happened."""

    turn_id: str
    approval: Approval
    doing: StepRun


def ask(office: Office, scene: Scene, doing: StepRun, result: ToolUnknown) -> None:
    """Put it to a person, and hold the turn for as long as the settings say."""
    question = _question(scene.turn.turn_id, doing, result)
    scene.ask(question.approval)
    scene.say(_asked(office, question, result))
    if scene.turn.ending is None:
        about = {"turn_id": question.turn_id, "approval_id": question.approval.approval_id}
        scene.start(Start(question.approval.approval_id, EXPIRY, about, delay=office.settings.unknown_seconds))


def overdue(office: Office, scene: Scene, approval: Approval) -> None:
    """Nobody has found out in time: the turn ends, and the question stays."""
    doing = scene.talk.doing(approval.step_id or "")
    detail = f"{doing.step.description}: {doing.error}" if doing is not None else ""
    finish.stop(office, scene, Ending(state=TurnState.FAILED, reason=finish.EFFECT_UNKNOWN, detail=detail))


async def late(office: Office, scene: Scene, result: Result) -> bool:
    """A result for a turn that ended without it: it is recorded on its step, if it is news."""
    found = await office.store.abandoned(scene.cause.tenant, scene.session.session_id, result.step_id)
    if found is None or found[1].call_id != result.call_id or scene.active(found[0]):
        return False
    turn_id, doing = found
    changed = scene.set_step_of(turn_id, doing, **outcome_of(result))
    if isinstance(result, ToolUnknown):
        question = _question(turn_id, changed, result)
        scene.ask_of(turn_id, question.approval)
        scene.say(_asked(office, question, result))
    return True


async def resolved(office: Office, scene: Scene, answer: EffectResolved) -> None:
    """A person has found out."""
    question = await _open(office, scene, answer.approval_id)
    if question is None or question.approval.digest != answer.digest:
        scene.void(answer, "it is no longer being asked")
        return
    letter, doing = _letter(question, answer), question.doing
    decision = await office.decide(ACTION, scene, letter, verdict=answer.verdict, tool=doing.step.tool)
    where = {"resource": answer.approval_id, "turn_id": question.turn_id, "step_id": doing.step_id}
    scene.say(recorded(decision, letter, call_id=doing.call_id, **where))
    if answer.verdict not in (HAPPENED, DID_NOT_HAPPEN) or not decision.allowed or decision.obligations:
        scene.void(answer, f"not allowed: {decision.reason}")
        return
    scene.say(await _outcome(office, scene, question, answer, decision))
    update = await _update(office, scene, answer)
    if scene.active(question.turn_id):
        await _go_on(office, scene, question, answer, update)
    else:
        scene.close_approval_of(question.turn_id, question.approval, answer.verdict, **_who(answer))
        scene.set_step_of(question.turn_id, doing, **update)


async def _go_on(
    office: Office, scene: Scene, question: Question, answer: EffectResolved, update: dict[str, Any]
) -> None:
    """The turn was waiting for this."""
    scene.close_approval(question.approval, answer.verdict, **_who(answer))
    scene.set_step(question.doing, **update)
    if answer.verdict == DID_NOT_HAPPEN:
        scene.set_turn(errors=scene.turn.errors + 1)
    await plan.advance(office, scene)


async def _open(office: Office, scene: Scene, approval_id: str) -> Question | None:
    """The question, of the turn under way or of one that is over."""
    approval = scene.talk.approval(approval_id)
    doing = scene.talk.doing(approval.step_id or "") if approval is not None else None
    if approval is not None and doing is not None:
        return Question(scene.turn.turn_id, approval, doing) if approval.open and approval.outlives else None
    found = await office.store.question(scene.cause.tenant, scene.session.session_id, approval_id)
    return Question(*found) if found is not None else None


async def _update(office: Office, scene: Scene, answer: EffectResolved) -> dict[str, Any]:
    """What the answer means for the step."""
    why = f": {answer.reason}" if answer.reason else "."
    if answer.verdict == DID_NOT_HAPPEN:
        return {
            "state": StepState.FAILED,
            "error": f"{finish.EFFECT_UNKNOWN}: a person found that it did not happen{why}"[:2000],
        }
    data = await bodies.store(office.platform.objects, scene.cause.tenant, answer.data)
    summary = f"A person found that it happened{why}"[:2000]
    return {"state": StepState.SUCCEEDED, "data": data, "summary": summary, "error": None}


async def _outcome(
    office: Office, scene: Scene, question: Question, answer: EffectResolved, decision: Decision
) -> ActionRecorded:
    """Who said so, and a digest of why."""
    keys, tenant = office.platform.keys, scene.cause.tenant
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
        step_id=question.doing.step_id,
        call_id=question.doing.call_id,
        digests={"reason": digest(salted, answer.reason)} if answer.reason else {},
    )


def _question(turn_id: str, doing: StepRun, result: ToolUnknown) -> Question:
    approval = Approval(
        approval_id=ids.derived(result.call_id, EFFECT),
        kind=EFFECT,
        digest=digests.digest(EFFECT, result.call_id, result.intent, doing.step.tool, doing.args),
        step_id=doing.step_id,
    )
    return Question(turn_id, approval, doing)


def _asked(office: Office, question: Question, result: ToolUnknown) -> ApprovalRequested:
    return ApprovalRequested(
        turn_id=question.turn_id,
        approval_id=question.approval.approval_id,
        kind=EFFECT,
        digest=question.approval.digest,
        title=messages.did_it_happen(question.doing.step.description),
        expires_in=office.settings.unknown_seconds,
        step_id=question.doing.step_id,
        tool=question.doing.step.tool,
        args=question.doing.args or {},
        detail=result.reason[:2000],
        intent=result.intent,
    )


def _letter(question: Question, answer: EffectResolved) -> QueuedMessage:
    """Whoever answers asks policy in their own name."""
    return QueuedMessage(
        message_id=answer.approval_id,
        turn_id=question.turn_id,
        text="",
        principal=answer.principal,
        scopes=answer.scopes,
    )


def _who(answer: EffectResolved) -> dict[str, str]:
    return {"principal": answer.principal, "reason": answer.reason}
