"""Checkpoints: "after so many records the chain's last link was this", signed, and kept outside Postgres too.

A chain alone finds an edit, but whoever owns the database can compute a new chain. They cannot sign checkpoints anew,
and they cannot reach the ones that were written elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fcntl import LOCK_EX, flock
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from libs.keys import Keys, ed25519
from libs.keys.canonical import canonical

_HEX = re.compile(r"[0-9a-f]{128}")

PURPOSE = "audit"
"""The name of the signing key."""

EVERY_RECORDS = 1_000
EVERY = timedelta(seconds=60)
"""A checkpoint is due at whichever comes first (DESIGN §17)."""


class Checkpoint(BaseModel):
    """The signed state of one tenant's chain. `head` and `signature` are hex."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tenant: str
    count: int
    head: str
    time: AwareDatetime
    closes: str | None = None
    """The export that ends here, so that one cut back to an earlier checkpoint shows it."""
    key_id: str = ""
    signature: str = ""

    def payload(self) -> bytes:
        """The bytes that are signed: the canonical JSON of all but key and signature."""
        return canonical(self.model_dump(mode="json", exclude={"key_id", "signature"}))

    def holds(self, public: Mapping[str, bytes]) -> bool:
        """Whether one of these keys (id → raw bytes) signed it. Needs nothing but the keys."""
        key = public.get(self.key_id)
        # One spelling only: `fromhex` would also take capitals and blanks.
        if key is None or not _HEX.fullmatch(self.signature):
            return False
        return ed25519.verify(key, self.payload(), bytes.fromhex(self.signature))


def sign(keys: Keys, *, tenant: str, count: int, head: bytes, time: datetime, closes: str | None = None) -> Checkpoint:
    """The signed checkpoint after `count` records, whose last link is `head` (`genesis(tenant)` if there are none)."""
    bare = Checkpoint(tenant=tenant, count=count, head=head.hex(), time=time, closes=closes)
    signature = keys.sign(PURPOSE, bare.payload())
    return bare.model_copy(update={"key_id": signature.key_id, "signature": signature.value.hex()})


def due(*, unsealed: int, since: datetime, now: datetime) -> bool:
    """Whether it is time to sign, with `unsealed` records since the last checkpoint, which was signed at `since`."""
    return unsealed >= EVERY_RECORDS or (unsealed > 0 and now - since >= EVERY)


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """An append-only file of checkpoints, one JSON line each, all tenants together.

    Put it where the database's owner has no say: another volume, `chattr +a`, or a log that is shipped away. Several
    processes may append. The calls block (fsync): from a coroutine use `asyncio.to_thread`.
    """

    path: Path

    def append(self, checkpoint: Checkpoint) -> None:
        """Returns once the checkpoint is on the disk. A second copy of one does no harm."""
        new = not self.path.exists()
        fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            flock(fd, LOCK_EX)
            os.write(fd, self._start(fd) + canonical(checkpoint.model_dump(mode="json")) + b"\n")
            os.fsync(fd)
        finally:
            os.close(fd)
        if new:
            self._sync_folder()

    def read(self, tenant: str | None = None) -> Iterator[Checkpoint]:
        """The checkpoints in the order in which they were written; of one tenant, or of all."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for line in file:
                checkpoint = _parsed(line)
                if checkpoint is not None and tenant in (None, checkpoint.tenant):
                    yield checkpoint

    def _start(self, fd: int) -> bytes:
        """A crash may have left half a line. It was never acknowledged; the next one starts afresh."""
        size = os.fstat(fd).st_size
        return b"\n" if size and os.pread(fd, 1, size - 1) != b"\n" else b""

    def _sync_folder(self) -> None:
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _parsed(line: bytes) -> Checkpoint | None:
    try:
        return Checkpoint.model_validate_json(line)
    except ValidationError:
        return None
