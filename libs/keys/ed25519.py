"""Ed25519 on raw bytes: the only use of the library, and all that an offline verifier needs."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def generate() -> bytes:
    """Return a new private key: 32 raw bytes."""
    return Ed25519PrivateKey.generate().private_bytes_raw()


def public_of(private: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def key_id(public: bytes) -> str:
    """Return the first 16 hex digits of SHA-256 over the public key, so a key cannot be filed under another's id."""
    return hashlib.sha256(public).hexdigest()[:16]


def sign(private: bytes, payload: bytes) -> bytes:
    return _private(private).sign(payload)


def verify(public: bytes, payload: bytes, signature: bytes) -> bool:
    try:
        _public(public).verify(signature, payload)
    except (InvalidSignature, ValueError):
        return False
    return True


# Loading a key costs as much as signing with it, and every call uses one of a few.
_private = lru_cache(64)(Ed25519PrivateKey.from_private_bytes)
_public = lru_cache(1024)(Ed25519PublicKey.from_public_bytes)
