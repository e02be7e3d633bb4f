"""The offline verifier: reads an export line by line, trusts nothing in it, and names the first place that is wrong.

What it can prove depends on what it is given. The export alone: that nothing was changed, removed, doubled, reordered
or cut after it was made. With `trusted_keys`, kept from earlier: that it was made by us. With `outside_checkpoints`:
that the database had not been rewritten before the export was made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from libs.audit.chain import genesis, leaf, link
from libs.audit.checkpoint import Checkpoint
from libs.audit.export import FORMAT
from libs.keys import ed25519
from libs.keys.canonical import Uncanonical, canonical

MAX_LINE = 1024 * 1024
"""Four times the largest event. A longer line is refused without being read to its end."""

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Report:
    """What was found."""

    ok: bool
    count: int
    """Records that hang together; all of them are signed for if `ok`."""
    first_bad: int | None
    """The place in the chain, from 1, at which the export first departs from what was recorded. Of records that hang
    together but are not the ones that were sealed: the first since the last good seal. None: no record is at fault."""
    problem: str = ""
    """One line for a person; empty if ok."""
    tenant: str = ""
    signed_by: tuple[str, ...] = ()
    """The ids of the keys that signed. Without `trusted_keys`, compare them with ours."""


def verify(
    source: Path | Iterable[bytes],
    *,
    trusted_keys: Mapping[str, bytes] | None = None,
    outside_checkpoints: Iterable[Checkpoint] = (),
) -> Report:
    """Check an export: a file, or its lines. Streams; memory does not grow with the number of records.

    `trusted_keys` (id → 32 raw bytes) replace the ones in the header. Checkpoints of other tenants are passed over.
    """
    check = _Check(trusted_keys, tuple(outside_checkpoints))
    try:
        for line in _lines(source) if isinstance(source, Path) else source:
            check.line(line)
        check.end()
    except _Bad as bad:
        return Report(False, check.count, bad.place, str(bad), check.tenant, tuple(sorted(check.signers)))
    return Report(True, check.count, None, "", check.tenant, tuple(sorted(check.signers)))


class _Bad(Exception):
    def __init__(self, place: int | None, problem: str) -> None:
        super().__init__(problem)
        self.place = place


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: str
    tenant: str
    export: str
    genesis: str
    keys: dict[str, str]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    position: int
    link: str
    record: dict[str, Any]


@dataclass(slots=True)
class _Check:
    """One pass: how far the chain hangs together, how far it is sealed, and how far the outside agrees."""

    trusted: Mapping[str, bytes] | None
    witnesses: tuple[Checkpoint, ...]
    tenant: str = ""
    export: str = ""
    keys: Mapping[str, bytes] = field(default_factory=dict)
    outside: dict[int, str] = field(default_factory=dict)
    head: bytes = b""
    count: int = 0
    sealed: int = 0
    agreed: int = 0
    signers: set[str] = field(default_factory=set)
    closing: Checkpoint | None = None

    def line(self, raw: bytes) -> None:
        place = self.count + 1 if self.tenant else None
        kind, members = _parsed(raw, place)
        if self.closing is not None:
            raise _Bad(place, "the export goes on after its last checkpoint")
        if (kind == "header") == bool(self.tenant):
            raise _Bad(place, "a header must stand at the beginning, and only there")
        match kind:
            case "header":
                self.header(_fitted(_Header, members, None))
            case "record":
                self.record(_fitted(_Record, members, place))
            case "checkpoint":
                self.checkpoint(_checkpoint(members, self.sealed + 1))
            case _:
                raise _Bad(place, "a line is neither header, record nor checkpoint")

    def header(self, header: _Header) -> None:
        if header.format != FORMAT:
            raise _Bad(None, f"the format is not {FORMAT}")
        if not header.tenant or header.genesis != genesis(header.tenant).hex():
            raise _Bad(None, "the header's genesis is not the tenant's")
        self.tenant, self.export, self.head = header.tenant, header.export, genesis(header.tenant)
        self.keys = _keys(header.keys) if self.trusted is None else self.trusted
        self.call_witnesses()

    def call_witnesses(self) -> None:
        """Only checkpoints that were signed by us can say anything; one that was not puts the keys in doubt."""
        for witness in self.witnesses:
            if witness.tenant != self.tenant:
                continue
            if not witness.holds(self.keys):
                raise _Bad(None, f"the outside checkpoint after record {witness.count} is by no key that we trust")
            if self.outside.setdefault(witness.count, witness.head) != witness.head:
                raise _Bad(witness.count, f"two outside checkpoints after record {witness.count} contradict each other")
        self.hear_outside()

    def record(self, line: _Record) -> None:
        place = self.count + 1
        if line.position > place:
            raise _Bad(place, f"record {place} is missing: record {line.position} stands in its place")
        if line.position < place:
            raise _Bad(place, f"record {line.position} stands again in the place of record {place}")
        if line.record.get("tenant") != self.tenant:
            raise _Bad(place, f"record {place} is not of tenant {self.tenant}")
        expected = link(self.head, leaf(line.record))
        if line.link != expected.hex():
            raise _Bad(place, f"record {place} does not fit its link: it was changed, or is not the one recorded here")
        self.head, self.count = expected, place
        self.hear_outside()

    def hear_outside(self) -> None:
        witness = self.outside.get(self.count)
        if witness is None:
            return
        if witness != self.head.hex():
            raise _Bad(
                self.agreed + 1,
                f"records {self.agreed + 1} to {self.count} are not the ones that the outside checkpoint covers",
            )
        self.agreed = self.count

    def checkpoint(self, checkpoint: Checkpoint) -> None:
        since = self.sealed + 1
        if not checkpoint.holds(self.keys):
            raise _Bad(since, f"the checkpoint after record {checkpoint.count} is forged, or by a key not trusted")
        if checkpoint.tenant != self.tenant or checkpoint.closes not in (None, self.export):
            raise _Bad(since, f"the checkpoint after record {checkpoint.count} belongs to another tenant or export")
        if checkpoint.count > self.count:
            raise _Bad(self.count + 1, f"records {self.count + 1} to {checkpoint.count} were cut out")
        if checkpoint.count < self.count:
            raise _Bad(since, f"the checkpoint after record {checkpoint.count} stands after record {self.count}")
        if checkpoint.head != self.head.hex():
            raise _Bad(since, f"records {since} to {self.count} are not the ones that were sealed")
        self.sealed = self.count
        self.signers.add(checkpoint.key_id)
        if checkpoint.closes is not None:
            self.closing = checkpoint

    def end(self) -> None:
        if not self.tenant:
            raise _Bad(None, "the export is empty")
        if self.closing is None:
            raise _Bad(self.sealed + 1, f"the export was cut: nothing after record {self.sealed} is sealed by its end")
        for witness in self.witnesses:
            later = witness.count > self.count and witness.time <= self.closing.time
            if later and witness.tenant == self.tenant:
                raise _Bad(self.count + 1, f"the chain had {witness.count} records before the export, not {self.count}")


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE + 1):
            yield line


def _parsed(raw: bytes, place: int | None) -> tuple[object, dict[str, Any]]:
    """The line's kind and members. It must be the very bytes that an export writes, so that no change is too small."""
    if len(raw) > MAX_LINE:
        raise _Bad(place, f"a line is longer than {MAX_LINE} bytes")
    try:
        members = json.loads(raw)
        exact = canonical(members) + b"\n" == raw
    except (ValueError, RecursionError, Uncanonical):
        raise _Bad(place, "a line is not JSON") from None
    if not exact or not isinstance(members, dict):
        raise _Bad(place, "a line is not as an export writes it")
    return members.pop("kind", None), members


def _fitted(kind: type[M], members: dict[str, Any], place: int | None) -> M:
    try:
        return kind.model_validate(members)
    except ValidationError:
        raise _Bad(place, f"a line lacks what a {kind.__name__.strip('_').lower()} has") from None


def _checkpoint(members: dict[str, Any], place: int) -> Checkpoint:
    checkpoint = _fitted(Checkpoint, members, place)
    # A time has many spellings, and the signature covers only one.
    if checkpoint.model_dump(mode="json") != members:
        raise _Bad(place, "a checkpoint is not as an export writes it")
    return checkpoint


def _keys(stated: Mapping[str, str]) -> Mapping[str, bytes]:
    try:
        keys = {key_id: bytes.fromhex(raw) for key_id, raw in stated.items()}
    except ValueError:
        raise _Bad(None, "a key in the header is not hex") from None
    if any(ed25519.key_id(raw) != key_id or raw.hex() != stated[key_id] for key_id, raw in keys.items()):
        raise _Bad(None, "a key in the header does not fit its id")
    return keys
