"""Following a turn to its end: every event is shown, every question is put to whoever answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.cli.asking import Person
from services.cli.errors import Refused
from services.cli.show import Watcher, choices
from services.cli.streams import Seen

if TYPE_CHECKING:
    from services.cli.client import Client

EFFECT = "effect"
"""The kind of a question whether something happened."""
UNDO_WANTED = "UNDO_WANTED"
"""The reason of a turn that only answered, since what the person wants is a rollback."""
ANSWERED = ("APPROVAL_CLOSED", "APPROVAL_CHANGED")
"""Someone else was quicker, or what is asked has changed: the next events say how it goes on."""


@dataclass(slots=True)
class Ended:
    """How a turn ended, and what of it can be undone."""

    state: str = ""
    reason: str | None = None
    answer: str = ""
    commits: list[str] = field(default_factory=list)
    seq: int = 0
    """The last event that was seen."""

    @property
    def completed(self) -> bool:
        return self.state == "completed"


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
            _find_out(client, event, person) if event.data["kind"] == EFFECT else _decide(client, event, person)
        elif event.type == "clarification.requested":
            watcher.pause()
            _clarify(client, session, event, person)
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


def _decide(client: Client, event: Seen, person: Person) -> None:
    approval = event.data["approval_id"]
    if client.get(f"/v1/approvals/{approval}")["outcome"] is not None:
        return
    answer = {**person.decide(event.data), "digest": event.data["digest"]}
    _sent(lambda: client.answer(approval, answer))


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


def _clarify(client: Client, session: str, event: Seen, person: Person) -> None:
    reply = person.clarify(event.data["question"], choices(event.data))
    if reply is None:
        client.cancel(str(event.turn_id))
    else:
        client.say(session, reply.text, skill=reply.skill)
