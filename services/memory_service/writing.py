"""Writes of memories, facts and feedback. Each policy decision is recorded in the changeset that it permits.

Events and HTTP share this code, so that both follow the same rules (P4, S3-53).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from libs import ids
from libs.changes import Cause, Changeset, Row
from libs.errors import Rejected
from libs.events import FeedbackGiven, RememberRequested
from libs.policy import Decision, Policy
from libs.runtime import permission
from libs.search import Embedder
from services.memory_service.domain import facts
from services.memory_service.rows import FactForgotten, FactPut, FeedbackAdded, MemoryAdded
from services.memory_service.store import SESSION, literal

FACT, FEEDBACK = "fact", "feedback"
EMBEDDED_MOST = 8_000
"""Characters of a memory that are embedded; word search covers all of it."""


class SessionMissing(Rejected):
    """A memory of the universe `session` needs a session; name one."""

    code = "SESSION_MISSING"


@dataclass(frozen=True, slots=True)
class Person:
    """The person for whom a service writes."""

    id: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A decision and its changeset. A denial's changeset contains only the audit record."""

    changeset: Changeset
    decision: Decision

    def put(self, row: Row) -> Written:
        """Add what is written; a denial permits nothing."""
        return replace(self, changeset=self.changeset.put(row)) if self.decision.allowed else self


class Writing:
    """The writer. Safe to repeat: memories and feedback are keyed by id, facts by content."""

    def __init__(self, policy: Policy, embedder: Embedder) -> None:
        self._policy, self._embedder = policy, embedder

    async def remember(self, cause: Cause, asked: RememberRequested) -> Written:
        """Store a memory; of kind `fact`, a fact.

        Raises:
            SessionMissing: without a session it could never be recalled.
            Unavailable: policy or the embedder does not answer.
        """
        person = Person(asked.user, asked.scopes)
        if asked.kind == FACT:
            key, value = facts.read(asked.text)
            return await self.keep(cause, person, key, value, id=asked.memory_id)
        if asked.universe == SESSION and cause.session is None:
            raise SessionMissing
        # Policy before the embedder: a model reads no text that may not be stored.
        written = await self._decide(cause, person, asked.kind, asked.memory_id)
        if not written.decision.allowed:
            return written
        [vector] = await self._embedder.embed_documents([asked.text[:EMBEDDED_MOST]])
        row = MemoryAdded(
            memory_id=asked.memory_id,
            user_id=person.id,
            session_id=cause.session,
            universe=asked.universe,
            kind=asked.kind,
            text=asked.text,
            embedder=self._embedder.name,
            embedding=literal(vector),
        )
        return written.put(row)

    async def keep(self, cause: Cause, person: Person, key: str, value: str, *, id: str) -> Written:
        """Store a fact at the person's explicit request."""
        fact = FactPut(fact_id=id, user_id=person.id, key=key, value=value, source="explicit")
        return (await self._decide(cause, person, FACT, id)).put(fact)

    async def forget(self, cause: Cause, person: Person, key: str, value: str | None) -> Written:
        """Delete the facts of a key, or of a key and value."""
        forgotten = FactForgotten(user_id=person.id, key=key, value=value)
        return (await self._decide(cause, person, FACT, cause.id)).put(forgotten)

    async def record_feedback(self, cause: Cause, given: FeedbackGiven, *, scopes: tuple[str, ...]) -> Written:
        """Record feedback, under an id derived from its cause."""
        id = ids.derived(cause.id, FEEDBACK)
        person = Person(given.user, scopes)
        row = FeedbackAdded(
            feedback_id=id,
            user_id=person.id,
            session_id=cause.session,
            subject=given.subject,
            score=given.score,
            comment=given.comment,
        )
        return (await self._decide(cause, person, FEEDBACK, id)).put(row)

    async def _decide(self, cause: Cause, person: Person, kind: str, resource: str) -> Written:
        """Ask policy and record the decision (deploy/opa/README.md names the fields)."""
        decision = await self._policy.decide(
            "memory.write",
            {
                "tenant": cause.tenant,
                "principal": {"id": person.id, "scopes": list(person.scopes)},
                "session": cause.session,
                "turn": cause.turn,
                "kind": kind,
                "user": person.id,
            },
        )
        record = permission.recorded(decision, cause, person.id, resource)
        return Written(Changeset(cause).emit(record), decision)
