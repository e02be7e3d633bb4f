"""Turns that wait for a slot: a lease for each session whose first letter found none, tenants and sessions in turn."""

from __future__ import annotations

from libs.changes import Cause, Changeset
from libs.errors import SumaError
from libs.leases.ports import Held
from services.conversation_worker import turns
from services.conversation_worker.handlers import Handlers
from services.conversation_worker.office import Office

QUEUED_AT_ONCE, QUEUED_EACH = 128, 4
"""Of what waits, so many stand at the slots of this process, and so many of one tenant; the others are rows alone."""


class Queue:
    def __init__(self, office: Office, handlers: Handlers) -> None:
        self._slots, self._store, self._scene = office.slots, office.store, handlers.scene
        self._office = office

    async def wait(self, held: Held) -> None:
        """Until there is a slot, which is then this session's."""
        await self._slots.take(_key(held), self._store.at_work)

    async def begin(self, held: Held, _: None) -> Changeset:
        """The session's next turn, if it is still wanted."""
        scene = await self._scene(Cause.held(held))
        turns.begin_next(self._office, scene)
        # Its commit gives the slot back where no turn is at work after all.
        return scene.close(self._store)

    async def begin_anyway(self, held: Held, _: SumaError) -> Changeset:
        """A slot could not be waited for; a message that was accepted becomes a turn all the same."""
        return await self.begin(held, None)


def _key(held: Held) -> tuple[str, str]:
    return held.tenant, Cause.held(held).session or ""
