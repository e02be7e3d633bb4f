"""Undo: a commit rolled back by its journal, or the open turn's stage taken back to before one of its steps."""

from __future__ import annotations

from libs.events import RollbackRequested, ToolSucceeded, TurnStarted
from libs.events.values import Args, StepState
from services.conversation_worker.turn import commit, plan, start, tool_calls
from services.conversation_worker.turn.context import Office, recorded
from services.conversation_worker.turn.state import (
    RESTORE,
    ROLLBACK,
    Ending,
    QueuedMessage,
    Restoring,
    StepRun,
    Turn,
    TurnState,
)
from services.conversation_worker.turn.unit_of_work import Scene


async def roll_back(office: Office, scene: Scene, request: RollbackRequested) -> None:
    """What a person wants undone."""
    letter = wish(request)
    if scene.knows(letter.turn_id):
        return
    if request.snapshot is not None:
        await _restore(office, scene, letter, request.snapshot)
    elif scene.talk.turn is not None:
        start.refuse(scene, letter, "BUSY", "another turn is under way; cancel it or wait for its end")
    elif not (commit_id := request.commit_id or next(reversed(scene.session.commits), None)):
        start.refuse(scene, letter, "NOTHING_TO_ROLL_BACK", "this session has committed nothing")
    elif commit_id not in scene.session.commits:
        start.refuse(scene, letter, "NOTHING_TO_ROLL_BACK", "this session has no such commit")
    else:
        await _undo(office, scene, letter, commit_id, request.exclude)


def wish(request: RollbackRequested) -> QueuedMessage:
    """The wish as a letter: it is a turn of its own."""
    who = {"principal": request.principal, "scopes": request.scopes}
    return QueuedMessage.model_validate(
        {"message_id": request.turn_id, "turn_id": request.turn_id, "text": "rollback", **who}
    )


async def _undo(office: Office, scene: Scene, letter: QueuedMessage, commit_id: str, exclude: tuple[str, ...]) -> None:
    scene.open_turn(Turn(turn_id=letter.turn_id, state=TurnState.ACTING, letter=letter, commit_id=commit_id))
    scene.say(TurnStarted(turn_id=letter.turn_id, message_id=None, text=letter.text))
    args: Args = {"commit_id": commit_id, "exclude": list(exclude)}
    await commit.workspace(office, scene, ROLLBACK, args, TurnState.ROLLING_BACK, approval_id=letter.turn_id)


async def _restore(office: Office, scene: Scene, letter: QueuedMessage, snapshot: str) -> None:
    """Back to before a step; the turn whose stage it is waits for a person meanwhile, so nothing of it is running."""
    if not _waits(scene) or not any(doing.snapshot == snapshot for doing in scene.talk.steps):
        nothing = "no open turn that waits for a person has this snapshot"
        start.refuse(scene, letter, "NO_SUCH_SNAPSHOT", nothing)
        return
    decision = await office.decide("workspace.rollback", scene, letter)
    scene.say(recorded(decision, letter, turn_id=scene.turn.turn_id, resource=RESTORE))
    if not decision.allowed or decision.obligations:
        start.refuse(scene, letter, "POLICY_DENIED", decision.reason)
        return
    scene.lapse("superseded", principal=letter.principal)
    scene.set_session(epoch=scene.session.epoch + 1)
    scene.set_turn(restoring=Restoring(turn_id=letter.turn_id, snapshot=snapshot))
    tool_calls.send(
        office,
        scene,
        RESTORE,
        {"snapshot": snapshot},
        TurnState.RESTORING,
        revision=decision.revision,
        approval_id=letter.turn_id,
        letter=letter,
    )


async def restored(office: Office, scene: Scene, result: ToolSucceeded | None, trouble: Ending) -> None:
    """The stage is as it was, or still as it is (`result` is None); the turn goes on from there."""
    turn = scene.turn
    wanted = turn.restoring
    scene.set_turn(state=TurnState.ACTING, restoring=None)
    if wanted is not None:
        done = Ending(state=TurnState.COMPLETED, reason="ROLLBACK", detail=turn.turn_id)
        scene.end_turn(wanted.turn_id, done if result is not None else trouble)
    if result is not None and wanted is not None:
        scene.set_turn(diff=result.diff)
        _take_back(scene, wanted.snapshot)
    for doing in scene.talk.steps:
        if doing.state is StepState.AWAITING_APPROVAL:
            scene.set_step(doing, state=StepState.PENDING, approval_id=None)
    await plan.advance(office, scene)


def _take_back(scene: Scene, snapshot: str) -> None:
    """The step of that snapshot and every later one that had its say: what they showed holds no longer (S4-36)."""
    first = next(doing for doing in scene.talk.steps if doing.snapshot == snapshot)
    for doing in scene.talk.steps:
        if doing.state is StepState.SUCCEEDED and _place(doing) >= _place(first):
            scene.set_step(doing, state=StepState.ROLLED_BACK)


def _place(doing: StepRun) -> tuple[int, int]:
    return doing.round, doing.step.ordinal


def _waits(scene: Scene) -> bool:
    """Is there an open turn that only waits for a person?"""
    turn = scene.talk.turn
    if turn is None or turn.ending is not None or scene.running():
        return False
    waiting = any(doing.state is StepState.AWAITING_APPROVAL for doing in scene.talk.steps)
    return turn.state is TurnState.AWAITING_COMMIT or (turn.state is TurnState.ACTING and waiting)
