"""Following a turn to its end: every event is shown, every question is put to whoever answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.cli.asking import Otherwise, Person, Reply
from services.cli.errors import Refused
from services.cli.show import Watcher, choices
from services.cli.streams import Seen

if TYPE_CHECKING:
    from services.cli.client import Client

EFFECT = "effect"
"""The kind of a question whether something happened."""
UNDO_WANTED = "UNDO_WANTED"
"""The reason of a turn that only answered, since what the person wants is a rollback."""
MORE_BELOW = "MORE_BELOW"
"""The reason of a turn that found nothing but in subfolders, and asks whether these are meant."""
ANSWERED = ("APPROVAL_CLOSED", "APPROVAL_CHANGED")
"""Someone else was quicker, or what is asked has changed: the next events say how it goes on."""


@dataclass(slots=True)
class Ended:
    """How a turn ended, and what of it can be undone."""

    state: str = ""
    reason: str | None = None
    answer: str = ""
    commits: list[str] = field(default_factory=list)
    instead: str | None = None
    """What the person wants in place of what was proposed: it is to be said next."""
    seq: int = 0
    """The last event that was seen."""
    went: set[str] = field(default_factory=set)
    """The states in which steps ended, and "dropped" where all that was prepared was given up."""

    @property
    def done(self) -> bool:
        """Did it end well, and not in vain? Of a refused difference, or where each step failed, nothing was done."""
        vain = self.went and not self.commits and ("dropped" in self.went or "succeeded" not in self.went)
        return self.state == "completed" and not vain


def follow(client: Client, session: str, turn: str, *, after: int, watcher: Watcher, person: Person) -> Ended:
    """Watch one turn until it ends. Raises what `person` and `client` raise; the turn itself goes on then."""
    ended = Ended(seq=after)

    def heard(speaking: str, said: str) -> None:
        if speaking == turn:
            watcher.heard(said)

    for event in client.events(session, after=after, until=turn, heard=heard):
        ended.seq = event.seq
        if event.turn_id not in (turn, None):
            continue
        watcher.saw(event)
        _note(ended, event)
        if event.type == "approval.requested":
            watcher.pause()
            if event.data["kind"] == EFFECT:
                _find_out(client, event, person)
                continue
            ended.instead = _decide(client, event, person, instead=ended.instead)
            if ended.instead is not None:
                watcher.hush()
        elif event.type == "clarification.requested":
            watcher.pause()
            _clarify(client, session, event, person, instead=ended.instead)
            ended.instead = None
    return ended


def outcome(client: Client, session: str, turn: str, *, after: int) -> Ended:
    """How a turn ends in which nobody here takes part any more."""
    ended = Ended(seq=after)
    for event in client.events(session, after=after, until=turn):
        ended.seq = event.seq
        if event.turn_id == turn:
            _note(ended, event)
    return ended


def _note(ended: Ended, event: Seen) -> None:
    match event.type:
        case "turn.ended":
            ended.state, ended.reason = event.data["state"], event.data["reason"]
        case "message.completed":
            ended.answer = event.data["text"]
        case "workspace.changed" if event.data["change"] == "committed" and event.data["operations"]:
            ended.commits.append(event.data["commit_id"])
        case "workspace.changed" if event.data["change"] == "dropped":
            ended.went.add("dropped")
        case "step.changed" if event.data["state"] != "running":
            ended.went.add(event.data["state"])


def _decide(client: Client, event: Seen, person: Person, *, instead: str | None) -> str | None:
    """What the person wants instead, now or since an earlier question of this turn: then all of it is refused."""
    approval = event.data["approval_id"]
    if client.get(f"/v1/approvals/{approval}")["outcome"] is not None:
        return instead
    try:
        answer = person.decide(event.data) if instead is None else {"verdict": "deny", "reason": instead}
    except Otherwise as said:
        instead = str(said)
        answer = {"verdict": "deny", "reason": instead}
    _sent(lambda: client.answer(approval, {**answer, "digest": event.data["digest"]}))
    return instead


def _find_out(client: Client, event: Seen, person: Person) -> None:
    """Nobody knows whether something happened. Who cannot tell now may say so later: the turn waits, for a while."""
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


def _clarify(client: Client, session: str, event: Seen, person: Person, *, instead: str | None) -> None:
    """What the person wants instead of what was proposed before answers any question about that."""
    known = Reply(instead) if instead is not None else None
    reply = known or person.clarify(event.data["question"], choices(event.data))
    if reply is None:
        client.cancel(str(event.turn_id))
    else:
        client.say(session, reply.text, skill=reply.skill)
