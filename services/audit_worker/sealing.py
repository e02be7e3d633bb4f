"""Sealing: signs each chain's head every 60 s or 1,000 records, first to a file outside Postgres, then to a table."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence

from libs import ids
from libs.audit import Checkpoint, CheckpointFile
from libs.audit.checkpoint import PURPOSE, due, sign
from libs.changes import Cause, Changeset
from libs.errors import SumaError
from libs.polling import Pause
from libs.runtime import Platform
from libs.telemetry import logger
from services.audit_worker.rows import Sealed
from services.audit_worker.store import GROUP, Head, Store

log = logger("audit")
FORGED_MOST = 100
"""Number of last lines per tenant that are checked. More lines signed by foreign keys would hide a valid one."""


class Sealer:
    """The signer of chain heads. Several may run at once: two checkpoints of one head are equivalent."""

    def __init__(self, platform: Platform, store: Store, file: CheckpointFile) -> None:
        self._platform, self._store, self._file = platform, store, file
        self.problem: str | None = None
        """The error of the last sealing attempt; None if it succeeded."""
        self.broken: Mapping[str, str] = {}
        """Chains that contradicted their outside checkpoints at start, by tenant. They are sealed no more."""

    async def keep_sealing(self, every: float) -> None:
        """Look for chains to seal every `every` seconds, less often in a quiet process, until cancelled. If sealing
        fails, chaining goes on and sealing is retried.
        """
        compared, pause = False, Pause(every)
        while True:
            try:
                # Before the first seal: afterwards the last outside checkpoint would be one of the chain as it is now.
                if not compared:
                    await self.compare()
                    compared = True
                if await self.seal_due():
                    pause.found()
                self.problem = None
            except (SumaError, OSError) as error:
                self.problem = f"audit checkpoints cannot be written: {error}"
                log.error("failed to write a checkpoint", error=str(error))
            await asyncio.sleep(pause.next())

    async def compare(self) -> None:
        """Compare each chain with its last outside checkpoint, which the database's owner cannot alter."""
        sealed = await asyncio.to_thread(self._last_outside)
        found = {checkpoint.tenant: await self._contradiction(checkpoint) for checkpoint in sealed}
        self.broken = {tenant: problem for tenant, problem in found.items() if problem}
        for problem in self.broken.values():
            log.error("found a chain that contradicts its checkpoints", problem=problem)

    async def _contradiction(self, sealed: Checkpoint) -> str:
        head = await self._store.head(sealed.tenant)
        link = await self._store.link(sealed.tenant, sealed.count)
        have = head.count if head is not None else 0
        if link is None or have < sealed.count:
            return f"audit: the chain of {sealed.tenant} was cut: {sealed.count} records were sealed, {have} exist"
        if link.hex() != sealed.head:
            return f"audit: the chain of {sealed.tenant} was rewritten before record {sealed.count}"
        return ""

    def _last_outside(self) -> Sequence[Checkpoint]:
        """Return the highest checkpoint of each tenant that a known key signed."""
        last: dict[str, deque[Checkpoint]] = {}
        for checkpoint in self._file.read():
            last.setdefault(checkpoint.tenant, deque(maxlen=FORGED_MOST)).append(checkpoint)
        known_keys = self._platform.keys.public(PURPOSE)
        signed = [[c for c in each if c.count and c.holds(known_keys)] for each in last.values()]
        return [max(each, key=lambda checkpoint: checkpoint.count) for each in signed if each]

    async def seal_due(self) -> bool:
        """Seal every chain that is due; return whether any has unsealed records."""
        now = self._platform.clock.now()
        heads = await self._store.unsealed()
        # A seal on a rewritten chain would be its newest outside checkpoint, and hide the break from the next start.
        whole = (head for head in heads if head.tenant not in self.broken)
        due_heads = [head for head in whole if due(unsealed=head.count - head.sealed, since=head.since, now=now)]
        for head in due_heads:
            await self.seal(head)
        return bool(heads)

    async def seal(self, head: Head) -> Checkpoint:
        """Sign a checkpoint of this committed head. Write the file first, so that every checkpoint in the table is also
        outside.
        """
        now = self._platform.clock.now()
        checkpoint = sign(self._platform.keys, tenant=head.tenant, count=head.count, head=head.link, time=now)
        await asyncio.to_thread(self._append, checkpoint)
        cause = Cause.request(GROUP, id=ids.new(), tenant=head.tenant, key=f"{head.tenant}:checkpoints")
        row = Sealed(**checkpoint.model_dump(mode="json", exclude={"tenant", "closes"}))
        await self._platform.writer.apply(Changeset(cause).put(row))
        return checkpoint

    def _append(self, checkpoint: Checkpoint) -> None:
        self._file.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file.append(checkpoint)
