"""Which event tells a command's caller what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

EFFECT = "effect"
"""The kind of a question whether an effect happened."""
SETTLED = ("approved", "overridden")
"""An approval that was closed thus goes on to act; any other end is the end."""


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


def closes(approval: str, event: Seen) -> bool:
    """Of an answer to an approval: that it is closed."""
    return event.type == "approval.closed" and event.data.get("approval_id") == approval


def commits(turn: str, event: Seen) -> bool:
    """Of a commit: what happened to the files of the turn, or that nothing will."""
    if event.turn_id != turn:
        return False
    if event.type == "approval.closed":
        return event.data.get("outcome") not in SETTLED
    return event.type in ("workspace.changed", "turn.ended")


def ends(turn: str, event: Seen) -> bool:
    """Of a cancel: the turn's end."""
    return event.type == "turn.ended" and event.turn_id == turn


def undoes(request: str, turn: str, event: Seen) -> bool:
    """Of a rollback: what happened to the files or the stage, or the end of the turn that was to do it."""
    ours = event.turn_id == turn or event.correlation == request
    return ours and event.type in ("workspace.changed", "turn.ended")
