"""The commit, the last step of a turn that staged changes: a person decides on the diff, then it is committed or
dropped (P5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from libs import ids
from libs.events import ApprovalDecided, ApprovalRequested, Args, Diff, Json, StepState
from libs.policy import Decision
from services.conversation_worker.domain import digests, event_sizes, match_lines, messages, reasons
from services.conversation_worker.turn import approvals, finish, tool_calls
from services.conversation_worker.turn.context import TurnContext, recorded
from services.conversation_worker.turn.state import COMMIT, Approval, Outcome, QueuedMessage, TurnState
from services.conversation_worker.turn.transitions import Input
from services.conversation_worker.turn.unit_of_work import UnitOfWork

NAMED_MOST = 3
"""Maximum number of an archive's sources that are named."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """The trouble of a commit that failed: the paths of files that were changed outside, or an error."""

    conflicts: tuple[str, ...] = ()
    error: str = ""


async def ask(context: TurnContext, uow: UnitOfWork, given: object = None) -> None:
    """Ask a person about the diff, with the trouble of an earlier try. No file has been touched."""
    trouble = given if isinstance(given, Trouble) else Trouble()
    diff, message = _diff(uow), uow.turn.message
    # As not approved, like `_holds`: the digest binds the rule and obligations of this very question.
    decision = await context.decide(COMMIT, uow, message, approved=False)
    uow.emit(recorded(decision, message, turn_id=uow.turn.turn_id, resource=COMMIT))
    if not decision.allowed:
        _refused(uow, decision)
        return
    approval = Approval(
        approval_id=ids.derived(uow.cause.id, "commit"),
        kind="commit",
        digest=digests.of_commit(
            diff=diff, rule=decision.rule, obligations=decision.obligations, epoch=uow.session.epoch
        ),
        items=event_sizes.items(_items(diff, trouble.conflicts, {**_match_lines(uow, diff), **_archives(uow)})),
    )
    uow.ask(approval)
    uow.take(Input.COMMIT_ASKED)
    approvals.start_expiry(context, uow, approval)
    uow.emit(
        ApprovalRequested(
            turn_id=uow.turn.turn_id,
            approval_id=approval.approval_id,
            kind="commit",
            digest=approval.digest,
            title=messages.commit_title(diff.things, clashes=len(trouble.conflicts), trouble=trouble.error),
            expires_in=context.settings.approval_seconds,
            items=approval.items,
            diff=diff,
            undo=messages.COMMIT_UNDO,
            trouble=trouble.error[:500],
            rule=decision.rule,
            detail=_detail(uow),
        )
    )


def _detail(uow: UnitOfWork) -> str:
    """Return what the diff does not show: the limit that cut it short, and what its steps left out."""
    cut_short = f"{messages.CUT_SHORT} {uow.turn.limit.detail}" if uow.turn.limit is not None else ""
    return " ".join(filter(None, (cut_short, match_lines.leaves_out(reasons.shown(uow.conversation.current())))))


async def decide(context: TurnContext, uow: UnitOfWork, approval: Approval, answer: ApprovalDecided) -> None:
    """Apply a person's decision on the diff, if it is still the one that was shown."""
    # A no needs no second look at the stage: it changes no file.
    if answer.verdict == "deny":
        uow.close_approval(approval, "denied", principal=answer.principal, reason=answer.reason)
        await finish.drop(context, uow)
        return
    if not await _holds(context, uow, approval):
        uow.close_approval(approval, "superseded", principal=answer.principal, reason="what was asked has changed")
        await ask(context, uow)
        return
    outcome = "overridden" if answer.exclude else "approved"
    uow.close_approval(approval, outcome, principal=answer.principal, reason=answer.reason)
    # One commit for each approval, also if this answer is decided again after a conflict.
    commit_id = ids.derived(uow.turn.turn_id, approval.approval_id)
    uow.update_turn(commit_id=commit_id)
    args: Args = {"commit_id": commit_id, "version": _diff(uow).version, "exclude": list(answer.exclude)}
    await start_workspace_call(context, uow, COMMIT, args, Input.COMMIT_SENT, approval_id=approval.approval_id)


def _refused(uow: UnitOfWork, decision: Decision) -> None:
    """Stop the turn: policy does not allow the work on the workspace."""
    uow.take(Input.CALL_REFUSED)
    uow.update_turn(outcome=Outcome(state=TurnState.REFUSED, reason="POLICY_DENIED", detail=decision.reason))


def mark_rolled_back(uow: UnitOfWork) -> None:
    """Mark the steps whose staged changes were dropped as rolled back."""
    for run in uow.conversation.steps:
        if run.step.mutates and run.state is StepState.SUCCEEDED:
            uow.update_step(run, state=StepState.ROLLED_BACK)


async def _holds(context: TurnContext, uow: UnitOfWork, approval: Approval) -> bool:
    decision = await context.decide(COMMIT, uow, uow.turn.message, approved=False)
    return decision.allowed and approval.digest == digests.of_commit(
        diff=_diff(uow), rule=decision.rule, obligations=decision.obligations, epoch=uow.session.epoch
    )


def _diff(uow: UnitOfWork) -> Diff:
    if uow.turn.diff is None:
        raise LookupError("there is nothing to commit")
    return uow.turn.diff


def _items(diff: Diff, conflicts: tuple[str, ...], known: Known) -> Iterator[Json]:
    yield from ({"id": path, "conflict": True} for path in conflicts)
    for entry in diff.entries:
        if entry.path not in conflicts:
            told = {"source": entry.source} if entry.change in ("moved", "overwritten") and entry.source else {}
            told |= {"same_as": entry.same_as} if entry.same_as is not None else {}
            yield {"id": entry.path, "change": entry.change, **told, **known.get((entry.change, entry.path), {})}


Known = Mapping[tuple[str, str], Mapping[str, Json]]
"""By change and path, what a person should know of it that no diff can tell."""


def _match_lines(uow: UnitOfWork, diff: Diff) -> Known:
    """Return the matching line of each file that was chosen by its content."""
    lines = match_lines.lines(reasons.shown(uow.conversation.current()))
    chosen = ((entry, lines.get(entry.source or entry.path)) for entry in diff.entries)
    return {(entry.change, entry.path): {"says": line} for entry, line in chosen if line is not None}


def _archives(uow: UnitOfWork) -> Known:
    """Return, for each new archive, its number of files and its sources; of too many sources, only the number."""
    packed: dict[tuple[str, str], Mapping[str, Json]] = {}
    for run in uow.conversation.current():
        found, paths = run.data.json_ if run.data is not None else None, (run.args or {}).get("paths")
        if isinstance(found, Mapping) and {"archive", "files"} <= found.keys():
            of = paths if isinstance(paths, list) else []
            packs = {"files": found["files"], "of": of[:NAMED_MOST], "more": len(of[NAMED_MOST:])}
            packed["created", str(found["archive"])] = {"packs": packs}
    return packed


async def start_workspace_call(
    context: TurnContext,
    uow: UnitOfWork,
    tool: str,
    args: Args,
    input: Input,
    *,
    approval_id: str,
    message: QueuedMessage | None = None,
) -> None:
    """Ask policy, then let the executor commit or roll back, through the same chain as any tool."""
    asker = message or uow.turn.message
    action, facts = (COMMIT, {"approved": True}) if tool == COMMIT else ("workspace.rollback", {})
    decision = await context.decide(action, uow, asker, **facts)
    uow.emit(recorded(decision, asker, turn_id=uow.turn.turn_id, resource=tool))
    # No person can be asked at this point, so an obligation that is left is a refusal.
    if not decision.allowed or decision.obligations:
        _refused(uow, decision)
        return
    tool_calls.send_workspace_call(
        context, uow, tool, args, input, revision=decision.revision, approval_id=approval_id, message=message
    )
