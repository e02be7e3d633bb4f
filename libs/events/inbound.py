"""conversation.inbound: what people ask of the conversation worker."""

from __future__ import annotations

from pydantic import Field

from libs.events.base import Event, event
from libs.events.topics import INBOUND
from libs.events.values import Args, Hitl, Json


@event("suma.message.received.v1", INBOUND)
class MessageReceived(Event):
    """A person or program said something. The gateway has minted both ids and stored the message."""

    message_id: str
    turn_id: str
    text: str = Field(max_length=100_000)
    principal: str
    scopes: tuple[str, ...] = ()
    hitl: Hitl = Hitl.KEY
    on_busy: str = "queue"
    root: str | None = None
    """The real directory that the session works in; None while it has none."""
    skill: str | None = None
    """A skill that the person picked, for example to answer a near miss (S4-50)."""


@event("suma.approval.decided.v1", INBOUND)
class ApprovalDecided(Event):
    """A person answered an open approval. `digest` is of what that person saw."""

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
class EffectResolved(Event):
    """A person has found out whether an effect happened of which nobody could tell (DESIGN §7, §10)."""

    approval_id: str
    verdict: str
    """happened | did_not_happen"""
    digest: str
    principal: str
    scopes: tuple[str, ...] = ()
    reason: str = ""
    data: Json = None
    """What came of it, where it happened; later steps may refer to its fields."""


@event("suma.turn.cancel_requested.v1", INBOUND)
class TurnCancelRequested(Event):
    """A person wants a turn to end: one that waits is removed, one at work is stopped (DESIGN §7)."""

    turn_id: str
    principal: str
    scopes: tuple[str, ...] = ()
    reason: str = ""


@event("suma.rollback.requested.v1", INBOUND)
class RollbackRequested(Event):
    """Undo: to a snapshot of the open turn's stage, or a whole committed turn by its journal."""

    turn_id: str
    """Minted by the gateway for the work of rolling back."""
    principal: str
    scopes: tuple[str, ...] = ()
    snapshot: str | None = None
    commit_id: str | None = None
    exclude: tuple[str, ...] = ()
