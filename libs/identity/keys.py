"""API keys: `suma_<id>_<secret>`, shown once. The server finds the key by its id and keeps only a hash of the secret.

The hash is one SHA-256, not a slow password hash: the secret is 256 random bits, so there is nothing to guess, and each
request must be checked in microseconds. (bcrypt or Argon2 would only hand attackers a way to burn our CPU.)
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from libs.errors import Denied

_TEXT = re.compile(r"suma_([a-z2-7]{16})_([a-z2-7]{52})")
_NO_HASH = "0" * 64


class BadKey(Denied):
    """The API key is not valid."""

    code = "BAD_KEY"


class ScopeMissing(Denied):
    """The caller is known, but this is not within its scopes."""

    code = "SCOPE_MISSING"

    def __init__(self, scope: str) -> None:
        super().__init__(f"this needs the scope {scope}")
        self.scope = scope


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified identity. The tenant of everything that it does comes from here, never from a request's body."""

    tenant: str
    id: str
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """Whether `scope` is held: itself, `*`, or a family of it (`admin.*` holds `admin.keys`, not `admin`)."""
        parts = scope.split(".")
        families = {".".join([*parts[:n], "*"]) for n in range(len(parts))}
        return scope in self.scopes or not families.isdisjoint(self.scopes)

    def require(self, scope: str) -> None:
        if not self.may(scope):
            raise ScopeMissing(scope)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What the server keeps of a key. `hash` is the hex SHA-256 of the secret; `expires` is exclusive."""

    id: str
    tenant: str
    principal: str
    scopes: frozenset[str]
    hash: str
    expires: datetime | None = None
    revoked: datetime | None = None


def mint(tenant: str, principal: str, *, scopes: Iterable[str], expires: datetime | None = None) -> tuple[str, ApiKey]:
    """A new key: the text for its holder, which nobody can show again, and what the server keeps.

    To rotate, mint another for the same principal and revoke the old one once it is out of use.
    """
    # No injectable randomness here: a predictable secret must not be one wrong argument away.
    id, secret = _letters(secrets.token_bytes(10)), _letters(secrets.token_bytes(32))
    return f"suma_{id}_{secret}", ApiKey(id, tenant, principal, frozenset(scopes), _hash(secret), expires)


def id_of(text: str) -> str:
    """The id to look a presented key up by.

    Raises:
        BadKey: this is no API key at all.
    """
    return _parts(text)[0]


def authenticate(text: str, key: ApiKey | None, *, now: datetime) -> Principal:
    """Who presents `text`, given the stored key of that id (None: there is none).

    Raises:
        BadKey: unknown and wrong keys with one message, so that neither tells which ids exist; only the holder of the
            right secret learns that it has expired or was revoked.
    """
    id, secret = _parts(text)
    same = hmac.compare_digest(_hash(secret), key.hash if key else _NO_HASH)
    if key is None or key.id != id or not same:
        raise BadKey
    if key.revoked is not None:
        raise BadKey("this API key was revoked")
    if key.expires is not None and now >= key.expires:
        raise BadKey("this API key has expired")
    return Principal(key.tenant, key.principal, key.scopes)


def _parts(text: str) -> tuple[str, str]:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise BadKey
    return match[1], match[2]


def _letters(raw: bytes) -> str:
    """Base32 in lower case: one word to double-click, safe in a header, a URL, a shell and a file name."""
    return base64.b32encode(raw).decode().rstrip("=").lower()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
