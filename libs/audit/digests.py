"""Salted digests: a record refers to content without storing it, and a secret salt keeps the content from being
guessed.

Each person of a tenant has a salt, a secret of the `keys` port. Salt and content together prove that a record refers to
that content: both give the same digest.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

from libs.keys import Keys
from libs.keys.canonical import canonical


def salt(keys: Keys, tenant: str, person: str) -> bytes:
    """Return the person's salt; create it on first use."""
    return keys.secret(_name(tenant, person))


def digest(salt: bytes, content: Any) -> str:
    """Return the HMAC-SHA-256 of the content's canonical JSON, in hex.

    Raises:
        Uncanonical: the content is not JSON.
    """
    return hmac.digest(salt, canonical(content), "sha256").hex()


def digests(salt: bytes, contents: Mapping[str, Any]) -> dict[str, str]:
    """Return the value of `ActionRecorded.digests`: one digest per named content."""
    return {name: digest(salt, content) for name, content in contents.items()}


def _name(tenant: str, person: str) -> str:
    # Encode as JSON, so that ("a", "b:c") and ("a:b", "c") remain two people.
    return "salt:" + canonical([tenant, person]).decode()
