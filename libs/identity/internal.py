"""Tokens between Suma's services: one tenant, one service, valid for a minute (S3-51, architecture.md 14).

They are required on localhost too: otherwise every process of the machine would have access.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from pydantic import AwareDatetime

from libs.identity.tokens import BadToken, Claims, seal, unseal
from libs.keys import Keys

PURPOSE = "internal"
HEADER = "X-Internal-Token"

LIFETIME = timedelta(seconds=60)
LONGEST = timedelta(minutes=5)
"""A token that is valid for longer is rejected."""


class InternalClaims(Claims):
    """The tenant and session of a call between services, and the called service."""

    tenant: str
    session: str | None
    """None: the call concerns the whole tenant."""
    audience: str
    """The name of the called service, as in the catalogue."""
    expires: AwareDatetime
    """Exclusive."""
    user: str | None = None
    """The principal that the calling service acts for; None: the service itself."""


def issue(
    keys: Keys, *, tenant: str, audience: str, now: datetime, session: str | None = None, user: str | None = None
) -> str:
    """Return a token for one call, or for a few within LIFETIME."""
    expires = now + LIFETIME
    claims = InternalClaims(tenant=tenant, session=session, audience=audience, expires=expires, user=user)
    return seal(keys, PURPOSE, claims)


def verify(keys: Keys, token: str, *, audience: str, now: datetime) -> InternalClaims:
    """Verify the token and return its claims. Their tenant applies to the whole request.

    Raises:
        BadToken: forged, for another service, expired, or valid for too long.
    """
    claims = unseal(keys, PURPOSE, InternalClaims, token)
    # A service that receives a token must not be able to use it at another one.
    if claims.audience != audience:
        raise BadToken(f"the token is for {claims.audience}, not for {audience}")
    if now >= claims.expires:
        raise BadToken(f"the token expired at {claims.expires.isoformat()}")
    if claims.expires - now > LONGEST:
        raise BadToken("the token is valid for longer than Suma's tokens")
    return claims
