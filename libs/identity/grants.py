"""Grants: the conversation worker's signed word that one tool call may run, and exactly that one (DESIGN §8).

The bus is not trusted: whoever can write to `tool.requests` must not be able to run a tool. So a request carries a
token over the digest of all its fields, the plan, the committee's verdict, the policy's revision and an expiry, bound
to tenant and session. The executor verifies it before anything else. One changed field, and nothing runs.
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


class BadGrant(Denied):
    """The grant does not permit this call."""

    code = "BAD_GRANT"


class GrantClaims(Claims):
    """What was permitted, and on whose word."""

    request: str
    """`digest_of` the whole request: args, step, attempt, principal, approval and all."""
    tenant: str
    session: str
    plan: str
    """The digest of the plan that the call belongs to."""
    verdict: str
    """What the committee said, or that policy did not require it."""
    revision: str
    """The policy's revision that allowed it."""
    expires: AwareDatetime
    """Exclusive."""


def digest_of(request: ToolRequested) -> str:
    """SHA-256, in hex, of the request's canonical JSON, without the grant itself.

    A field at its default counts as absent, so that a release that adds an optional field to the event still accepts
    the grants of the release before it. Args that went through jsonb and back have the same digest.

    Raises:
        Uncanonical: the args hold what JSON cannot say.
    """
    fields = request.model_dump(mode="json", exclude={"grant"}, exclude_defaults=True)
    return hashlib.sha256(canonical(fields)).hexdigest()


def issue(keys: Keys, claims: GrantClaims) -> str:
    """The token to put into `ToolRequested.grant`."""
    return seal(keys, PURPOSE, claims)


def verify(keys: Keys, request: ToolRequested, *, tenant: str, session: str, now: datetime) -> GrantClaims:
    """What the request's grant permits. `tenant` and `session` come from the envelope and from the executor's own rows.

    Raises:
        BadGrant: forged, for another request, tenant or session, or expired.
    """
    try:
        claims = unseal(keys, PURPOSE, GrantClaims, request.grant)
        digest = digest_of(request)
    except (BadToken, Uncanonical) as error:
        raise BadGrant(f"the grant is not valid: {error}") from error
    if claims.request != digest:
        raise BadGrant("the grant is for another request: a field was altered")
    if (claims.tenant, claims.session) != (tenant, session):
        raise BadGrant("the grant is for another tenant or session")
    if now >= claims.expires:
        raise BadGrant(f"the grant expired at {claims.expires.isoformat()}")
    return claims
