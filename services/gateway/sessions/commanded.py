"""Commands in a session: the receipt of one, and its outcome if it is known in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from libs.changes import Cause
from libs.identity import Principal
from services.gateway.sessions.context import Sessions
from services.gateway.sessions.models import Commanded, Session, StreamEvent
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.streams import TooManyStreams
from services.gateway.sessions.viewer import first

COMMANDED: dict[int | str, dict[str, Any]] = {202: {"model": Commanded, "description": "In progress"}}
"""The response of a command without an outcome in time."""


def receipt(cause: Cause, turn: str, session: Session) -> Mapping[str, Any]:
    """Return a command's immediate answer, which also identifies its outcome."""
    # The number from before the command: its outcome comes after it, however soon that is.
    return {"session_id": session.session_id, "turn_id": turn, "request_id": cause.id, "after": session.last_seq}


async def outcome(
    here: Sessions, caller: Principal, receipt: Mapping[str, Any], found: Callable[[Numbered], bool]
) -> Commanded:
    """Return a command with its outcome, if known within `command_wait` seconds (two by default)."""
    return commanded(receipt, await outcome_event(here, caller, receipt, found))


async def outcome_event(
    here: Sessions, caller: Principal, receipt: Mapping[str, Any], found: Callable[[Numbered], bool]
) -> Numbered | None:
    """Return the event that tells a command's outcome, or None if there is none in time."""
    # The command is done, also where no stream is left to wait on.
    with suppress(TooManyStreams):
        return await first(
            here.streams,
            caller.tenant,
            receipt["session_id"],
            after=receipt["after"],
            wait=here.settings.command_wait,
            found=found,
        )
    return None


def commanded(receipt: Mapping[str, Any], event: Numbered | None) -> Commanded:
    """Return a command and the event of its outcome, if any."""
    shown = StreamEvent.model_validate(event) if event else None
    return Commanded(**receipt, outcome=shown)
