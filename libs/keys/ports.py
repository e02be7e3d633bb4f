"""The port: six verbs over named keys. Grants, internal tokens and the audit chain sign through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from libs.errors import NotFound, Rejected, Unavailable


class KeyExposed(Rejected):
    """Someone else can read or replace a private key; nothing is signed with it until its permissions are mended."""

    code = "KEY_EXPOSED"


class KeyUnavailable(Unavailable):
    """The private half of this key is not here, or cannot be read."""

    code = "KEY_UNAVAILABLE"


class SecretForgotten(NotFound):
    """This secret was erased on purpose and will never come back."""

    code = "SECRET_FORGOTTEN"


@dataclass(frozen=True, slots=True)
class Signature:
    """An Ed25519 signature (64 bytes, RFC 8032) and the key that made it. `key_id` is `ed25519.key_id(public)`."""

    key_id: str
    value: bytes


class Keys(Protocol):
    """Signing keys and secrets, by name.

    A key is made when it is first needed, once, whoever asks at the same moment. All calls are local and short (under
    a millisecond): an adapter of a remote store keeps what it needs in memory. Any name is safe to pass.
    """

    def sign(self, name: str, payload: bytes) -> Signature:
        """Sign exactly these bytes with the current key of `name`.

        Raises:
            KeyExposed: the private key lies open to others.
            KeyUnavailable: it cannot be read here.
        """
        ...

    def verify(self, name: str, payload: bytes, signature: Signature) -> bool:
        """Whether any key that `name` has or had made this signature over these bytes. Never makes a key."""
        ...

    def public(self, name: str) -> Mapping[str, bytes]:
        """The public keys of `name`, retired ones too: key id → 32 raw bytes."""
        ...

    def rotate(self, name: str) -> str:
        """Make a new current key and return its id. The one before signs no more, but still verifies."""
        ...

    def secret(self, name: str) -> bytes:
        """32 random bytes, the same for ever: a salt, or a key for HMAC.

        Raises:
            SecretForgotten: it was erased.
            KeyExposed: it lies open to others.
            KeyUnavailable: it cannot be read here.
        """
        ...

    def forget(self, name: str) -> None:
        """Erase the secret of `name` for good. Repeating it changes nothing."""
        ...
