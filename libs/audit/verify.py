"""The offline verifier: reads an export line by line, trusts nothing in it, and reports the first fault.

The proof depends on the inputs. The export alone proves that nothing was changed, removed, duplicated, reordered or cut
after it was made. With `trusted_keys`, kept from earlier, it proves that this platform made it. With
`outside_checkpoints`, it proves that the database was not rewritten before the export.
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
"""Four times the largest event. A longer line is rejected before it is read completely."""

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a verification."""

    ok: bool
    count: int
    """Records with consistent links; if `ok`, signatures cover all of them."""
    first_bad: int | None
    """The chain position, from 1, at which the export first differs from the recorded chain. If the links are
    consistent but contradict a checkpoint, the first record after the last valid checkpoint. None: no record is at
    fault.
    """
    problem: str = ""
    """One line for display; empty if ok."""
    tenant: str = ""
    signed_by: tuple[str, ...] = ()
    """The ids of the signing keys. Without `trusted_keys`, compare them with known ids."""


def verify(
    source: Path | Iterable[bytes],
    *,
    trusted_keys: Mapping[str, bytes] | None = None,
    outside_checkpoints: Iterable[Checkpoint] = (),
) -> Report:
    """Verify an export, given as a file or as its lines. Memory does not grow with the number of records.

    `trusted_keys` (id → 32 raw bytes) replace those in the header. Checkpoints of other tenants are ignored.
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
    """One pass over an export: links verified, records sealed, and records confirmed by outside checkpoints so far."""

    trusted: Mapping[str, bytes] | None
    outside_checkpoints: tuple[Checkpoint, ...]
    tenant: str = ""
    export: str = ""
    keys: Mapping[str, bytes] = field(default_factory=dict)
    outside_heads: dict[int, str] = field(default_factory=dict)
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
            raise _Bad(place, "the export continues after its last checkpoint")
        if (kind == "header") == bool(self.tenant):
            raise _Bad(place, "the header must be the first line, and only the first")
        match kind:
            case "header":
                self.header(_validated(_Header, members, None))
            case "record":
                self.record(_validated(_Record, members, place))
            case "checkpoint":
                self.checkpoint(_checkpoint(members, self.sealed + 1))
            case _:
                raise _Bad(place, "a line is neither a header, a record nor a checkpoint")

    def header(self, header: _Header) -> None:
        if header.format != FORMAT:
            raise _Bad(None, f"the format is not {FORMAT}")
        if not header.tenant or header.genesis != genesis(header.tenant).hex():
            raise _Bad(None, "the header's genesis is not the tenant's")
        self.tenant, self.export, self.head = header.tenant, header.export, genesis(header.tenant)
        self.keys = _keys(header.keys) if self.trusted is None else self.trusted
        self.load_outside()

    def load_outside(self) -> None:
        """Load this tenant's outside checkpoints. One with an unknown signature means that the keys may be wrong."""
        for checkpoint in self.outside_checkpoints:
            if checkpoint.tenant != self.tenant:
                continue
            if not checkpoint.holds(self.keys):
                raise _Bad(
                    None, f"the outside checkpoint after record {checkpoint.count} is not signed by a trusted key"
                )
            if self.outside_heads.setdefault(checkpoint.count, checkpoint.head) != checkpoint.head:
                raise _Bad(
                    checkpoint.count, f"two outside checkpoints after record {checkpoint.count} contradict each other"
                )
        self.compare_outside()

    def record(self, line: _Record) -> None:
        place = self.count + 1
        # The position before the link: a missing record breaks the link, too, and the report names the cause.
        if line.position > place:
            raise _Bad(place, f"record {place} is missing: record {line.position} is in its place")
        if line.position < place:
            raise _Bad(place, f"record {line.position} is repeated in the place of record {place}")
        if line.record.get("tenant") != self.tenant:
            raise _Bad(place, f"record {place} does not belong to tenant {self.tenant}")
        expected = link(self.head, leaf(line.record))
        if line.link != expected.hex():
            raise _Bad(place, f"record {place} does not match its link: it was changed or replaced")
        self.head, self.count = expected, place
        self.compare_outside()

    def compare_outside(self) -> None:
        expected = self.outside_heads.get(self.count)
        if expected is None:
            return
        if expected != self.head.hex():
            raise _Bad(
                self.agreed + 1,
                f"records {self.agreed + 1} to {self.count} differ from those that the outside checkpoint covers",
            )
        self.agreed = self.count

    def checkpoint(self, checkpoint: Checkpoint) -> None:
        since = self.sealed + 1
        if not checkpoint.holds(self.keys):
            raise _Bad(since, f"the checkpoint after record {checkpoint.count} is forged or signed by an unknown key")
        # An earlier export's last checkpoint must not close this one: a cut after it would not show.
        if checkpoint.tenant != self.tenant or checkpoint.closes not in (None, self.export):
            raise _Bad(since, f"the checkpoint after record {checkpoint.count} belongs to another tenant or export")
        if checkpoint.count > self.count:
            raise _Bad(self.count + 1, f"records {self.count + 1} to {checkpoint.count} were cut out")
        if checkpoint.count < self.count:
            raise _Bad(since, f"the checkpoint after record {checkpoint.count} is misplaced after record {self.count}")
        if checkpoint.head != self.head.hex():
            raise _Bad(since, f"records {since} to {self.count} differ from the sealed ones")
        self.sealed = self.count
        self.signers.add(checkpoint.key_id)
        if checkpoint.closes is not None:
            self.closing = checkpoint

    def end(self) -> None:
        if not self.tenant:
            raise _Bad(None, "the export is empty")
        if self.closing is None:
            raise _Bad(
                self.sealed + 1, f"the export was cut: no final checkpoint covers the records after {self.sealed}"
            )
        for checkpoint in self.outside_checkpoints:
            # The chain may have grown since the export.
            later = checkpoint.count > self.count and checkpoint.time <= self.closing.time
            if later and checkpoint.tenant == self.tenant:
                raise _Bad(
                    self.count + 1, f"the chain had {checkpoint.count} records before the export, not {self.count}"
                )


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        # One byte more than is allowed, by which a line that is too long is recognised.
        while line := file.readline(MAX_LINE + 1):
            yield line


def _parsed(raw: bytes, place: int | None) -> tuple[object, dict[str, Any]]:
    """Parse a line into its kind and members. Its bytes must equal the canonical form, so that any change is found."""
    if len(raw) > MAX_LINE:
        raise _Bad(place, f"a line is longer than {MAX_LINE} bytes")
    try:
        members = json.loads(raw)
        exact = canonical(members) + b"\n" == raw
    except (ValueError, RecursionError, Uncanonical):
        raise _Bad(place, "a line is not JSON") from None
    if not exact or not isinstance(members, dict):
        raise _Bad(place, "a line is not in the export format")
    return members.pop("kind", None), members


def _validated(kind: type[M], members: dict[str, Any], place: int | None) -> M:
    try:
        return kind.model_validate(members)
    except ValidationError:
        raise _Bad(place, f"a line is not a valid {kind.__name__.strip('_').lower()}") from None


def _checkpoint(members: dict[str, Any], place: int) -> Checkpoint:
    checkpoint = _validated(Checkpoint, members, place)
    # Accept one spelling of the time: a time has many, and the signature covers only one.
    if checkpoint.model_dump(mode="json") != members:
        raise _Bad(place, "a checkpoint is not in the export format")
    return checkpoint


def _keys(stated: Mapping[str, str]) -> Mapping[str, bytes]:
    try:
        keys = {key_id: bytes.fromhex(raw) for key_id, raw in stated.items()}
    except ValueError:
        raise _Bad(None, "a key in the header is not hex") from None
    if any(ed25519.key_id(raw) != key_id or raw.hex() != stated[key_id] for key_id, raw in keys.items()):
        raise _Bad(None, "a key in the header does not match its id")
    return keys
