"""A call as rows, records and events: what the executor writes down of every request, whatever it asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from libs.changes import Cause, Changeset
from libs.errors import Unavailable
from libs.events import ActionRecorded, ToolFailed, ToolRequested, Touched
from libs.leases import Lease
from libs.policy import Decision
from services.tool_executor.rows import CallClosed, CallOpened
from services.tool_executor.tools.workspace_tools import WORKSPACE_TOOLS

TEXT_MOST = 2000


class LeaseLost(Unavailable):
    """Another process may hold this work now; this one changes nothing more."""

    code = "LEASE_LOST"


def request_of(lease: Lease) -> ToolRequested:
    return ToolRequested.model_validate(lease.input["request"])


def cause_within(lease: Lease, what: str) -> Cause:
    """Return the cause of a commit in the middle of leased work, which does not end the lease."""
    # With the token: a new holder must not find its predecessor's inbox row and take the attempt for its own.
    return replace(Cause.of_lease(lease), id=f"{lease.id}:{lease.token}:{what}", lease=None)


def opened(cause: Cause, request: ToolRequested, state: str, outcome: dict[str, Any] | None = None) -> Changeset:
    """Return the call's row, written before anything happens."""
    row = CallOpened(
        call_id=request.call_id,
        session_id=cause.session or "",
        turn_id=request.turn_id,
        step_id=request.step_id,
        tool=request.tool,
        state=state,
        args=request.args,
        outcome=outcome,
        unless_cancelled=state == "running" and request.tool not in WORKSPACE_TOOLS,
    )
    return Changeset(cause).put(row)


def closed(cause: Cause, request: ToolRequested, state: str, outcome: dict[str, Any]) -> Changeset:
    """Return the outcome of a running call."""
    return Changeset(cause).put(CallClosed(request.call_id, state, outcome))


def recorded(request: ToolRequested, phase: str, verdict: str, *, rule: str = "", revision: str = "") -> ActionRecorded:
    """Return the audit record of a call's decision, intent or outcome."""
    return ActionRecorded(
        action="tool.execute",
        phase=phase,
        verdict=verdict,
        principal=request.principal,
        resource=request.tool,
        rule=rule,
        revision=revision,
        turn_id=request.turn_id,
        step_id=request.step_id,
        call_id=request.call_id,
    )


def allowed(request: ToolRequested, decision: Decision) -> ActionRecorded:
    """Return the record of policy's yes, with its rule and revision."""
    return recorded(request, "decision", "allow", rule=decision.rule, revision=decision.revision)


def failure(
    request: ToolRequested, code: str, error: str, *, touched: Touched, conflicts: tuple[str, ...] = ()
) -> ToolFailed:
    return ToolFailed(
        call_id=request.call_id,
        turn_id=request.turn_id,
        step_id=request.step_id,
        code=code,
        error=error[:TEXT_MOST],
        conflicts=conflicts,
        touched=touched,
    )
