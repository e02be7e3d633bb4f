"""The rows of uses of keys: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from libs.changes import Row, row
from services.gateway.schema import GROUP


@row(GROUP, "nonce.put")
class NoncePut(Row):
    """The nonce of a signed request; a second one conflicts."""

    key_id: str
    nonce: str


@row(GROUP, "key.used")
class KeyUsed(Row):
    """A use of a key, noted at most once a minute."""

    key_id: str
