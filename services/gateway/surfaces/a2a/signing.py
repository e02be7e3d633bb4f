"""Signatures over cards and notifications: JWS (RFC 7515) by the gateway's own Ed25519 key, which it publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from libs.identity.tokens import encoded
from libs.keys import Keys, canonical

PURPOSE = "a2a"
"""The name of the key."""


def signed(keys: Keys, header: Mapping[str, Any], payload: bytes) -> tuple[str, str]:
    """Return the protected header and the signature over it and the payload, both in base64url."""
    # Only a signature names the current key, and the signed header must name it too.
    key_id = keys.sign(PURPOSE, b"").key_id
    protected = encoded(canonical({"alg": "EdDSA", "typ": "JOSE", "kid": key_id, **header}))
    return protected, encoded(keys.sign(PURPOSE, f"{protected}.{encoded(payload)}".encode()).value)


def key_set(keys: Keys) -> dict[str, Any]:
    """Return the public keys as a JWK set (RFC 7517, 8037)."""
    return {
        "keys": [
            {"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": name, "x": encoded(public)}
            for name, public in keys.public(PURPOSE).items()
        ]
    }
