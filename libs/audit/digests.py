"""Salted digests: a record can say "these very args" without holding them, and without anyone guessing them.

Each person of a tenant has a salt, a secret of the `keys` port. Whoever has salt and content can check that a record
speaks of that content. Once the salt is forgotten nobody can link the two again, and the chain stays whole, because it
covers the digests and not the content: that is how a person is erased from a log that cannot be changed.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

from libs.keys import Keys
from libs.keys.canonical import canonical


def salt(keys: Keys, tenant: str, person: str) -> bytes:
    """The person's salt, made when first needed.

    Raises:
        SecretForgotten: the person was erased; replay says so.
    """
    return keys.secret(_name(tenant, person))


def erase(keys: Keys, tenant: str, person: str) -> None:
    """Forget the person's salt for good. Repeating it changes nothing."""
    keys.forget(_name(tenant, person))


def digest(salt: bytes, content: Any) -> str:
    """HMAC-SHA-256, in hex, of the content's canonical JSON.

    Raises:
        Uncanonical: the content is not JSON.
    """
    return hmac.digest(salt, canonical(content), "sha256").hex()


def digests(salt: bytes, contents: Mapping[str, Any]) -> dict[str, str]:
    """What `ActionRecorded.digests` holds: a digest per named content."""
    return {name: digest(salt, content) for name, content in contents.items()}


def matches(salt: bytes, content: Any, recorded: str) -> bool:
    """Whether `recorded` speaks of this content."""
    return hmac.compare_digest(digest(salt, content), recorded)


def _name(tenant: str, person: str) -> str:
    # As JSON, so that ("a", "b:c") and ("a:b", "c") stay two people.
    return "salt:" + canonical([tenant, person]).decode()
