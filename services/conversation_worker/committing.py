"""The last step of a turn that staged something: its diff is decided, and then it is committed or dropped (P5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from libs import ids
from libs.events import ApprovalDecided, ApprovalRequested
from libs.events.values import Args, Diff, Json, StepState
from libs.leases.ports import Start
from services.conversation_worker import ending, turns
from services.conversation_worker.domain import binding, bounds, quoted, reasons, wording
from services.conversation_worker.domain.talk import Approval, Ending, Settled, TurnState
from services.conversation_worker.office import COMMIT, Office, recorded
from services.conversation_worker.scene import Scene

EXPIRY = "expiry"
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
        ending.stop(office, scene, refused)
        return
    approval = Approval(
        approval_id=ids.derived(scene.cause.id, "commit"),
        kind="commit",
        digest=binding.of_commit(
            diff=diff, rule=decision.rule, obligations=decision.obligations, epoch=scene.session.epoch
        ),
        items=bounds.items(_items(diff, conflicts, {**_quoted(scene, diff), **_twins(scene), **_packed(scene)})),
    )
    scene.ask(approval)
    turns.move(scene, TurnState.AWAITING_COMMIT)
    wait(office, scene, approval)
    scene.say(
        ApprovalRequested(
            turn_id=scene.turn.turn_id,
            approval_id=approval.approval_id,
            kind="commit",
            digest=approval.digest,
            title=wording.commit_title(diff.things, clashes=len(conflicts), trouble=trouble),
            expires_in=office.settings.approval_seconds,
            items=approval.items,
            diff=diff,
            undo=wording.COMMIT_UNDO,
            trouble=trouble[:500],
            rule=decision.rule,
            detail=quoted.leaves_out(reasons.shown(scene.talk.current())),
        )
    )


def wait(office: Office, scene: Scene, approval: Approval) -> None:
    """An answer is waited for as long as the settings say."""
    about = {"turn_id": scene.turn.turn_id, "approval_id": approval.approval_id}
    scene.start(Start(approval.approval_id, EXPIRY, about, delay=office.settings.approval_seconds))


async def decided(office: Office, scene: Scene, approval: Approval, answer: ApprovalDecided) -> None:
    """A person's word on the diff, if it is still the one that was shown."""
    if answer.verdict == "deny":
        scene.close_approval(approval, "denied", principal=answer.principal, reason=answer.reason)
        ending.drop(office, scene)
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
    await ending.workspace(office, scene, COMMIT, args, TurnState.COMMITTING, approval_id=approval.approval_id)


def undone(scene: Scene) -> None:
    """What was staged is gone: those steps have had no effect."""
    for doing in scene.talk.steps:
        if doing.step.mutates and doing.state is StepState.SUCCEEDED:
            scene.set_step(doing, state=StepState.ROLLED_BACK)


async def _holds(office: Office, scene: Scene, approval: Approval) -> bool:
    decision = await office.decide(COMMIT, scene, scene.turn.letter, approved=False)
    return decision.allowed and approval.digest == binding.of_commit(
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
    lines = quoted.lines(reasons.shown(scene.talk.current()))
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
