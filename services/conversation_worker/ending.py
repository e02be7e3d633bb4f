"""A turn that is to end: nothing new starts, what is under way ends first, what is staged is dropped."""

from __future__ import annotations

from libs import ids
from libs.events import ToolCancelRequested
from libs.events.values import Args, StepState
from services.conversation_worker import calling, turns
from services.conversation_worker.domain.talk import Ending, Letter, TurnState
from services.conversation_worker.office import COMMIT, DROP, Office, recorded
from services.conversation_worker.scene import Scene

EFFECT_UNKNOWN = "EFFECT_UNKNOWN"
BUSY = (TurnState.COMMITTING, TurnState.DROPPING, TurnState.ROLLING_BACK, TurnState.RESTORING)
"""The executor works on the workspace for the turn itself, and will tell how that went."""


def stop(office: Office, scene: Scene, ending: Ending) -> None:
    """End the turn as soon as what is under way has ended; nothing new starts."""
    turn = scene.set_turn(ending=ending)
    for doing in scene.talk.steps:
        if doing.state in (StepState.PENDING, StepState.AWAITING_APPROVAL):
            scene.set_step(doing, state=StepState.CANCELLED)
    scene.lapse("cancelled")
    if turn.working is not None and turn.state in (TurnState.CONTEXT, TurnState.ANSWERING):
        # Its end will tell: until then the turn is not over (`Handlers.failed`).
        scene.cancel(turn.working)
        return
    if turn.working is not None and turn.state is TurnState.AWAITING_CLARIFICATION:
        scene.end(turn.working)
    if scene.running():
        scene.say(ToolCancelRequested(turn_id=turn.turn_id))
    wind_down(office, scene)


def wind_down(office: Office, scene: Scene) -> None:
    """Wait for running calls and for a commit that has begun, drop what is staged, then end."""
    turn = scene.turn
    if turn.ending is None or turn.state in BUSY or scene.running():
        return
    if turn.dirty:
        drop(office, scene)
    else:
        turns.finish(office, scene, _told(scene, turn.ending))


def _told(scene: Scene, ending: Ending) -> Ending:
    """The ending, which says so where something is left open."""
    if not scene.doubtful or ending.reason == EFFECT_UNKNOWN:
        return ending
    return ending.model_copy(
        update={"detail": f"{ending.detail} (whether one of its effects happened is not known)".strip()}
    )


def drop(office: Office, scene: Scene) -> None:
    """Have the stage forgotten. No file was touched and none will be, so only the executor asks policy about it."""
    send(office, scene, DROP, {}, TurnState.DROPPING, revision=office.platform.policy.revision)


async def workspace(
    office: Office,
    scene: Scene,
    tool: str,
    args: Args,
    state: TurnState,
    *,
    approval_id: str,
    letter: Letter | None = None,
) -> None:
    """Have the executor commit or roll back, through the same chain as any tool."""
    asker = letter or scene.turn.letter
    action, facts = (COMMIT, {"approved": True}) if tool == COMMIT else ("workspace.rollback", {})
    decision = await office.decide(action, scene, asker, **facts)
    scene.say(recorded(decision, asker, turn_id=scene.turn.turn_id, resource=tool))
    if not decision.allowed or decision.obligations:
        scene.set_turn(state=TurnState.ACTING)
        stop(office, scene, Ending(state=TurnState.REFUSED, reason="POLICY_DENIED", detail=decision.reason))
        return
    send(office, scene, tool, args, state, revision=decision.revision, approval_id=approval_id, letter=letter)


def send(
    office: Office,
    scene: Scene,
    tool: str,
    args: Args,
    state: TurnState,
    *,
    revision: str,
    approval_id: str | None = None,
    letter: Letter | None = None,
) -> None:
    """The request of a workspace tool, for whose answer the turn itself waits."""
    call_id = ids.derived(scene.cause.id, tool)
    turns.move(scene, state)
    scene.set_turn(working=call_id)
    request = calling.request(
        office, scene, call_id=call_id, step_id=call_id, tool=tool, args=args, approval_id=approval_id, letter=letter
    )
    scene.say(calling.granted(office, scene, request, revision=revision))
