"""Sealing: signs where the chains stand, every 60 s or 1,000 records: in a file outside Postgres, then in a table."""

from __future__ import annotations

import asyncio

from libs import ids
from libs.audit import Checkpoint, CheckpointFile
from libs.audit.checkpoint import due, sign
from libs.changes import Cause, Changeset
from libs.errors import SumaError
from libs.runtime.platform import Platform
from libs.telemetry.logs import logger
from services.audit_worker.store import GROUP, Head, Store

log = logger("audit")


class Sealer:
    """Several may work side by side: two seals of one head say the same."""

    def __init__(self, platform: Platform, store: Store, file: CheckpointFile) -> None:
        self._platform, self._store, self._file = platform, store, file
        self.problem: str | None = None
        """Why nothing could be sealed at the last look."""

    async def keep_sealing(self, every: float) -> None:
        """Look every so many seconds until cancelled. When no seal can be made, records go on and wait for one."""
        while True:
            try:
                await self.look()
                self.problem = None
            except (SumaError, OSError) as error:
                self.problem = f"audit checkpoints cannot be written: {error}"
                log.error("no checkpoint could be written", error=str(error))
            await asyncio.sleep(every)

    async def look(self) -> int:
        """Seal every chain that is due; how many were."""
        now = self._platform.clock.now()
        heads = await self._store.unsealed()
        ripe = [head for head in heads if due(unsealed=head.count - head.sealed, since=head.since, now=now)]
        for head in ripe:
            await self.seal(head)
        return len(ripe)

    async def seal(self, head: Head) -> Checkpoint:
        """A checkpoint of this committed head. First outside: what the table shows is then always there as well."""
        now = self._platform.clock.now()
        checkpoint = sign(self._platform.keys, tenant=head.tenant, count=head.count, head=head.link, time=now)
        await asyncio.to_thread(self._append, checkpoint)
        cause = Cause.request(GROUP, id=ids.new(), tenant=head.tenant, key=f"{head.tenant}:checkpoints")
        row = checkpoint.model_dump(mode="json", exclude={"tenant", "closes"})
        await self._platform.writer.apply(Changeset(cause).change("audit", "seal", **row))
        return checkpoint

    def _append(self, checkpoint: Checkpoint) -> None:
        self._file.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file.append(checkpoint)
