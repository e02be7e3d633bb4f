"""Results of calls, and the fields of a step that they change."""

from __future__ import annotations

from typing import Any, TypeAlias

from libs.events import StepState, ToolDenied, ToolFailed, ToolSucceeded, ToolUnknown

Result: TypeAlias = ToolSucceeded | ToolFailed | ToolDenied | ToolUnknown


def outcome_of(result: Result) -> dict[str, Any]:
    """Return the fields of the step that the result changes."""
    match result:
        case ToolSucceeded():
            summary = " ".join((result.summary, *result.warnings)).strip()[:2000]
            shown = {"data": result.data, "summary": summary, "snapshot": result.snapshot}
            return {"state": StepState.SUCCEEDED, "error": None, **shown}
        case ToolFailed(code="CANCELLED"):
            return {"state": StepState.CANCELLED, "error": result.error}
        case ToolFailed():
            return {"state": StepState.FAILED, "error": f"{result.code}: {result.error}"}
        case ToolDenied():
            return {"state": StepState.DENIED, "error": f"{result.link}: {result.reason}"}
        case ToolUnknown():
            return {"state": StepState.UNKNOWN, "error": result.reason}
