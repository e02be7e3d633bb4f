"""Writes of memories, facts and feedback. Each policy decision is recorded in the changeset that it permits.

Events and HTTP share this code, so that both follow the same rules (P4, S3-53).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from libs import ids
from libs.changes import Cause, Changeset, Row
from libs.errors import Rejected
from libs.events import NOTHING, FactsForgotten, FactStated, FeedbackGiven, RememberRequested
from libs.policy import Decision, Policy
from libs.runtime import permission
from libs.search import Embedder
from libs.search.lists import codes
from services.memory_service.domain import facts
from services.memory_service.rows import (
    FactForgotten,
    FactPut,
    FeedbackAdded,
    MemoryAdded,
    MemoryForgotten,
    PersonErased,
)
from services.memory_service.store import SESSION, literal

FACT, FEEDBACK, ERASURE = "fact", "feedback", "erasure"
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

    def then(self, call: Callable[[], None]) -> Written:
        """Add a call for after the commit."""
        return replace(self, changeset=self.changeset.on_commit(call))


class Writing:
    """The writer. Safe to repeat: memories and feedback are keyed by id, facts by content."""

    def __init__(
        self,
        policy: Policy,
        embedder: Embedder,
        changed: Callable[[str, str], None] = lambda tenant, person: None,
    ) -> None:
        """Call `changed` once a change of what was recently read of a person has committed."""
        self._policy, self._embedder, self._changed = policy, embedder, changed

    async def remember(self, cause: Cause, asked: RememberRequested, at: datetime) -> Written:
        """Store a memory; of kind `fact`, a fact.

        Raises:
            SessionMissing: without a session it could never be recalled.
            Unavailable: policy or the embedder does not answer.
        """
        person = Person(asked.user, asked.scopes)
        if asked.kind == FACT:
            stated = FactStated(
                fact_id=asked.memory_id, user=asked.user, text=asked.text, scopes=asked.scopes, touched=NOTHING
            )
            return await self.state(cause, stated, at)
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
            bits=codes(vector[None])[0],
            event_id=cause.causation or cause.id,
            turn_id=cause.turn,
            source=asked.source or None,
            valid_from=asked.valid_from,
            valid_to=asked.valid_to,
            confidence=asked.confidence if asked.confidence != 1 else None,
        )
        return written.put(row)

    async def state(self, cause: Cause, stated: FactStated, at: datetime) -> Written:
        """Store a fact as of `at`, the time of its event. Raises BadFact."""
        said = (
            facts.said(stated.subject, stated.key, stated.value, many=stated.many)
            if stated.key
            else facts.read(stated.text)
        )
        row = FactPut(
            fact_id=stated.fact_id,
            user_id=stated.user,
            subject=said.subject,
            key=said.key,
            value=said.value,
            many=said.many or stated.many,
            source=stated.source,
            confidence=facts.CONFIDENCE[stated.source],
            valid_from=at,
            event_id=cause.id,
            turn_id=cause.turn,
            session_id=cause.session,
            **stated.touched.facts,
        )
        written = await self._decide(cause, Person(stated.user, stated.scopes), FACT, stated.fact_id)
        return written.put(row).then(partial(self._changed, cause.tenant, stated.user))

    async def forget(self, cause: Cause, asked: FactsForgotten, at: datetime) -> Written:
        """Make tombstones of facts, and remove what was derived from them."""
        resource = next(iter(asked.facts), cause.id)
        written = await self._decide(cause, Person(asked.user, asked.scopes), FACT, resource)
        for fact in asked.facts:
            written = written.put(FactForgotten(user_id=asked.user, at=at, fact_id=fact, turn_id=cause.turn))
        return written.then(partial(self._changed, cause.tenant, asked.user))

    async def forget_memory(self, cause: Cause, person: Person, memory_id: str) -> Written:
        """Delete one memory of the person. Safe to repeat."""
        forgotten = MemoryForgotten(user_id=person.id, memory_id=memory_id)
        return (await self._decide(cause, person, "message", memory_id)).put(forgotten)

    async def erase(self, cause: Cause, person: Person) -> Written:
        """Erase all that is remembered of a person."""
        written = await self._decide(cause, person, ERASURE, cause.id)
        return written.put(PersonErased(person.id)).then(partial(self._changed, cause.tenant, person.id))

    async def record_feedback(
        self, cause: Cause, given: FeedbackGiven, *, scopes: tuple[str, ...], id: str | None = None
    ) -> Written:
        """Record feedback, under an id derived from its cause if it has none. The same id replaces it."""
        id = id or ids.derived(cause.id, FEEDBACK)
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
