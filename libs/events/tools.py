"""tool.requests and tool.results: a call is granted, tried, and its outcome told."""

from __future__ import annotations

from pydantic import Field

from libs.events.base import Event, event
from libs.events.topics import TOOL_REQUESTS, TOOL_RESULTS
from libs.events.values import Args, Body, Diff, Hitl


@event("suma.tool.requested.v1", TOOL_REQUESTS)
class ToolRequested(Event):
    """Run a tool. `grant` is signed over the digest of all of this; without a valid one nothing runs (DESIGN §8)."""

    call_id: str
    turn_id: str
    plan_id: str
    step_id: str
    ordinal: int
    tool: str
    args: Args = Field(default_factory=dict)
    skill: str | None = None
    root: str | None = None
    epoch: int
    attempt: int = 1
    deadline: float
    """Seconds of work allowed."""
    principal: str
    scopes: tuple[str, ...] = ()
    hitl: Hitl = Hitl.KEY
    allowed: tuple[str, ...] = ("*",)
    """The agent's tool allowlist."""
    approval_id: str | None = None
    tool_digest: str | None = None
    """The tool's definition that was planned, policed and perhaps approved: no other is run."""
    grant: str


@event("suma.tool.cancel_requested.v1", TOOL_REQUESTS)
class ToolCancelRequested(Event):
    """Stop work that nobody wants any more."""

    turn_id: str
    call_id: str | None = None
    """None cancels every call of the turn."""


@event("suma.tool.started.v1", TOOL_RESULTS)
class ToolStarted(Event):
    """An attempt has begun."""

    call_id: str
    turn_id: str
    step_id: str
    attempt: int


@event("suma.tool.succeeded.v1", TOOL_RESULTS)
class ToolSucceeded(Event):
    """The call is done; `data` is what it returned."""

    call_id: str
    turn_id: str
    step_id: str
    data: Body
    summary: str = ""
    snapshot: str | None = None
    staged: int = 0
    """The stage's version after this call."""
    reads: tuple[str, ...] = ()
    """The paths whose listing, metadata, hash or content this call showed (at most 2,000)."""
    diff: Diff | None = None
    """The stage's net change after a call that mutated it."""
    commit_id: str | None = None
    warnings: tuple[str, ...] = ()


@event("suma.tool.failed.v1", TOOL_RESULTS)
class ToolFailed(Event):
    """The call was tried and did not succeed; `code` names why."""

    call_id: str
    turn_id: str
    step_id: str
    code: str
    error: str
    conflicts: tuple[str, ...] = ()


@event("suma.tool.denied.v1", TOOL_RESULTS)
class ToolDenied(Event):
    """A link of the chain refused: schema, allowlist, guards, scope, policy, grant (DESIGN §8)."""

    call_id: str
    turn_id: str
    step_id: str
    link: str
    reason: str


@event("suma.tool.unknown.v1", TOOL_RESULTS)
class ToolUnknown(Event):
    """A crash left open whether the effect happened, and nothing can tell. A person must."""

    call_id: str
    turn_id: str
    step_id: str
    reason: str
    intent: str = ""
    """The key under which the world may have seen it."""
