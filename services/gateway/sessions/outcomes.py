"""Predicates that find a command's outcome among a session's events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

EFFECT = "effect"
"""The kind of approval that asks whether an effect happened."""
STALE = "stale"
"""The outcome of an answer that closed nothing: it did not fit, or came too late."""
SETTLED = ("approved", "overridden")
"""Approval outcomes that continue with an action; all others are final."""


class Seen(Protocol):
    """An event of the session's sequence."""

    @property
    def type(self) -> str: ...
    @property
    def turn_id(self) -> str | None: ...
    @property
    def correlation(self) -> str | None: ...
    @property
    def data(self) -> Mapping[str, Any]: ...


def closes(approval: str, request: str, event: Seen) -> bool:
    """Return whether the event closes the approval that the request answers, or reports that the answer is stale."""
    of_this = event.type == "approval.closed" and event.data.get("approval_id") == approval
    return of_this and (event.correlation == request or event.data.get("outcome") != STALE)


def commits(turn: str, event: Seen) -> bool:
    """Return whether the event ends a commit: the turn's files changed, or will not."""
    if event.turn_id != turn:
        return False
    if event.type == "approval.closed":
        return event.data.get("outcome") not in SETTLED
    return event.type in ("workspace.changed", "turn.ended")


def ends(turn: str, event: Seen) -> bool:
    """Return whether the event ends the cancelled turn."""
    return event.type == "turn.ended" and event.turn_id == turn


def undoes(request: str, turn: str, event: Seen) -> bool:
    """Return whether the event ends a rollback: files or stage changed, or its turn ended."""
    ours = event.turn_id == turn or event.correlation == request
    return ours and event.type in ("workspace.changed", "turn.ended")
