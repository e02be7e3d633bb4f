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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, cast

from libs.errors import Denied
from libs.identity.roles import scopes_of

_TEXT = re.compile(r"suma_([a-z2-7]{16})_([a-z2-7]{52})")
_ONE_TIME = re.compile(r"suma_(code|web)_[a-z2-7]{52}")
_NO_HASH = "0" * 64
Kind = Literal["key", "web", "code"]
"""A key's own text, the cookie of a browser that it signed in, or a one-time code to sign in."""
_ENDED: Mapping[Kind, str] = {
    "key": "this API key was revoked; use another key",
    "web": "this sign-in has ended; sign in again",
    "code": "this sign-in code was used; request another code",
}
_EXPIRED: Mapping[Kind, str] = {
    "key": "this API key has expired; use another key",
    "web": "this sign-in has expired; sign in again",
    "code": "this sign-in code has expired; request another code",
}


class BadKey(Denied):
    """The API key is not valid; check it or create a new one."""

    code = "BAD_KEY"


class NoKey(BadKey):
    """The request has no API key; send `Authorization: Bearer suma_…`."""


class BadSignature(BadKey):
    """The request's signature is missing or not valid; sign method, path, body, nonce and time with the key's own."""

    code = "BAD_SIGNATURE"


class ScopeMissing(Denied):
    """The API key lacks a scope; use a key that has it."""

    code = "SCOPE_MISSING"

    def __init__(self, scope: str) -> None:
        super().__init__(f"the API key lacks the scope {scope}; use a key that has it")
        self.scopes = (scope,)


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified identity. Its tenant applies to all its actions; a tenant in a request's body is never used."""

    tenant: str
    id: str
    scopes: frozenset[str]
    roles: frozenset[str] = field(default=frozenset(), compare=False)
    """The roles whose bundles `scopes` already includes; for display."""
    credential: str = field(default="", compare=False)
    """The kind and id of the proof, such as `key:abcd`, or `web:abcd` for a browser that this key signed in."""
    expires: datetime | None = field(default=None, compare=False)
    """When the proof ends, exclusive."""

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
    roles: frozenset[str] = frozenset()
    disabled: bool = False
    """Whether its tenant or its principal is disabled."""
    origin: str = "admin"
    """`file` for the key file of the machine's owner, else `admin`."""
    signing_key: Mapping[str, Any] | None = None
    """The public JWK with which its holder signs each request; None: they are not signed."""
    used: datetime | None = None
    """The last use that was noted; at most a minute old."""

    def admitted(self, kind: Kind, now: datetime) -> Principal:
        """Return the identity of a proven key, or of a browser or code (`kind`) that depends on it.

        Raises:
            BadKey: it was revoked, used up or disabled, or has expired.
        """
        if self.revoked is not None:
            raise BadKey(_ENDED[kind])
        if self.expires is not None and now >= self.expires:
            raise BadKey(_EXPIRED[kind])
        if self.disabled:
            raise BadKey("this account is disabled; ask your administrator")
        scopes = scopes_of(self.roles, self.scopes)
        return Principal(self.tenant, self.principal, scopes, self.roles, f"{kind}:{self.id}", self.expires)


def mint(
    tenant: str,
    principal: str,
    *,
    scopes: Iterable[str] = (),
    roles: Iterable[str] = (),
    expires: datetime | None = None,
) -> tuple[str, ApiKey]:
    """Create a key: the text for its holder, which cannot be shown again, and the part to store.

    To rotate, create another for the same principal and revoke the old one once it is out of use.
    """
    # Randomness is not injectable here: no argument may make a secret predictable.
    id, secret = _base32(secrets.token_bytes(10)), _base32(secrets.token_bytes(32))
    stored = ApiKey(id, tenant, principal, frozenset(scopes), digest(secret), expires, roles=frozenset(roles))
    return f"suma_{id}_{secret}", stored


def one_time(kind: Literal["code", "web"]) -> str:
    """Return the text of a sign-in code or of a cookie: 256 random bits, stored only as `digest`."""
    return f"suma_{kind}_{_base32(secrets.token_bytes(32))}"


def id_of(text: str) -> str:
    """Return the id under which to look up a presented key.

    Raises:
        BadKey: the text is not an API key.
    """
    return _parts(text)[0]


def kind_of(text: str) -> Kind:
    """Return what kind of credential a text looks like; anything unknown counts as a key, which then is not valid."""
    match = _ONE_TIME.fullmatch(text)
    return "key" if match is None else cast("Kind", match[1])


def authenticate(text: str, key: ApiKey | None, *, now: datetime) -> Principal:
    """Return the identity behind `text`, given the stored key of that id (None: there is none).

    Raises:
        BadKey: the key is unknown, wrong, expired or revoked. Unknown and wrong keys share one message, so that
        callers cannot discover ids; only a correct secret reveals expiry or revocation.
    """
    id, secret = _parts(text)
    # Compared also where there is no such key, so that the time does not tell which ids exist.
    same = hmac.compare_digest(digest(secret), key.hash if key else _NO_HASH)
    if key is None or key.id != id or not same:
        raise BadKey
    return key.admitted("key", now)


def _parts(text: str) -> tuple[str, str]:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise BadKey
    return match[1], match[2]


def _base32(raw: bytes) -> str:
    """Return lower-case base32: selected by one double-click, safe in a header, a URL, a shell and a file name."""
    return base64.b32encode(raw).decode().rstrip("=").lower()


def digest(secret: str) -> str:
    """Return the hex SHA-256 under which a secret is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()
