"""Trust anchors for verifying an export: known public keys, and checkpoints kept outside Postgres.

An export contains its own keys, so on its own it proves only that it is consistent. A forger would sign with another
key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from libs.audit.checkpoint import PURPOSE, Checkpoint, CheckpointFile
from libs.errors import Rejected
from libs.keys import ed25519

RAW, HEX = 32, 64
"""Length of a public key in raw bytes, and in hex digits."""
FINGERPRINT = re.compile("[0-9a-f]{16}")
HEADER_MOST = 1024 * 1024


class BadTrust(Rejected):
    """The key or the checkpoint file is not usable; check the path and the format."""

    code = "BAD_TRUST"


@dataclass(frozen=True, slots=True)
class Trust:
    """The keys and checkpoints to verify against. With `keys` None, the export's own keys are used, unverified."""

    keys: Mapping[str, bytes] | None
    checkpoints: tuple[Checkpoint, ...] = ()


def of_folder(data: Path) -> Trust:
    """Return the audit keys and outside checkpoints of a data directory, if it has them."""
    found = [path.read_bytes() for path in sorted((data / "keys" / PURPOSE).glob("*.pub"))]
    keys = {ed25519.key_id(raw): raw for raw in found if len(raw) == RAW}
    # Without keys a checkpoint proves nothing: its signature cannot be verified.
    return Trust(keys or None, of_file(data / "audit" / "checkpoints.jsonl") if keys else ())


def of_file(path: Path) -> tuple[Checkpoint, ...]:
    return tuple(CheckpointFile(path).read())


def of_keys(export: Path, wanted: Sequence[str]) -> Mapping[str, bytes]:
    """Return the wanted keys, each named by a file or by a fingerprint of a key in the export's header.

    Raises:
        BadTrust: a name is neither a key file nor a fingerprint.
    """
    known, keys = _header_keys(export), {}
    for text in wanted:
        if Path(text).is_file():
            raw = _read(Path(text))
            keys[ed25519.key_id(raw)] = raw
        elif not FINGERPRINT.fullmatch(text.lower()):
            raise BadTrust(f"{text} is neither a file nor a fingerprint; give a key file or 16 hex digits")
        elif text.lower() in known:
            keys[text.lower()] = known[text.lower()]
    return keys


def _read(path: Path) -> bytes:
    raw = path.read_bytes()
    text = raw.strip()
    if len(raw) != RAW and len(text) == HEX:
        try:
            raw = bytes.fromhex(text.decode())
        except ValueError:
            raw = b""
    if len(raw) != RAW:
        raise BadTrust(f"{path} is not a public key; give {RAW} bytes or {HEX} hex digits")
    return raw


def _header_keys(export: Path) -> Mapping[str, bytes]:
    """Return the keys in the export's header by their computed fingerprints."""
    with export.open("rb") as file:
        line = file.readline(HEADER_MOST)
    try:
        raws = [bytes.fromhex(raw) for raw in json.loads(line)["keys"].values()]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {ed25519.key_id(raw): raw for raw in raws}
