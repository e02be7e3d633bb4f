"""The projection of an outbound event: the rows of turns, approvals and attachments that it changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import ValidationError

from libs.changes import Row
from libs.events import (
    ApprovalClosed,
    ApprovalRequested,
    Asset,
    ClarificationReplied,
    ClarificationRequested,
    Envelope,
    MessageCompleted,
    Outbound,
    StepChanged,
    TurnEnded,
    TurnQueued,
    TurnStarted,
)
from services.gateway.files.rows import AssetPut
from services.gateway.http.models import short
from services.gateway.sessions import rows

ACCEPTED = "suma.message.accepted.v1"
"""The only type in session_events that is not an event of the bus: a message answered with 202."""


_CLASSES: Mapping[str, type[Outbound]] = {short(cls.type): cls for cls in get_args(Outbound)}


def decoded(kind: str, body: str) -> Outbound | None:
    """Return an event of the sequence by its public name and data; None for one that only a newer release knows."""
    try:
        return _CLASSES[kind].model_validate_json(body)
    except (KeyError, ValidationError):
        return None


def projected(event: Envelope[Any]) -> Iterator[Row]:
    """Yield the rows that an outbound event changes, except its own row in the sequence."""
    at = event.time.isoformat()
    match event.data:
        case TurnQueued(turn_id=turn):
            yield rows.TurnMoved(turn, state="queued", moved_at=at)
        case TurnStarted(turn_id=turn):
            yield rows.TurnMoved(turn, state="running", started_at=at, moved_at=at)
        case ClarificationRequested(turn_id=turn):
            yield rows.TurnMoved(turn, state="awaiting_clarification", moved_at=at)
        case ClarificationReplied(turn_id=turn, instead=None):
            yield rows.TurnMoved(turn, state="running", moved_at=at)
        case ClarificationReplied(message_id=message, text=text, instead=str(turn)):
            yield rows.TurnOpened(turn, event.session, message, text, "received", at)
        case MessageCompleted(turn_id=turn, text=text):
            yield rows.TurnMoved(turn, answer=text)
        case TurnEnded(turn_id=turn, state=state, reason=reason, detail=detail):
            yield rows.TurnMoved(turn, state=state, reason=reason, detail=detail, ended_at=at)
        case StepChanged(result=Asset() as result):
            yield _asset_stored(event, result)
        case ApprovalRequested():
            yield from _approval_opened(event)
        case ApprovalClosed(outcome="stale"):
            return  # An answer that came too late closes nothing.
        case ApprovalClosed():
            yield from _approval_closed(event)


def _asset_stored(event: Envelope[StepChanged], result: Asset) -> Row:
    return AssetPut(
        **result.model_dump(), session_id=event.session, turn_id=event.data.turn_id, at=event.time.isoformat()
    )


def _approval_opened(event: Envelope[ApprovalRequested]) -> Iterator[Row]:
    asked, at = event.data, event.time.isoformat()
    yield rows.ApprovalOpened(
        approval_id=asked.approval_id,
        session_id=event.session,
        turn_id=asked.turn_id,
        kind=asked.kind,
        digest=asked.digest,
        data=asked.model_dump(mode="json"),
        at=at,
        expires_in=asked.expires_in,
    )
    yield rows.TurnMoved(asked.turn_id, state="awaiting_approval", moved_at=at)


def _approval_closed(event: Envelope[ApprovalClosed]) -> Iterator[Row]:
    answer, at = event.data, event.time.isoformat()
    yield rows.ApprovalClosed(
        approval_id=answer.approval_id,
        outcome=answer.outcome,
        principal=answer.principal,
        reason=answer.reason,
        at=at,
    )
    yield rows.TurnMoved(answer.turn_id, state="running", moved_at=at)
