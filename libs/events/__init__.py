"""Event classes, which define the contract, and the envelope that carries them (architecture.md 6).

`make contracts` generates `proto/` from these classes; nothing is declared twice.
"""

from libs.events.audit import ActionRecorded, ActionsRecorded
from libs.events.base import Event, Value, registry
from libs.events.committee import (
    PlanApproved,
    PlanCancelRequested,
    PlanRejected,
    PlanRequested,
    PlanUnclear,
)
from libs.events.deadletters import EventDeadLettered
from libs.events.envelope import Envelope
from libs.events.inbound import (
    ApprovalDecided,
    EffectResolved,
    MessageReceived,
    RollbackRequested,
    TurnCancelRequested,
)
from libs.events.memory import FeedbackGiven, RememberRequested
from libs.events.outbound import (
    ApprovalClosed,
    ApprovalRequested,
    ClarificationRequested,
    MessageCompleted,
    PlanProposed,
    StepChanged,
    TurnAnalysed,
    TurnDegraded,
    TurnEnded,
    TurnQueued,
    TurnStarted,
    WorkspaceChanged,
)
from libs.events.tools import (
    ToolCancelRequested,
    ToolDenied,
    ToolFailed,
    ToolRequested,
    ToolStarted,
    ToolSucceeded,
    ToolUnknown,
)

__all__ = [
    "ActionRecorded",
    "ActionsRecorded",
    "ApprovalClosed",
    "ApprovalDecided",
    "ApprovalRequested",
    "ClarificationRequested",
    "EffectResolved",
    "Envelope",
    "Event",
    "EventDeadLettered",
    "FeedbackGiven",
    "MessageCompleted",
    "MessageReceived",
    "PlanApproved",
    "PlanCancelRequested",
    "PlanProposed",
    "PlanRejected",
    "PlanRequested",
    "PlanUnclear",
    "RememberRequested",
    "RollbackRequested",
    "StepChanged",
    "ToolCancelRequested",
    "ToolDenied",
    "ToolFailed",
    "ToolRequested",
    "ToolStarted",
    "ToolSucceeded",
    "ToolUnknown",
    "TurnAnalysed",
    "TurnCancelRequested",
    "TurnDegraded",
    "TurnEnded",
    "TurnQueued",
    "TurnStarted",
    "Value",
    "WorkspaceChanged",
    "registry",
]
