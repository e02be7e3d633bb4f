"""Results of the executor: the outcome of a step, or of a commit, a drop, a restore or a rollback."""

from __future__ import annotations

from libs.events import Diff, StepState, ToolDenied, ToolFailed, ToolSucceeded, ToolUnknown, WorkspaceChanged
from libs.guards import paths
from services.conversation_worker.domain import event_sizes
from services.conversation_worker.domain.call_results import Result, outcome_of
from services.conversation_worker.turn import commit, finish, rollback, unknown_effects
from services.conversation_worker.turn.commit import Trouble
from services.conversation_worker.turn.context import TurnContext
from services.conversation_worker.turn.state import CommitResult, Outcome, StepRun, Turn, TurnState
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

COMMITS_MOST = 100
SOURCES = ("url", "command", "path")
"""Arguments that name what a call reads."""
SOURCE_MOST = 300
POLICY_UNAVAILABLE = "POLICY_UNAVAILABLE"


def is_awaited(uow: UnitOfWork, result: Result) -> bool:
    """Return whether the turn still waits for this result."""
    if not uow.is_active(result.turn_id) or not uow.accepts(_input_of(uow, result), result.call_id):
        return False
    return uow.turn.working == result.call_id or _step(uow, result) is not None


def receive(context: TurnContext, uow: UnitOfWork, result: Result) -> None:
    """Record an awaited result."""
    _touch(uow, result)
    if uow.turn.working == result.call_id:
        _workspace(uow, result)
    else:
        uow.take(Input.STEP_ENDED, result.call_id)
        record(context, uow, result)


def leave(context: TurnContext, uow: UnitOfWork, result: Result, refused: Outcome) -> None:
    """Record a result whose consequences policy cannot decide, and stop the turn."""
    _touch(uow, result)
    if uow.turn.working == result.call_id:
        uow.take(Input.LOST)
        uow.update_turn(working=None, commit_id=None, outcome=uow.turn.outcome or refused)
        return
    record(context, uow, result)
    if uow.turn.outcome is None:
        finish.stop(uow, refused)
    else:
        finish.when_idle(uow)


def _touch(uow: UnitOfWork, result: Result) -> None:
    # A refusal and a question about an effect are in our own words.
    if isinstance(result, ToolSucceeded | ToolFailed):
        uow.touch(result.touched, step_id=result.step_id, source=_source(uow, result))


def _source(uow: UnitOfWork, result: ToolSucceeded | ToolFailed) -> str:
    """Return what a call has read, as a person knows it: an address, a command, a path, else its tool."""
    run = uow.conversation.step_run(result.step_id)
    if run is None:
        return ""
    read = result.reads if isinstance(result, ToolSucceeded) else ()
    # A secret among the files that were read is the one to name.
    named = (*filter(paths.is_secret, read), *map((run.args or {}).get, SOURCES), *read, run.step.tool)
    return next(name for name in named if isinstance(name, str) and name)[:SOURCE_MOST]


def record(context: TurnContext, uow: UnitOfWork, result: Result) -> None:
    """Record the outcome of a step's call, without what follows from it."""
    run = _step(uow, result)
    if run is None:
        return
    worked = max(0.0, context.now().timestamp() - (run.started or 0.0))
    uow.update_turn(worked=uow.turn.worked + worked)
    changed = uow.update_step(run, **outcome_of(result))
    match result:
        case ToolSucceeded():
            _succeeded(uow, result)
        # No error of the plan: it must not count towards the limit of errors in a row.
        case ToolFailed(code="CANCELLED"):
            pass
        case ToolFailed():
            uow.update_turn(errors=uow.turn.errors + 1)
        case ToolDenied():
            uow.update_turn(errors=uow.turn.errors + 1)
            # Without an answer from policy every further step would be refused as well.
            if result.reason.startswith(POLICY_UNAVAILABLE) and uow.turn.outcome is None:
                finish.stop(uow, _outcome_of(result))
        case ToolUnknown():
            unknown_effects.ask(context, uow, changed, result)


def _succeeded(uow: UnitOfWork, result: ToolSucceeded) -> None:
    uow.update_turn(errors=0, diff=event_sizes.diff(result.diff) if result.diff is not None else uow.turn.diff)
    if result.reads:
        read = {**uow.session.read, **dict.fromkeys(result.reads, uow.session.epoch)}
        uow.update_session(read=event_sizes.read(read))


def _workspace(uow: UnitOfWork, result: Result) -> None:
    """Record the result of the turn's own work on the workspace."""
    input, over = _input_of(uow, result), _outcome_of(result)
    done = result if isinstance(result, ToolSucceeded) else None
    conflicts = _conflicts(uow, result) if input in (Input.NOT_COMMITTED, Input.NOT_ROLLED_BACK) else ()
    trouble = Trouble(conflicts, "" if conflicts else over.detail or over.reason or "")
    given = trouble if input is Input.NOT_COMMITTED else finish.Answer(done.summary if done is not None else "")
    uow.take(input, result.call_id, given)
    uow.update_turn(working=None)
    match input:
        case Input.DROPPED:
            _dropped(uow, done)
        case Input.RESTORED:
            rollback.restored(uow, done, over)
        case Input.COMMITTED if done is not None:
            _committed(uow, done)
        case Input.ROLLED_BACK if done is not None:
            _rolled_back(uow, done)
        case Input.NOT_ROLLED_BACK:
            uow.update_turn(outcome=uow.turn.outcome or over)
        case _:
            # The stage is unchanged, and the person decides again.
            uow.update_turn(commit_id=None, decided=None, commit_result=None)
            if input is Input.COMMIT_REFUSED and uow.turn.outcome is None:
                uow.update_turn(outcome=over)


def _input_of(uow: UnitOfWork, result: Result) -> Input:
    """Return what a result means for the turn: a step has ended, or its own work on the workspace."""
    succeeded = isinstance(result, ToolSucceeded)
    if uow.turn.working != result.call_id:
        return Input.STEP_ENDED
    match uow.turn.state:
        case TurnState.DROPPING:
            return Input.DROPPED
        case TurnState.RESTORING:
            return Input.RESTORED
        case TurnState.COMMITTING if succeeded:
            return Input.COMMITTED
        case TurnState.COMMITTING:
            return Input.NOT_COMMITTED if isinstance(result, ToolFailed) else Input.COMMIT_REFUSED
        case _:
            return Input.ROLLED_BACK if succeeded else Input.NOT_ROLLED_BACK


def _committed(uow: UnitOfWork, result: ToolSucceeded) -> None:
    turn = uow.turn
    # Bounded: the session's row is written with each of its changes.
    commits = (*uow.session.commits, turn.commit_id or "")[-COMMITS_MOST:]
    _changed(uow, "committed", result, commits)
    figures = _commit_result(turn, result)
    left_out = f" {figures.left_out:,} of the proposed changes were left out." if figures.left_out else ""
    decided = " ".join((f"{result.summary}{left_out}", *result.warnings))[:1000]
    uow.update_turn(diff=None, decided=decided, commit_result=figures)
    finish.note(uow, "the commit had begun and was finished")


def _commit_result(turn: Turn, result: ToolSucceeded) -> CommitResult:
    """Return the commit's own figures: a folder that is left out takes with it what should have gone into it."""
    made = result.diff or Diff(version=0, count=0)
    asked = turn.diff.things if turn.diff is not None else made.things
    return CommitResult(
        operations=made.things,
        left_out=max(0, asked - made.things),
        created=made.created,
        changed=made.changed,
        overwritten=made.overwritten,
        deleted=made.deleted,
        moved=made.moved,
        folders=sum(group.change == "moved" for group in made.groups) + made.more_groups,
        warnings=tuple(each[:200] for each in result.warnings[:5]),
    )


def _rolled_back(uow: UnitOfWork, result: ToolSucceeded) -> None:
    """Record a rollback or redo of all of the commit, or of what was not excluded; then the rest can still follow."""
    data = result.data.json_ if isinstance(result.data.json_, dict) else {}
    whole, change = bool(data.get("whole", True)), str(data.get("change", "rolled_back"))
    commits, undone = uow.session.commits, uow.session.undone
    if whole:
        commit_id = uow.turn.commit_id or ""
        commits, undone = (tuple(c for c in ids if c != commit_id) for ids in (commits, undone))
        commits, undone = ((*commits, commit_id), undone) if change == "committed" else (commits, (*undone, commit_id))
    uow.update_session(undone=undone[-COMMITS_MOST:])
    _changed(uow, change, result, commits, whole=whole)
    finish.note(uow, "the rollback had begun and was finished")


def _changed(
    uow: UnitOfWork, change: str, result: ToolSucceeded, commits: tuple[str, ...], *, whole: bool = True
) -> None:
    """Report that the files have changed: earlier reads and approvals no longer count."""
    turn, epoch = uow.turn, uow.session.epoch + 1
    uow.update_session(epoch=epoch, commits=commits, read={})
    data = result.data.json_ if isinstance(result.data.json_, dict) else {}
    uow.emit(
        WorkspaceChanged(
            turn_id=turn.turn_id,
            change=change,
            epoch=epoch,
            commit_id=turn.commit_id,
            operations=int(data.get("operations", 0)),
            diff=event_sizes.diff(result.diff) or turn.diff,
            whole=whole,
        )
    )


def _conflicts(uow: UnitOfWork, result: Result) -> tuple[str, ...]:
    """Report files that changed outside; a noticed outside change moves the epoch."""
    found = result.conflicts if isinstance(result, ToolFailed) else ()
    if found:
        epoch = uow.session.epoch + 1
        uow.update_session(epoch=epoch)
        event = WorkspaceChanged(turn_id=uow.turn.turn_id, change="conflicted", epoch=epoch, conflicts=found)
        uow.emit(event)
    return found


def _dropped(uow: UnitOfWork, done: ToolSucceeded | None) -> None:
    """Record that the stage was dropped, or will be when the next turn begins; no file was touched."""
    turn = uow.turn
    if done is not None:
        epoch = uow.session.epoch
        uow.emit(WorkspaceChanged(turn_id=turn.turn_id, change="dropped", epoch=epoch, diff=turn.diff))
    commit.mark_rolled_back(uow)
    words = "Nothing was changed: the changes were not approved."
    uow.update_turn(diff=Diff(version=0, count=0), decided=words, commit_result=CommitResult())


def _outcome_of(result: Result) -> Outcome:
    """Return the turn's outcome if this result ends it."""
    match result:
        case ToolFailed():
            return Outcome(state=TurnState.FAILED, reason=result.code, detail=result.error)
        case ToolDenied():
            reason = POLICY_UNAVAILABLE if result.reason.startswith(POLICY_UNAVAILABLE) else "DENIED"
            return Outcome(state=TurnState.REFUSED, reason=reason, detail=f"{result.link}: {result.reason}")
        case ToolUnknown():
            return Outcome(state=TurnState.FAILED, reason=finish.EFFECT_UNKNOWN, detail=result.reason)
        case _:
            return Outcome(state=TurnState.COMPLETED)


def _step(uow: UnitOfWork, result: Result) -> StepRun | None:
    """Return the step whose running call this result is for."""
    run = uow.conversation.step_run(result.step_id)
    if run is None or run.call_id != result.call_id or run.state is not StepState.RUNNING:
        return None
    return run
