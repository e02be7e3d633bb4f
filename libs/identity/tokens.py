"""Signed tokens: `base64url(payload).key id.base64url(signature)`, where the payload is canonical JSON.

Not JWS: there is one algorithm and no header, so `alg: none`, `jku` and key confusion cannot occur, and the `keys` port
can sign where no library may hold the private key. The key's name is the token's purpose, so a token is valid for one
purpose only. The signature does not cover the key id; a wrong id only fails.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from libs.errors import Denied
from libs.keys import Keys, Signature
from libs.keys.canonical import canonical

MAX_LENGTH = 8 * 1024
"""Longer tokens are rejected without parsing."""


class BadToken(Denied):
    """The token is not valid; request a new one."""

    code = "BAD_TOKEN"


class Claims(BaseModel):
    """The claims of a token. An unknown claim is rejected: it may be a restriction of a newer release."""

    model_config = ConfigDict(frozen=True, extra="forbid")


C = TypeVar("C", bound=Claims)


def seal(keys: Keys, purpose: str, claims: Claims) -> str:
    """Return a token with `claims`, signed with the key named `purpose`. A claim at its default is left out, so that
    the previous release, which rejects an unknown claim, accepts tokens that do not use it.
    """
    payload = canonical(claims.model_dump(mode="json", exclude_defaults=True))
    signature = keys.sign(purpose, payload)
    return f"{encoded(payload)}.{signature.key_id}.{encoded(signature.value)}"


def unseal(keys: Keys, purpose: str, kind: type[C], token: str) -> C:
    """Verify a token's signature and return its claims. The caller checks expiry and meaning.

    Raises:
        BadToken: malformed, altered, or not signed by a key named `purpose`.
    """
    payload, signature = _split(token)
    # Verify the signature first, so that untrusted bytes are never parsed.
    if not keys.verify(purpose, payload, signature):
        raise BadToken("the signature is not from a trusted key")
    try:
        return kind.model_validate(json.loads(payload))
    except (ValidationError, ValueError) as error:
        raise BadToken("the claims do not match this kind of token") from error


def _split(token: str) -> tuple[bytes, Signature]:
    parts = token.split(".") if len(token) <= MAX_LENGTH else []
    if len(parts) != 3:
        raise BadToken("this is not a signed token")
    return decoded(parts[0]), Signature(parts[1], decoded(parts[2]))


def encoded(raw: bytes) -> str:
    """Return base64url without padding (RFC 7515, 2)."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def decoded(text: str) -> bytes:
    """Return the bytes of base64url without padding. Raises `BadToken`."""
    try:
        raw = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except (binascii.Error, UnicodeEncodeError) as error:
        raise BadToken("this is not a signed token") from error
    # Accept one spelling only: the decoder skips foreign letters and unused bits.
    if encoded(raw) != text:
        raise BadToken("this is not a signed token")
    return raw
