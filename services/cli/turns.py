"""Follow a turn to its end: show every event, and answer every question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.cli.errors import Refused
from services.cli.prompts import Correction, Person, Reply
from services.cli.show import Watcher, choices
from services.cli.streams import SessionEvent

if TYPE_CHECKING:
    from services.cli.client import Client

EFFECT = "effect"
"""The kind of a question about an unknown effect."""
UNDO_WANTED = "UNDO_WANTED"
"""The reason of a turn that changed nothing, because the person wants a rollback."""
MORE_BELOW = "MORE_BELOW"
"""The reason of a turn that found matches only in subfolders, and asks whether to include them."""
DECLINED = "DECLINED"
"""The reason of a turn that only explains why it cannot or will not do the request."""
AT_A_LIMIT = ("MAX_TOOL_CALLS", "MAX_ROUNDS", "MAX_WALL_TIME", "CONSECUTIVE_ERRORS")
"""The reasons of a turn that did a part of its task."""
FAILURES = frozenset({"denied", "failed", "unknown"})
ANSWERED = ("APPROVAL_CLOSED", "APPROVAL_CHANGED")
"""Another client answered first, or the question changed; the next events show the result."""


@dataclass(slots=True)
class TurnResult:
    """The result of a turn, and the commits that can be undone."""

    state: str = ""
    reason: str | None = None
    answer: str = ""
    commits: list[str] = field(default_factory=list)
    operations: int = 0
    """The number of changes that these made."""
    undone: bool = False
    """A rollback undid changes, which can be redone."""
    instead: str | None = None
    """The next request, typed instead of an approval."""
    seq: int = 0
    """The number of the last event received."""
    step_states: set[str] = field(default_factory=set)
    """The end states of the steps, and "dropped" if all staged changes were discarded."""
    changes: set[tuple[str, int]] = field(default_factory=set)
    """The planned steps that change something."""
    changing_states: set[str] = field(default_factory=set)
    """The end states of those steps."""
    previewed: bool = False
    """A dry run has shown its preview."""

    @property
    def done(self) -> bool:
        """Whether the turn completed and had an effect.

        It had none if the diff was refused, if every step failed, or if every changing step failed or was denied.
        """
        no_effect = "dropped" in self.step_states or (self.step_states and "succeeded" not in self.step_states)
        refused = self.changing_states & FAILURES and "succeeded" not in self.changing_states
        unable = self.reason in (DECLINED, MORE_BELOW, UNDO_WANTED, *AT_A_LIMIT)
        if self.previewed or self.state == "cancelled":
            return self.previewed or bool(self.commits)  # a cancel may come too late
        return self.state == "completed" and not unable and bool(self.commits or not (no_effect or refused))


def follow(client: Client, session: str, turn: str, *, after: int, watcher: Watcher, person: Person) -> TurnResult:
    """Show one turn until it ends. Passes on errors of `person` and `client`; the turn then continues without us."""
    ended = TurnResult(seq=after)

    def forward(turn_id: str, text: str) -> None:
        if turn_id == turn:
            watcher.on_text(text)

    def forward_output(turn_id: str, step: str, output: str) -> None:
        if turn_id == turn:
            watcher.on_output(step, output)

    for event in client.events(session, after=after, until=turn, on_text=forward, on_output=forward_output):
        ended.seq = event.seq
        if event.turn_id not in (turn, None):
            continue
        watcher.on_event(event)
        _note(ended, event)
        if event.type == "approval.requested":
            watcher.pause()
            if event.data["kind"] == EFFECT:
                _find_out(client, event, person)
                continue
            ended.instead = _decide(client, event, person, instead=ended.instead)
            if ended.instead is not None:
                watcher.mute()
        elif event.type == "clarification.requested":
            watcher.pause()
            _clarify(client, session, event, person, instead=ended.instead)
            ended.instead = None
    return ended


def outcome(client: Client, session: str, turn: str, *, after: int) -> TurnResult:
    """Wait for a turn's end without answering its questions."""
    ended = TurnResult(seq=after)
    for event in client.events(session, after=after, until=turn):
        ended.seq = event.seq
        if event.turn_id == turn:
            _note(ended, event)
    return ended


def _note(ended: TurnResult, event: SessionEvent) -> None:
    match event.type:
        case "turn.ended":
            ended.state, ended.reason = event.data["state"], event.data["reason"]
        case "message.completed":
            ended.answer = event.data["text"]
        case "workspace.changed" if event.data["change"] == "committed" and event.data["operations"]:
            ended.commits.append(event.data["commit_id"])
            ended.operations += event.data["operations"]
        case "workspace.changed" if event.data["change"] == "rolled_back":
            ended.undone = bool(event.data["operations"])
        case "workspace.changed" if event.data["change"] == "dropped":
            ended.step_states.add("dropped")
        case "plan.proposed":
            plan = event.data["plan"]
            ended.changes |= {(plan["plan_id"], step["ordinal"]) for step in plan["steps"] if step["mutates"]}
        case "step.changed" if event.data["state"] != "running":
            ended.step_states.add(event.data["state"])
            if (event.data.get("plan_id"), event.data.get("ordinal")) in ended.changes:
                ended.changing_states.add(event.data["state"])


def _decide(client: Client, event: SessionEvent, person: Person, *, instead: str | None) -> str | None:
    """Answer an approval. After a correction, deny this and all later approvals; return the correction."""
    approval = event.data["approval_id"]
    # The event may be old, as after a reconnection, and its question answered elsewhere.
    if client.get(f"/v1/approvals/{approval}")["outcome"] is not None:
        return instead
    try:
        answer = person.decide(event.data) if instead is None else {"verdict": "deny", "reason": instead}
    except Correction as correction:
        instead = str(correction)
        answer = {"verdict": "deny", "reason": instead}
    _sent(lambda: client.answer(approval, {**answer, "digest": event.data["digest"]}))
    return instead


def _find_out(client: Client, event: SessionEvent, person: Person) -> None:
    """Answer the question about an unknown effect; without an answer, it stays open for a while."""
    effect = event.data["approval_id"]
    if client.get(f"/v1/effects/{effect}")["outcome"] is not None or (found := person.find_out(event.data)) is None:
        return
    _sent(lambda: client.resolve(effect, {**found, "digest": event.data["digest"]}))


def _sent(answer: Callable[[], object]) -> None:
    try:
        answer()
    except Refused as refused:
        if refused.code not in ANSWERED:
            raise


def _clarify(client: Client, session: str, event: SessionEvent, person: Person, *, instead: str | None) -> None:
    """Answer a clarification, with the person's correction if there is one."""
    known = Reply(instead) if instead is not None else None
    reply = known or person.clarify(event.data["question"], choices(event.data))
    if reply is None:
        client.cancel(str(event.turn_id))
    else:
        client.say(session, reply.text, skill=reply.skill)
