"""Handlers of the memory service's events. Safe to repeat: row ids derive from the event."""

from __future__ import annotations

from libs.changes import Cause, Changeset
from libs.events import (
    Envelope,
    FactsForgotten,
    FactStated,
    FeedbackGiven,
    MemoryEraseRequested,
    OutcomeRecorded,
    RememberRequested,
)
from services.memory_service.extracting import Extracting
from services.memory_service.mind.sleeping import Sleeping
from services.memory_service.mind.writing import MindWriting
from services.memory_service.rows import OutcomeAdded
from services.memory_service.writing import Person, Writing


class Handlers:
    def __init__(self, writing: Writing, minds: MindWriting, sleeping: Sleeping, extracting: Extracting) -> None:
        self._writing, self._minds, self._sleeping, self._extracting = writing, minds, sleeping, extracting

    async def remember(self, cause: Cause, event: Envelope[RememberRequested]) -> Changeset:
        written = await self._writing.remember(cause, event.data, event.time)
        if not written.decision.allowed:
            return written.changeset
        changeset = self._extracting.look(written.changeset, event.data, event.time)
        return changeset.on_commit(lambda: self._sleeping.look(cause.tenant, event.data))

    async def state(self, cause: Cause, event: Envelope[FactStated]) -> Changeset:
        return (await self._writing.state(cause, event.data, event.time)).changeset

    async def forget(self, cause: Cause, event: Envelope[FactsForgotten]) -> Changeset:
        return (await self._writing.forget(cause, event.data, event.time)).changeset

    async def erase(self, cause: Cause, event: Envelope[MemoryEraseRequested]) -> Changeset:
        return (await self._writing.erase(cause, Person(event.data.user, event.data.scopes))).changeset

    async def feedback(self, cause: Cause, event: Envelope[FeedbackGiven]) -> Changeset:
        return (await self._minds.record_feedback(cause, event.data, scopes=event.data.scopes)).changeset

    async def outcome(self, cause: Cause, event: Envelope[OutcomeRecorded]) -> Changeset:
        # Policy is asked about memories of people; these are sums of the tenant, without content.
        return Changeset(cause).put(OutcomeAdded(**event.data.model_dump()))
