"""Extraction: facts that a person states in passing are kept once their session has ended (S2-25, S2-28).

A session has ended when it was silent for `extract_after` seconds. A message with a statement starts a lease that falls
due then; it reads the message again, so that what was forgotten or erased meanwhile is not extracted. Rules find the
statements, and no model is asked. The ids of facts derive from the message, so a repetition changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import SumaError
from libs.events import NAMES, FactStated, RememberRequested
from libs.leases import Lease, NewLease
from libs.runtime import Kind
from libs.telemetry.logs import logger
from services.memory_service.domain import facts
from services.memory_service.store import SESSION, Store
from services.memory_service.writing import Writing

EXTRACT, MESSAGE = "extract", "message"

log = logger("memory")


@dataclass(frozen=True, slots=True)
class Reading:
    """The statements of a message; `wait` are the seconds until its session may have ended."""

    found: Sequence[facts.Said] = ()
    wait: float = 0.0


class Extracting:
    def __init__(self, store: Store, writing: Writing, *, after: float) -> None:
        self._store, self._writing, self._after = store, writing, after

    @property
    def kind(self) -> Kind[Any]:
        return Kind(EXTRACT, self.read, self.ended, self.failed)

    def look(self, changeset: Changeset, asked: RememberRequested, at: datetime) -> Changeset:
        """Start the lease of a message that states something."""
        if asked.kind != MESSAGE or asked.universe != SESSION or not facts.extracted(asked.text):
            return changeset
        about = {"memory_id": asked.memory_id, "user": asked.user, "scopes": list(asked.scopes), "at": at.isoformat()}
        return changeset.start(NewLease(ids.derived(asked.memory_id, EXTRACT), EXTRACT, about, delay=self._after))

    async def read(self, lease: Lease) -> Reading:
        message = await self._store.message(lease.tenant, lease.input["user"], lease.input["memory_id"])
        if message is None:
            return Reading()
        silent: float = message["silent"]
        return Reading(facts.extracted(message["text"]), wait=max(0.0, self._after - silent))

    async def ended(self, lease: Lease, reading: Reading) -> Changeset:
        """Keep the statements, or wait again while the session goes on."""
        cause = Cause.of_lease(lease)
        if reading.wait:
            return Changeset(cause).start(lease.successor(_input(lease), delay=reading.wait))
        changeset = Changeset(cause)
        for n, found in enumerate(reading.found):
            stated = FactStated(
                fact_id=ids.derived(lease.input["memory_id"], f"{EXTRACT}:{n}"),
                user=lease.input["user"],
                text=f"{found.key}: {found.value}",
                subject=found.subject,
                key=found.key,
                value=found.value,
                many=found.many,
                source="extraction",
                # A message is the person's own words.
                touched=NAMES,
                scopes=tuple(lease.input["scopes"]),
            )
            at = datetime.fromisoformat(lease.input["at"])
            changeset += (await self._writing.state(cause, stated, at)).changeset
        return changeset

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        log.warning("gave up an extraction", code=error.code)
        return Changeset(Cause.of_lease(lease))


def _input(lease: Lease) -> dict[str, Any]:
    """Return the input without what the lease adds to it."""
    return {name: value for name, value in lease.input.items() if not name.startswith("_")}
