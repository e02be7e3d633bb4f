"""The port: five operations over named keys. Grants, internal tokens and the audit chain sign through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from libs.errors import Rejected, Unavailable


class KeyExposed(Rejected):
    """Other users can read or replace a private key; nothing is signed with it until its permissions are corrected."""

    code = "KEY_EXPOSED"


class KeyUnavailable(Unavailable):
    """The private half of this key is missing or unreadable."""

    code = "KEY_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Signature:
    """An Ed25519 signature (64 bytes, RFC 8032) and its key. `key_id` is `ed25519.key_id(public)`."""

    key_id: str
    value: bytes


class Keys(Protocol):
    """Signing keys and secrets, by name.

    A key is created once, when it is first needed, even under concurrent calls. All calls are local and short (under a
    millisecond): an adapter of a remote store caches what it needs in memory. Any name is safe to pass.
    """

    def sign(self, name: str, payload: bytes) -> Signature:
        """Sign exactly these bytes with the current key of `name`.

        Raises:
            KeyExposed: other users can read the private key.
            KeyUnavailable: it cannot be read here.
        """
        ...

    def verify(self, name: str, payload: bytes, signature: Signature) -> bool:
        """Return whether a key that `name` has or had made this signature over these bytes; never creates one."""
        ...

    def public(self, name: str) -> Mapping[str, bytes]:
        """Return the public keys of `name`, retired ones too: key id → 32 raw bytes."""
        ...

    def rotate(self, name: str) -> str:
        """Create a new current key and return its id. The previous one signs no more but still verifies."""
        ...

    def secret(self, name: str) -> bytes:
        """Return 32 random bytes that never change: a salt, or a key for HMAC.

        Raises:
            KeyExposed: other users can read it.
            KeyUnavailable: it cannot be read here.
        """
        ...
