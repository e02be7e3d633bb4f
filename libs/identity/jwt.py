"""JSON Web Tokens of an outside issuer (RFC 7519, RFC 9068): the signature, and the claims that every token must have.

The algorithms are a list of asymmetric ones, so `none` and a public key used as an HMAC secret cannot occur. The key is
the one that the token's `kid` names in the issuer's own set; no header may bring a key or the address of one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey

from libs.identity.tokens import BadToken

MAX_LENGTH = 16 * 1024
"""Longer tokens are rejected without parsing."""
KEYS_MOST = 100
"""Keys of a set; the rest is ignored."""
RSA_BITS_LEAST = 2048

PublicKey = RSAKey | ECKey | OKPKey
_KINDS = (("RSA", None), ("EC", "P-256"), ("EC", "P-384"), ("EC", "P-521"), ("OKP", "Ed25519"))
_FAMILIES: Mapping[type[PublicKey], tuple[str, ...]] = {RSAKey: ("RS", "PS"), ECKey: ("ES",), OKPKey: ("Ed",)}


@dataclass(frozen=True, slots=True)
class Expected:
    """The claims that every token must have. `skew` is in seconds."""

    issuer: str
    audience: Collection[str]
    algorithms: Collection[str]
    skew: int


def public_keys(document: Any) -> dict[str, PublicKey]:
    """Return the verification keys of a JWK set by `kid`. Secrets, encryption keys, weak and malformed ones are left
    out.
    """
    found = document.get("keys") if isinstance(document, dict) else None
    keys: dict[str, PublicKey] = {}
    for data in (found if isinstance(found, list) else [])[:KEYS_MOST]:
        key = public_key(data)
        if key is not None and isinstance(data.get("kid"), str):
            keys[data["kid"]] = key
    return keys


def public_key(data: Any) -> PublicKey | None:
    """Return a JWK as a verification key; None if it is not the public part of a usable one."""
    if not isinstance(data, dict) or data.get("use", "sig") != "sig":
        return None
    if (data.get("kty"), data.get("crv")) not in _KINDS:
        return None
    # Private parts that an issuer publishes by mistake are not imported.
    public = {name: value for name, value in data.items() if name not in ("d", "p", "q", "dp", "dq", "qi", "oth")}
    try:
        key = JWKRegistry.import_key(public)
        if isinstance(key, RSAKey) and key.raw_value.key_size < RSA_BITS_LEAST:
            return None
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    return key if isinstance(key, PublicKey) else None


def key_id_of(token: str) -> str:
    """Return the `kid` of a token that is not verified yet. Raises BadToken."""
    if len(token) > MAX_LENGTH:
        raise BadToken("the token is too long")
    try:
        # Only to find the key: nothing else is read before the signature is verified.
        kid = jws.extract_compact(token.encode("ascii")).headers().get("kid")
    except (JoseError, ValueError, TypeError) as error:
        raise BadToken("this is not a signed token") from error
    if not isinstance(kid, str):
        raise BadToken("the token does not name its key (kid)")
    return kid


def verified(token: str, key: PublicKey, algorithms: Collection[str]) -> dict[str, Any]:
    """Return the claims of a token that this key signed with one of these algorithms. Raises BadToken."""
    families = _FAMILIES[type(key)]
    fitting = [name for name in algorithms if name.startswith(families)]
    # A key that names its algorithm serves no other (RFC 7517, 4.4).
    if key.alg is not None:
        fitting = [name for name in fitting if name == key.alg]
    if not fitting:
        raise BadToken("the token's key is not for an accepted algorithm")
    # Issuers add header members of their own; none is used.
    registry = jws.JWSRegistry(algorithms=fitting, strict_check_header=False)
    with warnings.catch_warnings():
        # `EdDSA` is the older name of `Ed25519` (RFC 9864); issuers still send it.
        warnings.simplefilter("ignore", SecurityWarning)
        try:
            return jwt.decode(token, key, fitting, registry).claims
        except (JoseError, ValueError, TypeError) as error:
            raise BadToken("the token's signature or algorithm is not accepted") from error


def verify(token: str, key: PublicKey, expected: Expected, *, now: datetime) -> dict[str, Any]:
    """Return the claims of an access token for us.

    Raises:
        BadToken: another signature, algorithm, issuer or audience; expired, not valid yet, or without an expiry.
    """
    claims = verified(token, key, expected.algorithms)
    rules = jwt.JWTClaimsRegistry(
        now=_seconds(now),
        leeway=expected.skew,
        iss={"essential": True, "value": expected.issuer},
        aud={"essential": True, "values": list(expected.audience)},
        exp={"essential": True},
    )
    try:
        rules.validate(claims)
    except (JoseError, ValueError, TypeError) as error:
        raise BadToken(f"the token is not accepted: {getattr(error, 'description', None) or error}") from error
    return claims


def _seconds(now: datetime) -> Callable[[], int]:
    return lambda: int(now.timestamp())
