"""Signatures of requests (S3-55): a compact JWS over method, target, body, nonce and time, beside the API key.

A copied key alone is then worth nothing, and a recorded request cannot be sent again: the server refuses a nonce that
it has seen, and a time that is not now.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from libs.identity import jwt
from libs.identity.keys import BadSignature
from libs.identity.tokens import BadToken

ALGORITHMS = ("EdDSA", "Ed25519", "ES256", "PS256", "RS256")
NONCE = re.compile(r"[\x21-\x7e]{16,128}")


@dataclass(frozen=True, slots=True)
class Signed:
    """The contents of a valid signature that are still to be checked: the nonce, and the body's hex SHA-256."""

    nonce: str
    body: str

    def covers(self, body: bytes) -> bool:
        """Return whether it is for this body."""
        return sha256(body).hexdigest() == self.body


def verify(
    text: str, public: Mapping[str, Any], *, key_id: str, method: str, target: str, now: datetime, skew: float
) -> Signed:
    """Return what a signature says, whose key is the JWK `public`. `target` is the path with its query; `skew` is in
    seconds.

    Raises:
        BadSignature: another key, method, target or time, or not a signature at all.
    """
    key = jwt.public_key(dict(public))
    try:
        if key is None or jwt.key_id_of(text) != key_id:
            raise BadSignature("the signature's kid is not the API key's id")
        said = jwt.verified(text, key, ALGORITHMS)
    except BadToken as error:
        raise BadSignature(f"the signature is not valid: {error}") from error
    at, nonce, body = said.get("iat"), said.get("nonce"), said.get("body")
    # A signature that is intercepted before its use must not fit another request.
    if (said.get("method"), said.get("path")) != (method, target):
        raise BadSignature("the signature is for another method or path")
    # NaN compares as neither near nor far, and a huge integer fits into no float.
    present = now.timestamp()
    if isinstance(at, bool) or not isinstance(at, (int, float)) or not present - skew <= at <= present + skew:
        raise BadSignature(f"the signature's time (iat) is not within {skew:.0f} s of now")
    if not isinstance(nonce, str) or not NONCE.fullmatch(nonce) or not isinstance(body, str):
        raise BadSignature("the signature needs a nonce of 16 to 128 characters and the body's SHA-256")
    return Signed(nonce, body)
