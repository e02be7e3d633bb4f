"""tool.requests and tool.results: a call is granted, attempted, and its outcome reported."""

from __future__ import annotations

from pydantic import Field

from libs.events.base import Event, event
from libs.events.topics import TOOL_REQUESTS, TOOL_RESULTS
from libs.events.values import Args, Asset, Body, Diff, Hitl, Touched


@event("suma.tool.requested.v1", TOOL_REQUESTS)
class ToolRequested(Event):
    """Run a tool. `grant` signs the digest of all of this but hints; without it nothing runs (architecture.md 9)."""

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
    """Time limit of the call, in seconds."""
    principal: str
    scopes: tuple[str, ...] = ()
    hitl: Hitl = Hitl.KEY
    allowed: tuple[str, ...] = ("*",)
    """The agent's tool allowlist."""
    approval_id: str | None = None
    tool_digest: str | None = None
    """Digest of the tool definition that was planned, checked by policy and perhaps approved: no other one runs."""
    attachments: tuple[Asset, ...] = ()
    """The session's attached files, for a tool that takes them; their contents are uploads of the tenant."""
    unstaged: bool = False
    """A hint: nothing is staged in this turn yet, so a copy of its tree from this turn is current. The grant does not
    cover it.
    """
    listed: tuple[str, ...] = ()
    """Names of the args that an earlier step's result filled: what they hold was chosen in bulk, not named. A hint."""
    touched: Touched = Touched()
    """The content that the session had read when this was decided. By default all kinds."""
    own_words: bool = False
    """Whether every word of the args is one that the person wrote in this turn."""
    grant: str


@event("suma.tool.cancel_requested.v1", TOOL_REQUESTS)
class ToolCancelRequested(Event):
    """Cancel calls whose results are no longer needed."""

    turn_id: str
    call_id: str | None = None
    """None cancels every call of the turn."""


@event("suma.calls.erase_requested.v1", TOOL_REQUESTS)
class CallsEraseRequested(Event):
    """Erase what the executor keeps of a session, all of whose turns have ended."""

    grant: str
    """The conversation worker's signature, for this session alone (`libs.identity.grants`)."""


@event("suma.tool.started.v1", TOOL_RESULTS)
class ToolStarted(Event):
    """An attempt started. Retired: old logs hold it; the audit record of the intent reports the start now."""

    call_id: str
    turn_id: str
    step_id: str
    attempt: int


@event("suma.tool.succeeded.v1", TOOL_RESULTS)
class ToolSucceeded(Event):
    """The call succeeded; `data` is its result."""

    call_id: str
    turn_id: str
    step_id: str
    data: Body
    summary: str = ""
    snapshot: str | None = None
    staged: int = 0
    """The stage's version after this call."""
    reads: tuple[str, ...] = ()
    """The paths whose listing, metadata, hash or content this call returned (at most 2,000)."""
    diff: Diff | None = None
    """The stage's net change, if the call changed the stage."""
    commit_id: str | None = None
    warnings: tuple[str, ...] = ()
    touched: Touched = Touched()
    """The content that the result shows. By default all kinds."""


@event("suma.tool.failed.v1", TOOL_RESULTS)
class ToolFailed(Event):
    """The call was attempted and failed; `code` gives the reason."""

    call_id: str
    turn_id: str
    step_id: str
    code: str
    error: str
    conflicts: tuple[str, ...] = ()
    touched: Touched = Touched()
    """The content that the error may show. By default all kinds."""


@event("suma.tool.denied.v1", TOOL_RESULTS)
class ToolDenied(Event):
    """A check refused the call: schema, allowlist, guards, scope, policy, grant (architecture.md 9)."""

    call_id: str
    turn_id: str
    step_id: str
    link: str
    reason: str


@event("suma.tool.unknown.v1", TOOL_RESULTS)
class ToolUnknown(Event):
    """A crash left the effect's outcome unknown, and no program can determine it. A person must."""

    call_id: str
    turn_id: str
    step_id: str
    reason: str
    intent: str = ""
    """The key with which an external system may have received the effect."""
