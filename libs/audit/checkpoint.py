"""Checkpoints: the signed count and last link of a chain, kept outside Postgres as well.

A chain alone reveals an edit, but the database's owner can compute a new chain. The owner cannot sign new checkpoints,
and cannot reach those stored elsewhere.
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
"""A checkpoint is due at the earlier of the two limits (architecture.md 16)."""


class Checkpoint(BaseModel):
    """The signed state of one tenant's chain. `head` and `signature` are hex."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tenant: str
    count: int
    head: str
    time: AwareDatetime
    closes: str | None = None
    """The id of the export that this checkpoint closes. A truncated export ends in a checkpoint without it."""
    key_id: str = ""
    signature: str = ""

    def payload(self) -> bytes:
        """Return the signed bytes: the canonical JSON of all fields except key id and signature."""
        return canonical(self.model_dump(mode="json", exclude={"key_id", "signature"}))

    def holds(self, public: Mapping[str, bytes]) -> bool:
        """Return whether one of these keys (id → raw bytes) made the signature."""
        key = public.get(self.key_id)
        # Accept one spelling only: `fromhex` also accepts capitals and blanks.
        if key is None or not _HEX.fullmatch(self.signature):
            return False
        return ed25519.verify(key, self.payload(), bytes.fromhex(self.signature))


def sign(keys: Keys, *, tenant: str, count: int, head: bytes, time: datetime, closes: str | None = None) -> Checkpoint:
    """Sign a checkpoint after `count` records with last link `head` (`genesis(tenant)` if there are none)."""
    bare = Checkpoint(tenant=tenant, count=count, head=head.hex(), time=time, closes=closes)
    signature = keys.sign(PURPOSE, bare.payload())
    return bare.model_copy(update={"key_id": signature.key_id, "signature": signature.value.hex()})


def due(*, unsealed: int, since: datetime, now: datetime) -> bool:
    """Return whether a checkpoint is due, given `unsealed` records since the last one, signed at `since`."""
    return unsealed >= EVERY_RECORDS or (unsealed > 0 and now - since >= EVERY)


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """An append-only file of checkpoints of all tenants, one JSON line each.

    Store it beyond the control of the database's owner: on another volume, with `chattr +a`, or shipped to a remote
    log. Several processes may append. The calls block (fsync): from a coroutine use `asyncio.to_thread`.
    """

    path: Path

    def append(self, checkpoint: Checkpoint) -> None:
        """Append a checkpoint and return once it is on disk. Repeating it is harmless."""
        new = not self.path.exists()
        fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # Otherwise another process's line, half written, looks like one that a crash has left.
            flock(fd, LOCK_EX)
            # In one write, so that a crash leaves at most one partial line, at the end.
            os.write(fd, self._start(fd) + canonical(checkpoint.model_dump(mode="json")) + b"\n")
            os.fsync(fd)
        finally:
            os.close(fd)
        if new:
            # A new file's name needs a sync of its own to survive a power failure.
            self._sync_folder()

    def read(self, tenant: str | None = None) -> Iterator[Checkpoint]:
        """Yield the checkpoints of one tenant, or of all, in the order written."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for line in file:
                checkpoint = _parsed(line)
                if checkpoint is not None and tenant in (None, checkpoint.tenant):
                    yield checkpoint

    def _start(self, fd: int) -> bytes:
        """Return the line break that ends a partial line left by a crash; such a line was never acknowledged."""
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
