"""Writes of a person's mind. Each asks policy for `memory.write`, kind `mind`, and records the decision."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from typing_extensions import override

from libs import ids
from libs.changes import Cause
from libs.leases import NewLease
from services.memory_service.domain.modulators import Modulators
from services.memory_service.mind.rows import (
    AdaptationReset,
    Modulated,
    PersonaDeleted,
    PersonaPut,
    SleepStarted,
    SleepUndone,
)
from services.memory_service.writing import Person, Writing, Written

MIND = "mind"
"""The kind of these writes, for policy."""
SLEEP = "sleep"
"""The kind of lease that consolidates."""


class MindWriting(Writing):
    @override
    async def _decide(self, cause: Cause, person: Person, kind: str, resource: str) -> Written:
        written = await super()._decide(cause, person, kind, resource)
        return written.then(partial(self._changed, cause.tenant, person.id))

    async def modulate(self, cause: Cause, person: Person, levels: Modulators) -> Written:
        row = Modulated(person.id, levels.dopamine, levels.serotonin, levels.noradrenaline, levels.acetylcholine)
        return (await self._decide(cause, person, MIND, "modulators")).put(row)

    async def reset(self, cause: Cause, person: Person) -> Written:
        """Begin the weights of feedback anew; the feedback itself is kept."""
        return (await self._decide(cause, person, MIND, "adaptation")).put(AdaptationReset(person.id))

    async def put_persona(self, cause: Cause, person: Person, persona: str, text: str) -> Written:
        row = PersonaPut(person.id, persona, text)
        return (await self._decide(cause, person, MIND, f"persona:{persona}")).put(row)

    async def delete_persona(self, cause: Cause, person: Person, persona: str) -> Written:
        row = PersonaDeleted(person.id, persona)
        return (await self._decide(cause, person, MIND, f"persona:{persona}")).put(row)

    async def sleep(
        self, cause: Cause, person: Person, *, nrem: bool, rem: bool, pause: float | None = None
    ) -> Written:
        """Start a sleep, under a lease, with an id derived from its cause. It conflicts with a running one. `pause` is
        the seconds between two of its batches.
        """
        id = ids.derived(cause.id, SLEEP)
        written = await self._decide(cause, person, MIND, f"sleep:{id}")
        if not written.decision.allowed:
            return written
        about = {"sleep_id": id, "person": person.id, "nrem": nrem, "rem": rem, "pause": pause}
        written = written.put(SleepStarted(id, person.id, nrem, rem))
        return replace(written, changeset=written.changeset.start(NewLease(id, SLEEP, about)))

    async def undo(self, cause: Cause, person: Person, sleep: str) -> Written:
        """Take a sleep back. It conflicts if the sleep runs, was undone, or is another person's."""
        return (await self._decide(cause, person, MIND, f"sleep:{sleep}")).put(SleepUndone(sleep, person.id))
