"""The record of every refused request in the audit log, bounded: at most one record of a kind at once and one a minute.

Callers that nothing identifies appear in the log of the platform's own tenant, by the rule that refused them.
"""

from __future__ import annotations

import asyncio

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import Unavailable
from libs.events import ActionRecorded
from libs.runtime import Platform
from services.gateway.http.refusal_records import Refusal, Tally
from services.gateway.schema import GROUP

LOOK_SECONDS = 5.0


class RefusalLog:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._tally = Tally()

    async def note(self, refusal: Refusal) -> None:
        """Record a refusal, or count it for its minute's record."""
        kind = self._tally.add(refusal, self._now())
        if kind is not None:
            await self._write(kind, 1)

    async def serve(self) -> None:
        """Record what was counted until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        for kind, count in self._tally.due(self._now()):
            await self._write(kind, count)

    async def _write(self, kind: Refusal, count: int) -> None:
        repeated = f"{count} requests" if count > 1 else ""
        refused = ActionRecorded(
            action=kind.action,
            phase="decision",
            verdict="deny",
            principal=kind.principal,
            resource=" ".join(part for part in (kind.resource, repeated) if part),
            rule=kind.rule,
        )
        cause = Cause.request(GROUP, id=ids.new(), tenant=kind.tenant, key=f"{kind.tenant}:{kind.principal}")
        try:
            await self._platform.writer.apply(Changeset(cause).emit(refused))
        except Unavailable:
            # The request is refused in any case; the record follows once Postgres answers.
            self._tally.missed(kind, count)

    def _now(self) -> float:
        return self._platform.clock.now().timestamp()
