"""The export: JSON Lines that prove themselves, each line canonical JSON.

    {"kind":"header","format":"suma.audit.v1","tenant":…,"export":…,"genesis":hex,"keys":{id: hex of the public key}}
    {"kind":"record","position":1,"link":hex,"record":{…}}
    {"kind":"checkpoint","count":1000,"head":hex,"tenant":…,"time":…,"closes":null,"key_id":…,"signature":hex}
    …
    {"kind":"checkpoint",…,"closes":the header's export}      always the last line, signed for this export

Records stand in the chain's order; a checkpoint stands right behind the last record that it covers.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from libs.audit.chain import Record, genesis
from libs.audit.checkpoint import PURPOSE, Checkpoint, sign
from libs.keys import Keys
from libs.keys.canonical import canonical

FORMAT = "suma.audit.v1"


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the chain as it is stored: its position from 1, its link, its record."""

    position: int
    link: bytes
    record: Record


async def export(
    keys: Keys,
    tenant: str,
    entries: AsyncIterable[Entry],
    checkpoints: Iterable[Checkpoint] = (),
    *,
    id: str,
    now: datetime,
) -> AsyncIterator[bytes]:
    """The lines of a whole chain, ready to be streamed. `id` is new for each export; entries and checkpoints ascend,
    and come from one snapshot of the database.

    Rows are written as they are stored, right or wrong: judging them is the verifier's work. The last line seals the
    last link that was stored; it vouches for records since the checkpoint before, and cannot launder older ones.
    """
    yield _line("header", _header(tenant, id, keys.public(PURPOSE)))
    pending, count, head = list(checkpoints)[::-1], 0, genesis(tenant)
    async for entry in entries:
        while pending and pending[-1].count < entry.position:
            yield _sealed(pending.pop())
        yield _line("record", {"position": entry.position, "link": entry.link.hex(), "record": entry.record})
        count, head = entry.position, entry.link
    # Checkpoints beyond the last row tell of rows that are gone. They must not be left out.
    for checkpoint in reversed(pending):
        yield _sealed(checkpoint)
    yield _sealed(sign(keys, tenant=tenant, count=count, head=head, time=now, closes=id))


def _header(tenant: str, id: str, public: Mapping[str, bytes]) -> dict[str, Any]:
    raw = {key_id: key.hex() for key_id, key in public.items()}
    return {"format": FORMAT, "tenant": tenant, "export": id, "genesis": genesis(tenant).hex(), "keys": raw}


def _sealed(checkpoint: Checkpoint) -> bytes:
    return _line("checkpoint", checkpoint.model_dump(mode="json"))


def _line(kind: str, members: Mapping[str, Any]) -> bytes:
    return canonical({"kind": kind, **members}) + b"\n"
