"""A turn's events in a few words, for the progress of a call."""

from __future__ import annotations

from typing import Any

from services.gateway.sessions.store import Numbered


def words_of(event: Numbered, session_id: str) -> str:
    """Return what an event means for a person who waits; empty for what says nothing to them."""
    data: Any = event.data
    match event.type:
        case "message.accepted":
            return f"turn {event.turn_id} of session {session_id}"
        case "turn.queued":
            return f"waiting for {data['position']} earlier turns"
        case "turn.started":
            return "started"
        case "plan.proposed":
            steps = data["plan"]["steps"]
            return f"plan: {'; '.join(step['description'] for step in steps[:10])}"[:500] if steps else ""
        case "step.changed":
            summary = data.get("summary") or data.get("error") or ""
            return f"{data['ordinal']}. {data['description']}: {data['state']} {summary}".strip()[:500]
        case "approval.requested" | "clarification.requested":
            return f"asks: {data.get('title') or data.get('question')}"[:500]
        case "approval.closed":
            return str(data["outcome"])
        case "workspace.changed":
            return f"files {data['change']}"
        case _:
            return ""
