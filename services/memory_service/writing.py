"""Writing: policy first, its answer recorded in the very changeset that it permits; then the memory, fact or feedback.

Both doors come here, events and HTTP, so that neither can write what the other may not (P4, S3-53).
"""

from __future__ import annotations

from dataclasses import dataclass

from libs import ids
from libs.changes import Cause, Change, Changeset
from libs.errors import Rejected
from libs.events import ActionRecorded, FeedbackGiven, RememberRequested
from libs.policy.ports import Decision, Policy
from libs.retrieval import Embedder
from services.memory_service.domain import facts
from services.memory_service.store import SESSION, literal

FACT, FEEDBACK = "fact", "feedback"
EMBEDDED_MOST = 8_000
"""Characters of a memory that its vector speaks for; words are found in all of it."""


class SessionMissing(Rejected):
    """A memory of the universe `session` belongs to a session, and none was named."""

    code = "SESSION_MISSING"


@dataclass(frozen=True, slots=True)
class Person:
    """On whose behalf something is written."""

    id: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What follows. Where the decision is a no, that is its record and nothing else."""

    changeset: Changeset
    decision: Decision


class Writing:
    """Each answers the same input with the same rows: memories and feedback by their ids, facts by what they say."""

    def __init__(self, policy: Policy, embedder: Embedder) -> None:
        self._policy, self._embedder = policy, embedder

    async def remember(self, cause: Cause, asked: RememberRequested) -> Written:
        """A memory; of the kind `fact`, a fact.

        Raises:
            SessionMissing: it could never come back.
            Unavailable: policy or the embedder does not answer.
        """
        person = Person(asked.user, asked.scopes)
        if asked.kind == FACT:
            key, value = facts.read(asked.text)
            return await self.keep(cause, person, key, value, id=asked.memory_id)
        if asked.universe == SESSION and cause.session is None:
            raise SessionMissing
        written = await self._decided(cause, person, asked.kind, asked.memory_id)
        if not written.decision.allowed:
            return written
        [vector] = await self._embedder.embed_document([asked.text[:EMBEDDED_MOST]])
        row = {
            "memory_id": asked.memory_id,
            "user_id": person.id,
            "session_id": cause.session,
            "universe": asked.universe,
            "kind": asked.kind,
            "text": asked.text,
            "embedder": self._embedder.name,
            "embedding": literal(vector),
        }
        added = Changeset(cause, (Change("memory", "memory.add", row),))
        return Written(written.changeset + added, written.decision)

    async def keep(self, cause: Cause, person: Person, key: str, value: str, *, id: str) -> Written:
        """A fact that the person asked to be kept."""
        written = await self._decided(cause, person, FACT, id)
        if not written.decision.allowed:
            return written
        fact = {"fact_id": id, "user_id": person.id, "key": key, "value": value, "source": "explicit"}
        return Written(written.changeset.change("memory", "fact.put", **fact), written.decision)

    async def forget(self, cause: Cause, person: Person, key: str, value: str | None) -> Written:
        """The facts of a key, or of a key and its value."""
        written = await self._decided(cause, person, FACT, cause.id)
        if not written.decision.allowed:
            return written
        gone = written.changeset.change("memory", "fact.forget", user_id=person.id, key=key, value=value)
        return Written(gone, written.decision)

    async def judge(self, cause: Cause, given: FeedbackGiven, *, scopes: tuple[str, ...]) -> Written:
        """Feedback on something, by its id."""
        id = ids.derived(cause.id, FEEDBACK)
        person = Person(given.user, scopes)
        written = await self._decided(cause, person, FEEDBACK, id)
        if not written.decision.allowed:
            return written
        changeset = written.changeset.change(
            "memory",
            "feedback.add",
            feedback_id=id,
            user_id=person.id,
            session_id=cause.session,
            subject=given.subject,
            score=given.score,
            comment=given.comment,
        )
        return Written(changeset, written.decision)

    async def _decided(self, cause: Cause, person: Person, kind: str, resource: str) -> Written:
        """Policy's answer and its record (deploy/opa/README.md names the fields)."""
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
        record = ActionRecorded(
            action=decision.action,
            phase="decision",
            verdict="allow" if decision.allowed else "deny",
            principal=person.id,
            resource=resource,
            rule=decision.rule,
            revision=decision.revision,
            turn_id=cause.turn,
        )
        return Written(Changeset(cause).say(record), decision)
