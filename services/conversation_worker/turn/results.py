"""What the executor tells: a step's outcome, or that of a commit, a drop, a restore or a rollback."""

from __future__ import annotations

from libs.events import ToolDenied, ToolFailed, ToolSucceeded, ToolUnknown, WorkspaceChanged
from libs.events.values import Diff, StepState
from services.conversation_worker.domain import event_sizes
from services.conversation_worker.domain.call_results import Result, outcome_of
from services.conversation_worker.turn import commit, finish, plan, rollback, unknown_effects
from services.conversation_worker.turn.context import Office
from services.conversation_worker.turn.state import Ending, Settled, StepRun, Turn, TurnState
from services.conversation_worker.turn.unit_of_work import Scene

COMMITS_MOST = 100
POLICY_UNAVAILABLE = "POLICY_UNAVAILABLE"


def awaited(scene: Scene, result: Result) -> bool:
    """Does anyone still wait for this?"""
    if not scene.active(result.turn_id):
        return False
    return scene.turn.working == result.call_id or _step(scene, result) is not None


async def told(office: Office, scene: Scene, result: Result) -> None:
    """Take an awaited result in, and go on."""
    if scene.turn.working == result.call_id:
        await _workspace(office, scene, result)
    else:
        record(office, scene, result)
        await plan.advance(office, scene)


def record(office: Office, scene: Scene, result: Result) -> None:
    """The outcome of a step's call, and nothing that follows from it."""
    doing = _step(scene, result)
    if doing is None:
        return
    worked = max(0.0, office.now().timestamp() - (doing.started or 0.0))
    scene.set_turn(worked=scene.turn.worked + worked)
    changed = scene.set_step(doing, **outcome_of(result))
    match result:
        case ToolSucceeded():
            _succeeded(scene, result)
        case ToolFailed(code="CANCELLED"):
            pass
        case ToolFailed():
            scene.set_turn(errors=scene.turn.errors + 1)
        case ToolDenied():
            scene.set_turn(errors=scene.turn.errors + 1)
            if result.reason.startswith(POLICY_UNAVAILABLE) and scene.turn.ending is None:
                finish.stop(office, scene, _why(result))
        case ToolUnknown():
            unknown_effects.ask(office, scene, changed, result)


def _succeeded(scene: Scene, result: ToolSucceeded) -> None:
    scene.set_turn(errors=0, diff=event_sizes.diff(result.diff) if result.diff is not None else scene.turn.diff)
    if result.reads:
        read = {**scene.session.read, **dict.fromkeys(result.reads, scene.session.epoch)}
        scene.set_session(read=event_sizes.read(read))


async def _workspace(office: Office, scene: Scene, result: Result) -> None:
    """The answer to what the turn itself asked of the workspace."""
    state, done = scene.turn.state, result if isinstance(result, ToolSucceeded) else None
    scene.set_turn(working=None)
    match state:
        case TurnState.DROPPING:
            _dropped(office, scene, done)
        case TurnState.RESTORING:
            await rollback.restored(office, scene, done, _why(result))
        case TurnState.COMMITTING if done is not None:
            _committed(office, scene, done)
        case TurnState.COMMITTING:
            await _not_committed(office, scene, result)
        case _ if done is not None:
            _rolled_back(office, scene, done)
        case _:
            _not_rolled_back(office, scene, result)


def _committed(office: Office, scene: Scene, result: ToolSucceeded) -> None:
    turn = scene.turn
    commits = (*scene.session.commits, turn.commit_id or "")[-COMMITS_MOST:]
    _changed(scene, "committed", result, commits)
    decided = " ".join((f"{result.summary}{turn.decided or ''}", *result.warnings))[:1000]
    scene.set_turn(diff=None, decided=decided, settled=_settled(turn, result))
    if turn.ending is None:
        finish.answer(scene)
    else:
        detail = f"{turn.ending.detail} (the commit had begun and was finished)".strip()
        finish.end(office, scene, turn.ending.model_copy(update={"detail": detail}))


def _settled(turn: Turn, result: ToolSucceeded) -> Settled:
    made = result.data.json_ if isinstance(result.data.json_, dict) else {}
    settled, operations = turn.settled or Settled(), int(made.get("operations", 0))
    if turn.diff is not None and not settled.left_out:
        operations = max(operations, turn.diff.things)
    # A folder that is left out takes with it what should have gone into it.
    rest = turn.diff.count - operations if settled.left_out and turn.diff is not None else 0
    warnings = tuple(each[:200] for each in result.warnings[:5])
    return Settled(operations=operations, left_out=max(settled.left_out, rest), warnings=warnings)


def _rolled_back(office: Office, scene: Scene, result: ToolSucceeded) -> None:
    """All of the commit, or what was not excluded: then the rest can still be rolled back."""
    turn = scene.turn
    data = result.data.json_ if isinstance(result.data.json_, dict) else {}
    whole = data.get("whole", True)
    commits = tuple(c for c in scene.session.commits if c != turn.commit_id) if whole else scene.session.commits
    _changed(scene, "rolled_back", result, commits)
    if turn.ending is None:
        finish.complete(office, scene, result.summary)
    else:
        detail = f"{turn.ending.detail} (the rollback had begun and was finished)".strip()
        finish.end(office, scene, turn.ending.model_copy(update={"detail": detail}))


def _changed(scene: Scene, change: str, result: ToolSucceeded, commits: tuple[str, ...]) -> None:
    """The files are others now: whatever was read or approved before rests on what is no more."""
    turn, epoch = scene.turn, scene.session.epoch + 1
    scene.set_session(epoch=epoch, commits=commits, read={})
    data = result.data.json_ if isinstance(result.data.json_, dict) else {}
    scene.say(
        WorkspaceChanged(
            turn_id=turn.turn_id,
            change=change,
            epoch=epoch,
            commit_id=turn.commit_id,
            operations=int(data.get("operations", 0)),
            diff=event_sizes.diff(result.diff) or turn.diff,
        )
    )


async def _not_committed(office: Office, scene: Scene, result: Result) -> None:
    """Whole, nothing of it: what was staged is still there, and the person decides again."""
    conflicts = _conflicts(scene, result)
    reason = _why(result)
    scene.set_turn(state=TurnState.ACTING, commit_id=None, decided=None, settled=None)
    if scene.turn.ending is not None:
        finish.wind_down(office, scene)
    elif isinstance(result, ToolFailed):
        await commit.ask(office, scene, conflicts, "" if conflicts else reason.detail or result.code)
    else:
        finish.stop(office, scene, reason)


def _not_rolled_back(office: Office, scene: Scene, result: Result) -> None:
    _conflicts(scene, result)
    finish.end(office, scene, scene.turn.ending or _why(result))


def _conflicts(scene: Scene, result: Result) -> tuple[str, ...]:
    """Someone else changed files: a noticed outside change moves the epoch."""
    found = result.conflicts if isinstance(result, ToolFailed) else ()
    if found:
        epoch = scene.session.epoch + 1
        scene.set_session(epoch=epoch)
        told = WorkspaceChanged(turn_id=scene.turn.turn_id, change="conflicted", epoch=epoch, conflicts=found)
        scene.say(told)
    return found


def _dropped(office: Office, scene: Scene, done: ToolSucceeded | None) -> None:
    """The stage is gone, or will be when the next turn begins its own; the files were never touched."""
    turn = scene.turn
    if done is not None:
        epoch = scene.session.epoch
        scene.say(WorkspaceChanged(turn_id=turn.turn_id, change="dropped", epoch=epoch, diff=turn.diff))
    commit.undone(scene)
    words = "Nothing was changed: the changes were not approved."
    scene.set_turn(diff=Diff(version=0, count=0), decided=words, settled=Settled())
    if turn.ending is not None:
        finish.end(office, scene, turn.ending)
    else:
        finish.answer(scene)


def _why(result: Result) -> Ending:
    """How the turn ends for this result's sake."""
    match result:
        case ToolFailed():
            return Ending(state=TurnState.FAILED, reason=result.code, detail=result.error)
        case ToolDenied():
            reason = POLICY_UNAVAILABLE if result.reason.startswith(POLICY_UNAVAILABLE) else "DENIED"
            return Ending(state=TurnState.REFUSED, reason=reason, detail=f"{result.link}: {result.reason}")
        case ToolUnknown():
            return Ending(state=TurnState.FAILED, reason=finish.EFFECT_UNKNOWN, detail=result.reason)
        case _:
            return Ending(state=TurnState.COMPLETED)


def _step(scene: Scene, result: Result) -> StepRun | None:
    """The step whose running call this is about."""
    doing = scene.talk.doing(result.step_id)
    if doing is None or doing.call_id != result.call_id or doing.state is not StepState.RUNNING:
        return None
    return doing
