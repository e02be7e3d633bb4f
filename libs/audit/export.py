"""The export: self-verifying JSON Lines, each line canonical JSON.

    {"kind":"header","format":"suma.audit.v1","tenant":…,"export":…,"genesis":hex,"keys":{id: hex of the public key}}
    {"kind":"record","position":1,"link":hex,"record":{…}}
    {"kind":"checkpoint","count":1000,"head":hex,"tenant":…,"time":…,"closes":null,"key_id":…,"signature":hex}
    …
    {"kind":"checkpoint",…,"closes":the header's export}      always the last line, signed for this export

Records are in chain order. A checkpoint follows directly after the last record that it covers.
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
    """A stored row of the chain: its position (from 1), link and record."""

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
    """Yield the lines of a whole chain for streaming. `id` is new for each export. Entries and checkpoints ascend and
    come from one database snapshot.

    Rows are written as stored; the verifier judges them. The last line seals the last stored link. It covers only
    records after the previous checkpoint, so it cannot legitimise older ones.
    """
    yield _line("header", _header(tenant, id, keys.public(PURPOSE)))
    pending, count, head = list(checkpoints)[::-1], 0, genesis(tenant)
    async for entry in entries:
        while pending and pending[-1].count < entry.position:
            yield _sealed(pending.pop())
        yield _line("record", {"position": entry.position, "link": entry.link.hex(), "record": entry.record})
        count, head = entry.position, entry.link
    # Keep checkpoints beyond the last row: they prove that rows are missing.
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
