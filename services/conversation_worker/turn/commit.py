"""The last step of a turn that staged something: its diff is decided, and then it is committed or dropped (P5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from libs import ids
from libs.events import ApprovalDecided, ApprovalRequested
from libs.events.values import Args, Diff, Json, StepState
from services.conversation_worker.domain import digests, event_sizes, match_lines, messages, reasons
from services.conversation_worker.turn import approvals, finish, tool_calls
from services.conversation_worker.turn.context import Office, recorded
from services.conversation_worker.turn.state import COMMIT, Approval, Ending, QueuedMessage, Settled, TurnState
from services.conversation_worker.turn.unit_of_work import Scene

NAMED_MOST = 3
"""Of what an archive was made of."""


async def ask(office: Office, scene: Scene, conflicts: tuple[str, ...] = (), trouble: str = "") -> None:
    """The turn stays open until its diff is decided; the files themselves are still untouched."""
    diff, letter = _diff(scene), scene.turn.letter
    decision = await office.decide(COMMIT, scene, letter, approved=False)
    scene.say(recorded(decision, letter, turn_id=scene.turn.turn_id, resource=COMMIT))
    if not decision.allowed:
        scene.set_turn(state=TurnState.ACTING)
        refused = Ending(state=TurnState.REFUSED, reason="POLICY_DENIED", detail=decision.reason)
        finish.stop(office, scene, refused)
        return
    approval = Approval(
        approval_id=ids.derived(scene.cause.id, "commit"),
        kind="commit",
        digest=digests.of_commit(
            diff=diff, rule=decision.rule, obligations=decision.obligations, epoch=scene.session.epoch
        ),
        items=event_sizes.items(_items(diff, conflicts, {**_quoted(scene, diff), **_twins(scene), **_packed(scene)})),
    )
    scene.ask(approval)
    scene.move(TurnState.AWAITING_COMMIT)
    approvals.wait(office, scene, approval)
    scene.say(
        ApprovalRequested(
            turn_id=scene.turn.turn_id,
            approval_id=approval.approval_id,
            kind="commit",
            digest=approval.digest,
            title=messages.commit_title(diff.things, clashes=len(conflicts), trouble=trouble),
            expires_in=office.settings.approval_seconds,
            items=approval.items,
            diff=diff,
            undo=messages.COMMIT_UNDO,
            trouble=trouble[:500],
            rule=decision.rule,
            detail=match_lines.leaves_out(reasons.shown(scene.talk.current())),
        )
    )


async def decided(office: Office, scene: Scene, approval: Approval, answer: ApprovalDecided) -> None:
    """A person's word on the diff, if it is still the one that was shown."""
    if answer.verdict == "deny":
        scene.close_approval(approval, "denied", principal=answer.principal, reason=answer.reason)
        finish.drop(office, scene)
        return
    if not await _holds(office, scene, approval):
        scene.close_approval(approval, "superseded", principal=answer.principal, reason="what was asked has changed")
        await ask(office, scene)
        return
    outcome = "overridden" if answer.exclude else "approved"
    scene.close_approval(approval, outcome, principal=answer.principal, reason=answer.reason)
    commit_id = ids.derived(scene.turn.turn_id, approval.approval_id)
    left_out = f" {len(answer.exclude)} were left out." if answer.exclude else ""
    scene.set_turn(commit_id=commit_id, decided=left_out, settled=Settled(left_out=len(answer.exclude)))
    args: Args = {"commit_id": commit_id, "version": _diff(scene).version, "exclude": list(answer.exclude)}
    await workspace(office, scene, COMMIT, args, TurnState.COMMITTING, approval_id=approval.approval_id)


def undone(scene: Scene) -> None:
    """What was staged is gone: those steps have had no effect."""
    for doing in scene.talk.steps:
        if doing.step.mutates and doing.state is StepState.SUCCEEDED:
            scene.set_step(doing, state=StepState.ROLLED_BACK)


async def _holds(office: Office, scene: Scene, approval: Approval) -> bool:
    decision = await office.decide(COMMIT, scene, scene.turn.letter, approved=False)
    return decision.allowed and approval.digest == digests.of_commit(
        diff=_diff(scene), rule=decision.rule, obligations=decision.obligations, epoch=scene.session.epoch
    )


def _diff(scene: Scene) -> Diff:
    if scene.turn.diff is None:
        raise LookupError("there is nothing to commit")
    return scene.turn.diff


def _items(diff: Diff, conflicts: tuple[str, ...], known: Known) -> Iterator[Json]:
    yield from ({"id": path, "conflict": True} for path in conflicts)
    for entry in diff.entries:
        if entry.path not in conflicts:
            source = {"source": entry.source} if entry.change == "moved" else {}
            yield {"id": entry.path, "change": entry.change, **source, **known.get((entry.change, entry.path), {})}


Known = Mapping[tuple[str, str], Mapping[str, Json]]
"""By change and path, what a person should know of it that no diff can tell."""


def _quoted(scene: Scene, diff: Diff) -> Known:
    """For each file that was chosen by what it says, the line that says so."""
    lines = match_lines.lines(reasons.shown(scene.talk.current()))
    told = ((entry, lines.get(entry.source or entry.path)) for entry in diff.entries)
    return {(entry.change, entry.path): {"says": line} for entry, line in told if line is not None}


def _twins(scene: Scene) -> Known:
    """For each duplicate that goes, the one that stays; of more groups than args hold, none."""
    listed = [(doing.args or {}).get("groups") for doing in scene.talk.current()]
    groups = [group for found in listed if isinstance(found, list) for group in found]
    kept = [(path, str(group["keep"])) for group in groups if "keep" in group for path in group.get("remove", ())]
    return {("deleted", path): {"same_as": keep} for path, keep in kept}


def _packed(scene: Scene) -> Known:
    """For each new archive, how many files it holds and what was packed; of more paths than args hold, the number."""
    told: dict[tuple[str, str], Mapping[str, Json]] = {}
    for doing in scene.talk.current():
        found, paths = doing.data.json_ if doing.data is not None else None, (doing.args or {}).get("paths")
        if isinstance(found, Mapping) and {"archive", "files"} <= found.keys():
            of = paths if isinstance(paths, list) else []
            packs = {"files": found["files"], "of": of[:NAMED_MOST], "more": len(of[NAMED_MOST:])}
            told["created", str(found["archive"])] = {"packs": packs}
    return told


async def workspace(
    office: Office,
    scene: Scene,
    tool: str,
    args: Args,
    state: TurnState,
    *,
    approval_id: str,
    letter: QueuedMessage | None = None,
) -> None:
    """Have the executor commit or roll back, through the same chain as any tool."""
    asker = letter or scene.turn.letter
    action, facts = (COMMIT, {"approved": True}) if tool == COMMIT else ("workspace.rollback", {})
    decision = await office.decide(action, scene, asker, **facts)
    scene.say(recorded(decision, asker, turn_id=scene.turn.turn_id, resource=tool))
    if not decision.allowed or decision.obligations:
        scene.set_turn(state=TurnState.ACTING)
        finish.stop(office, scene, Ending(state=TurnState.REFUSED, reason="POLICY_DENIED", detail=decision.reason))
        return
    tool_calls.send(
        office, scene, tool, args, state, revision=decision.revision, approval_id=approval_id, letter=letter
    )
