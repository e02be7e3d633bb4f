"""Handlers of the memory service's events. Safe to repeat: row ids derive from the event."""

from __future__ import annotations

from libs.changes import Cause, Changeset
from libs.events import Envelope, FeedbackGiven, RememberRequested
from services.memory_service.writing import Writing


class Handlers:
    def __init__(self, writing: Writing) -> None:
        self._writing = writing

    async def remember(self, cause: Cause, event: Envelope[RememberRequested]) -> Changeset:
        return (await self._writing.remember(cause, event.data)).changeset

    async def feedback(self, cause: Cause, event: Envelope[FeedbackGiven]) -> Changeset:
        return (await self._writing.record_feedback(cause, event.data, scopes=event.data.scopes)).changeset
