"""Tokens between our own services: one caller's tenant, for one service, for a minute (S3-51, DESIGN §13).

They are asked for on localhost too: a port that trusts its neighbours trusts every process of the machine.
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
"""No token is believed for longer, whatever it says itself."""


class InternalClaims(Claims):
    """On whose behalf a service calls, and which service is meant."""

    tenant: str
    session: str | None
    """None: the call concerns the whole tenant."""
    audience: str
    """The name of the service that is called, as in the catalogue."""
    expires: AwareDatetime
    """Exclusive."""


def issue(keys: Keys, *, tenant: str, audience: str, now: datetime, session: str | None = None) -> str:
    """A token for one call, or a few within LIFETIME."""
    return seal(
        keys, PURPOSE, InternalClaims(tenant=tenant, session=session, audience=audience, expires=now + LIFETIME)
    )


def verify(keys: Keys, token: str, *, audience: str, now: datetime) -> InternalClaims:
    """On whose behalf the caller speaks. The tenant of the whole request is the one in the answer.

    Raises:
        BadToken: forged, for another service, expired, or valid for too long.
    """
    claims = unseal(keys, PURPOSE, InternalClaims, token)
    if claims.audience != audience:
        raise BadToken(f"the token is for {claims.audience}, not for {audience}")
    if now >= claims.expires:
        raise BadToken(f"the token expired at {claims.expires.isoformat()}")
    if claims.expires - now > LONGEST:
        raise BadToken("the token is valid for too long to be one of ours")
    return claims
