"""conversation.inbound: requests to the conversation worker."""

from __future__ import annotations

from pydantic import Field

from libs.events.base import Event, event
from libs.events.topics import INBOUND
from libs.events.values import Args, Asset, Hitl, Json, ToolCall

ATTACHMENTS_MOST = 10
"""Files that one message names."""


class Spoken(Event):
    """Base of the events that speak for a person."""

    proof: str = ""
    """The gateway's signature (`libs.identity.proofs`)."""


@event("suma.message.received.v1", INBOUND)
class MessageReceived(Spoken):
    """A person or program sent a message. The gateway has created both ids and stored the message."""

    message_id: str
    turn_id: str
    text: str = Field(max_length=100_000)
    principal: str
    scopes: tuple[str, ...] = ()
    hitl: Hitl = Hitl.KEY
    on_busy: str = "queue"
    root: str | None = None
    """The real directory that the session works in; None if it has none."""
    skill: str | None = None
    """A skill that the person selected, for example to answer a near miss (S4-50)."""
    attachments: tuple[Asset, ...] = Field(default=(), max_length=ATTACHMENTS_MOST)
    """Uploads of the sender; no two have the same file name."""
    call: ToolCall | None = None
    """The one call that the turn makes; `text` describes it. Every check of a planned call applies to it."""
    answers: str | None = None
    """The turn whose clarification it answers; if that is closed by now, the message begins `turn_id` instead."""
    agent: str | None = None
    """The agent that the person chose; None for the default one."""


@event("suma.approval.decided.v1", INBOUND)
class ApprovalDecided(Spoken):
    """A person answered an open approval. `digest` covers what that person saw."""

    approval_id: str
    verdict: str
    """approve | deny | override"""
    digest: str
    principal: str
    scopes: tuple[str, ...] = ()
    reason: str = ""
    exclude: tuple[str, ...] = ()
    args: Args | None = None


@event("suma.effect.resolved.v1", INBOUND)
class EffectResolved(Spoken):
    """A person resolved an effect whose outcome was unknown (architecture.md 8, 11)."""

    approval_id: str
    verdict: str
    """happened | did_not_happen"""
    digest: str
    principal: str
    scopes: tuple[str, ...] = ()
    reason: str = ""
    data: Json = None
    """The effect's result, if it happened; later steps may refer to its fields."""


@event("suma.turn.cancel_requested.v1", INBOUND)
class TurnCancelRequested(Spoken):
    """Cancel a turn: a waiting one is removed, a running one is stopped (architecture.md 8)."""

    turn_id: str
    principal: str
    scopes: tuple[str, ...] = ()
    reason: str = ""


@event("suma.erase.requested.v1", INBOUND)
class EraseRequested(Spoken):
    """A person's data is to be erased: the session of this event, and what is remembered of the person."""

    principal: str
    scopes: tuple[str, ...] = ()


@event("suma.rollback.requested.v1", INBOUND)
class RollbackRequested(Spoken):
    """Roll back to a snapshot of the open turn's stage, or a committed turn by its journal, or redo one."""

    turn_id: str
    """Created by the gateway for the rollback's own turn."""
    principal: str
    scopes: tuple[str, ...] = ()
    snapshot: str | None = None
    commit_id: str | None = None
    exclude: tuple[str, ...] = ()
    redo: bool = False
    """Make the changes of a rolled back commit again."""
