"""audit.events: intents, decisions and outcomes as ids and salted digests, never content (architecture.md 16)."""

from __future__ import annotations

from pydantic import Field
from typing_extensions import override

from libs.events.base import Event, SparseEvent, event
from libs.events.topics import AUDIT_EVENTS


@event("suma.action.recorded.v1", AUDIT_EVENTS)
class ActionRecorded(Event):
    """One audited action. A decision names the policy's revision and rule; an outcome names its intent."""

    action: str
    """conversation.send, tool.execute, memory.write, committee.required, approval.decide, workspace.commit …"""
    phase: str
    """decision | intent | outcome"""
    verdict: str
    """allow | deny | succeeded | failed | …"""
    principal: str
    resource: str = ""
    rule: str = ""
    revision: str = ""
    turn_id: str | None = None
    step_id: str | None = None
    call_id: str | None = None
    digests: dict[str, str] = Field(default_factory=dict)

    @override
    def json_bytes(self) -> bytes:
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()


@event("suma.actions.recorded.v1", AUDIT_EVENTS)
class ActionsRecorded(SparseEvent):
    """The audited actions of one changeset, in order. Each becomes a record of the chain, with the id `EVENT.N`."""

    records: tuple[ActionRecorded, ...]
