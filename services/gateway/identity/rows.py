"""The rows of uses of keys: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from libs.changes import Row
from services.gateway.schema import GROUP


@dataclass(frozen=True, slots=True)
class NoncePut(Row):
    """The nonce of a signed request; a second one conflicts."""

    into: ClassVar = (GROUP, "nonce.put")

    key_id: str
    nonce: str


@dataclass(frozen=True, slots=True)
class KeyUsed(Row):
    """A use of a key, noted at most once a minute."""

    into: ClassVar = (GROUP, "key.used")

    key_id: str
