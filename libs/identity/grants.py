"""Grants: the conversation worker's signature that permits exactly one tool call (architecture.md 9).

The bus is not trusted: write access to `tool.requests` must not suffice to run a tool. Therefore a request carries a
token, bound to tenant and session. It covers the digest of all its fields, the plan, the committee's verdict, the
policy's revision and an expiry. The executor verifies it first; if one field changed, nothing runs.
"""

from __future__ import annotations

import hashlib
from datetime import datetime

from pydantic import AwareDatetime

from libs.errors import Denied
from libs.events.tools import ToolRequested
from libs.identity.tokens import BadToken, Claims, seal, unseal
from libs.keys import Keys
from libs.keys.canonical import Uncanonical, canonical

PURPOSE = "grants"
"""The name of the signing key. Only the conversation worker needs its private half."""

HINTS = frozenset(("unstaged", "listed"))
"""Fields that permit nothing. An earlier release does not know them, so the grant does not cover them."""


class BadGrant(Denied):
    """The grant does not permit this call; request the call again."""

    code = "BAD_GRANT"


class GrantClaims(Claims):
    """The permitted call and the decisions that permit it."""

    request: str
    """`digest_of` the whole request, including args, step, attempt, principal and approval."""
    tenant: str
    session: str
    plan: str
    """The digest of the call's plan."""
    verdict: str
    """The committee's verdict, or that policy did not require one."""
    revision: str
    """The revision of the policy that allowed the call."""
    expires: AwareDatetime
    """Exclusive."""


class EraseClaims(Claims):
    """The one session whose calls may be erased."""

    erase: str
    tenant: str


def issue_erasure(keys: Keys, tenant: str, session: str) -> str:
    """Return the token for `CallsEraseRequested.grant`."""
    return seal(keys, PURPOSE, EraseClaims(erase=session, tenant=tenant))


def verify_erasure(keys: Keys, grant: str, *, tenant: str, session: str) -> None:
    """Raise BadGrant unless the grant permits the erasure of this session's calls."""
    try:
        claims = unseal(keys, PURPOSE, EraseClaims, grant)
    except BadToken as error:
        raise BadGrant(f"the grant is not valid: {error}") from error
    if (claims.erase, claims.tenant) != (session, tenant):
        raise BadGrant("the grant is for another session")


def digest_of(request: ToolRequested) -> str:
    """Return the SHA-256, in hex, of the request's canonical JSON without the grant itself and without hints.

    A field at its default counts as absent, so a release that adds an optional field still accepts grants of the
    previous release. Args have the same digest after a round trip through jsonb.

    Raises:
        Uncanonical: the args contain a value that JSON cannot represent.
    """
    fields = request.model_dump(mode="json", exclude={"grant", *HINTS}, exclude_defaults=True)
    # The same bytes: a number is written by its value. Without a fraction in it, the whole is written the quick way.
    if isinstance(limit := fields.get("deadline"), float) and limit.is_integer() and abs(limit) < 1 << 53:
        fields["deadline"] = int(limit)
    return hashlib.sha256(canonical(fields)).hexdigest()


def issue(keys: Keys, claims: GrantClaims) -> str:
    """Return the token for `ToolRequested.grant`."""
    return seal(keys, PURPOSE, claims)


def verify(keys: Keys, request: ToolRequested, *, tenant: str, session: str, now: datetime) -> GrantClaims:
    """Verify the request's grant and return its claims. `tenant` and `session` come from the envelope and from the
    executor's own rows.

    Raises:
        BadGrant: forged, for another request, tenant or session, or expired.
    """
    try:
        claims = unseal(keys, PURPOSE, GrantClaims, request.grant)
        digest = digest_of(request)
    except (BadToken, Uncanonical) as error:
        raise BadGrant(f"the grant is not valid: {error}") from error
    if claims.request != digest:
        raise BadGrant("the grant is for another request, or a field was changed")
    # The digest does not cover them: they come with the envelope, and the bus is not trusted.
    if (claims.tenant, claims.session) != (tenant, session):
        raise BadGrant("the grant is for another tenant or session")
    if now >= claims.expires:
        raise BadGrant(f"the grant expired at {claims.expires.isoformat()}")
    return claims
