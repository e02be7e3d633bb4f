"""A chain as stored by the audit worker, its export, and tools to falsify it."""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from libs.audit.chain import genesis, leaf, link
from libs.audit.checkpoint import Checkpoint, sign
from libs.audit.export import Entry, export
from libs.events.audit import ActionRecorded
from libs.events.envelope import Envelope
from libs.keys import Keys
from libs.keys.canonical import canonical

START = datetime(2026, 1, 1, tzinfo=UTC)
EXPORTED = START + timedelta(hours=1)


@dataclass(frozen=True)
class Log:
    """One tenant's chain, with a checkpoint after every third record."""

    keys: Keys
    tenant: str
    records: tuple[dict[str, Any], ...]

    def entries(self) -> list[Entry]:
        head, made = genesis(self.tenant), []
        for position, record in enumerate(self.records, 1):
            head = link(head, leaf(record))
            made.append(Entry(position, head, record))
        return made

    def checkpoints(self) -> list[Checkpoint]:
        return [self.seal(entry) for entry in self.entries() if entry.position % 3 == 0]

    def seal(self, entry: Entry, *, time: datetime | None = None) -> Checkpoint:
        time = time or START + timedelta(seconds=entry.position)
        return sign(self.keys, tenant=self.tenant, count=entry.position, head=entry.link, time=time)

    async def exported(
        self, entries: Sequence[Entry] | None = None, checkpoints: Iterable[Checkpoint] | None = None
    ) -> list[bytes]:
        stored = self.entries() if entries is None else entries
        sealed = self.checkpoints() if checkpoints is None else checkpoints
        lines = export(self.keys, self.tenant, each(stored), sealed, id="export-1", now=EXPORTED)
        return [line async for line in lines]


async def each(entries: Iterable[Entry]) -> AsyncIterator[Entry]:
    for entry in entries:
        yield entry


def event(number: int, tenant: str = "acme") -> Envelope[ActionRecorded]:
    data = ActionRecorded(
        action="tool.execute",
        phase="outcome",
        verdict="succeeded",
        principal="ada",
        resource=f"call-{number}",
        revision="policy-1",
        digests={"args": "0" * 64},
    )
    place = {"source": "tool_executor", "key": f"{tenant}:s-1", "session": "s-1"}
    return Envelope(id=f"event-{number}", time=START, tenant=tenant, data=data, **place)


def record_at(lines: Sequence[bytes], position: int) -> int:
    return next(at for at, line in enumerate(lines) if json.loads(line).get("position") == position)


def checkpoint_at(lines: Sequence[bytes], count: int) -> int:
    return next(at for at, line in enumerate(lines) if json.loads(line).get("count") == count)


def rewritten(line: bytes, **members: Any) -> bytes:
    return canonical(json.loads(line) | members) + b"\n"


def relinked(lines: Sequence[bytes], tenant: str = "acme") -> list[bytes]:
    """Renumber and relink every record, as an attacker could who owns the export but not the signing key."""
    head, position, made = genesis(tenant), 0, []
    for line in lines:
        members = json.loads(line)
        if members["kind"] == "record":
            position += 1
            head = link(head, leaf(members["record"]))
            members |= {"position": position, "link": head.hex()}
        made.append(canonical(members) + b"\n")
    return made
