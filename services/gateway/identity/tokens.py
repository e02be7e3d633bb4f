"""Access tokens of an outside issuer: verified with its keys, and mapped to an account here."""

from __future__ import annotations

from datetime import UTC, datetime

from libs.clients import Issuer
from libs.identity import BadToken, Principal, jwt
from libs.identity.roles import scopes_of
from libs.runtime import Platform
from services.gateway.identity.claims import Mapped, account
from services.gateway.identity.store import Keys
from services.gateway.settings import Oidc

GUARD = "oidc"


class Tokens:
    def __init__(self, platform: Platform, keys: Keys, oidc: Oidc) -> None:
        assert oidc.issuer is not None
        self._clock, self._keys = platform.clock, keys
        self._issuer = Issuer(oidc.issuer, oidc.jwks_url, platform.guarded_calls.to(GUARD))
        self._expected = jwt.Expected(oidc.issuer, oidc.audience, oidc.algorithms, oidc.skew_seconds)
        self._mapped = Mapped(oidc.tenant, oidc.tenant_claim, oidc.principal_claim, oidc.roles_claim, oidc.roles)

    async def verify(self, token: str) -> Principal:
        """Return the identity that a token proves.

        Raises:
            BadToken: it is not valid, or names no enabled account here.
            Unavailable: the issuer's keys or Postgres cannot be read.
        """
        # Not verified yet: all that it can select is a key of the configured issuer.
        now, kid = self._clock.now(), jwt.key_id_of(token)
        key = await self._issuer.key(kid, now=now.timestamp())
        if key is None:
            raise BadToken("the token's issuer does not know its key")
        claims = jwt.verify(token, key, self._expected, now=now)
        found = account(claims, self._mapped)
        # Read with each request: a valid token must not outlive the disabling of its account.
        if await self._keys.disabled(found.tenant, found.principal) is not False:
            raise BadToken("this account does not exist or is disabled; ask your administrator")
        scopes, ends = scopes_of(found.roles, found.scopes), datetime.fromtimestamp(claims["exp"], UTC)
        return Principal(found.tenant, found.principal, scopes, found.roles, f"jwt:{kid}", ends)
