"""API keys: `suma_<id>_<secret>`, shown once. The server finds a key by its id and stores only a hash of the secret.

The hash is one SHA-256, not a slow password hash: the secret has 256 random bits and cannot be guessed, and each
request must be checked in microseconds. (bcrypt or Argon2 would only let attackers consume CPU.)
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
    """The API key is not valid; check it or create a new one."""

    code = "BAD_KEY"


class ScopeMissing(Denied):
    """The API key lacks a scope; use a key that has it."""

    code = "SCOPE_MISSING"

    def __init__(self, scope: str) -> None:
        super().__init__(f"the API key lacks the scope {scope}; use a key that has it")
        self.scope = scope


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified identity. Its tenant applies to all its actions; a tenant in a request's body is never used."""

    tenant: str
    id: str
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """Return whether `scope` is granted: by name, by `*`, or by a family (`admin.*` covers `admin.keys`, not
        `admin`).
        """
        parts = scope.split(".")
        families = {".".join([*parts[:n], "*"]) for n in range(len(parts))}
        return scope in self.scopes or not families.isdisjoint(self.scopes)

    def require(self, scope: str) -> None:
        if not self.may(scope):
            raise ScopeMissing(scope)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The stored part of a key. `hash` is the hex SHA-256 of the secret; `expires` is exclusive."""

    id: str
    tenant: str
    principal: str
    scopes: frozenset[str]
    hash: str
    expires: datetime | None = None
    revoked: datetime | None = None


def mint(tenant: str, principal: str, *, scopes: Iterable[str], expires: datetime | None = None) -> tuple[str, ApiKey]:
    """Create a key: the text for its holder, which cannot be shown again, and the part to store.

    To rotate, create another for the same principal and revoke the old one once it is out of use.
    """
    # Randomness is not injectable here: no argument may make a secret predictable.
    id, secret = _base32(secrets.token_bytes(10)), _base32(secrets.token_bytes(32))
    return f"suma_{id}_{secret}", ApiKey(id, tenant, principal, frozenset(scopes), _hash(secret), expires)


def id_of(text: str) -> str:
    """Return the id under which to look up a presented key.

    Raises:
        BadKey: the text is not an API key.
    """
    return _parts(text)[0]


def authenticate(text: str, key: ApiKey | None, *, now: datetime) -> Principal:
    """Return the identity behind `text`, given the stored key of that id (None: there is none).

    Raises:
        BadKey: the key is unknown, wrong, expired or revoked. Unknown and wrong keys share one message, so that
        callers cannot discover ids; only a correct secret reveals expiry or revocation.
    """
    id, secret = _parts(text)
    same = hmac.compare_digest(_hash(secret), key.hash if key else _NO_HASH)
    if key is None or key.id != id or not same:
        raise BadKey
    if key.revoked is not None:
        raise BadKey("this API key was revoked; use another key")
    if key.expires is not None and now >= key.expires:
        raise BadKey("this API key has expired; use another key")
    return Principal(key.tenant, key.principal, key.scopes)


def _parts(text: str) -> tuple[str, str]:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise BadKey
    return match[1], match[2]


def _base32(raw: bytes) -> str:
    """Return lower-case base32: selected by one double-click, safe in a header, a URL, a shell and a file name."""
    return base64.b32encode(raw).decode().rstrip("=").lower()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
