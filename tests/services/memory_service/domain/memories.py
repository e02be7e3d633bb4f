"""Memories as a search finds them."""

from __future__ import annotations

from datetime import UTC, datetime

from services.memory_service.domain.ranking import Found


def memory(text: str, *, month: int) -> Found:
    """Return a memory of this month, found by meaning alone: an earlier one is nearer."""
    made = datetime(2026, month, 15, tzinfo=UTC)
    return Found(
        f"m-{month}",
        text,
        "message",
        made,
        near=month,
        worded=None,
        similarity=None,
        overlap=None,
        turn_id=None,
        source="",
        valid_from=made,
        confidence=1,
    )
