"""Erasure of a person's data: a lease walks the person's sessions, and each service erases what it keeps of them.

Each session is one changeset under an id of its own, so that a repetition after a crash changes nothing. Its event has
the session's key: it arrives at the other services after all that the session's turns have sent (docs/decisions/0124).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import Conflict, SumaError, Unavailable
from libs.events import ActionRecorded, EraseRequested
from libs.identity import Principal
from libs.leases import Lease, NewLease
from libs.runtime import Kind, Platform
from services.gateway.files.uploads import dropping
from services.gateway.memory.rows import PersonErased, SessionErased
from services.gateway.memory.store import PersonStore
from services.gateway.schema import GROUP

ERASURE = "erasure"
SESSIONS_MOST = 200
RETRY_SECONDS = 30.0


class TurnOpen(Unavailable):
    """A turn of the person is open; it is erased once it has ended."""

    code = "TURN_OPEN"


def lease_of(who: Principal, at: datetime) -> NewLease:
    """Return the lease that erases what is kept of a principal: all of its sessions up to this time."""
    about = {"principal": who.id, "scopes": sorted(who.scopes), "before": at.isoformat()}
    return NewLease(ids.new(), ERASURE, about)


class Erasures:
    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, PersonStore(platform.database)

    @property
    def kinds(self) -> Sequence[Kind[Any]]:
        return [Kind(ERASURE, self._run, self._done, self._again, 8, 2)]

    async def _run(self, lease: Lease) -> None:
        """Erase the sessions. Raises TurnOpen."""
        principal, before = lease.input["principal"], datetime.fromisoformat(lease.input["before"])
        while found := await self._store.sessions(lease.tenant, principal, before=before, most=SESSIONS_MOST):
            for session in found:
                if not lease.valid():
                    raise Unavailable("the lease may be another process's by now")
                await self._erase(lease, session)

    async def _erase(self, lease: Lease, session: str) -> None:
        id, key = ids.derived(lease.id, session), f"{lease.tenant}:{session}"
        cause = Cause.request(GROUP, id=id, tenant=lease.tenant, key=key, session=session)
        try:
            await self._platform.writer.apply(Changeset(cause).put(SessionErased(session)).emit(_asked(lease)))
        except Conflict:
            raise TurnOpen from None

    async def _done(self, lease: Lease, _: None) -> Changeset:
        """Erase what belongs to no session, and record the end."""
        principal = lease.input["principal"]
        changeset = Changeset(Cause.of_lease(lease)).put(PersonErased(principal))
        changeset = dropping(changeset, *await self._store.uploads(lease.tenant, principal))
        outcome = ActionRecorded(
            action="memory.write",
            phase="outcome",
            verdict="erased",
            principal=principal,
            resource=f"{ERASURE}:{lease.id}",
        )
        return changeset.emit(_asked(lease), outcome)

    async def _again(self, lease: Lease, error: SumaError) -> Changeset:
        """Try later: what is not erased now must not be forgotten."""
        again = {name: lease.input[name] for name in ("principal", "scopes", "before")}
        return Changeset(Cause.of_lease(lease)).start(lease.successor(again, delay=RETRY_SECONDS))


def _asked(lease: Lease) -> EraseRequested:
    return EraseRequested(principal=lease.input["principal"], scopes=tuple(lease.input["scopes"]))
