"""Signed tokens: `base64url(payload).key id.base64url(signature)`, the payload being canonical JSON.

Not JWS: there is one algorithm and no header, so there is no `alg: none`, no `jku` and no key confusion to guard
against, and the `keys` port can sign where no library may hold the private key. The key's name is the token's purpose,
so a token of one purpose never passes for another. The key id stands outside the signature; a wrong one only fails.
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
"""Longer tokens are refused unread."""


class BadToken(Denied):
    """The token is not valid."""

    code = "BAD_TOKEN"


class Claims(BaseModel):
    """What a token says. An unknown claim is refused: it may be a restriction that this release does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


C = TypeVar("C", bound=Claims)


def seal(keys: Keys, purpose: str, claims: Claims) -> str:
    """The token that says `claims`, signed with the key named `purpose`."""
    payload = canonical(claims.model_dump(mode="json"))
    signature = keys.sign(purpose, payload)
    return f"{_encoded(payload)}.{signature.key_id}.{_encoded(signature.value)}"


def unseal(keys: Keys, purpose: str, kind: type[C], token: str) -> C:
    """What `token` says. Its expiry and meaning are for the caller to judge.

    Raises:
        BadToken: malformed, altered, or not signed by a key named `purpose`.
    """
    payload, signature = _split(token)
    # The signature first: nothing that a stranger wrote is parsed.
    if not keys.verify(purpose, payload, signature):
        raise BadToken("the signature is not by a key that we trust")
    try:
        return kind.model_validate(json.loads(payload))
    except (ValidationError, ValueError) as error:
        raise BadToken("the claims are not the ones of this kind of token") from error


def _split(token: str) -> tuple[bytes, Signature]:
    parts = token.split(".") if len(token) <= MAX_LENGTH else []
    if len(parts) != 3:
        raise BadToken("this is not a signed token")
    return _decoded(parts[0]), Signature(parts[1], _decoded(parts[2]))


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    try:
        raw = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except (binascii.Error, UnicodeEncodeError) as error:
        raise BadToken("this is not a signed token") from error
    # The decoder skips foreign letters and unused bits; a token has exactly one spelling.
    if _encoded(raw) != text:
        raise BadToken("this is not a signed token")
    return raw
