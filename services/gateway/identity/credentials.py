"""Credentials: the one place that turns what a request carries into a verified identity (docs/identity.md).

A request carries one credential: a link to a file, else a bearer token (an API key, a sign-in code, or a JWT of an
outside issuer), else `X-API-Key`, else the cookie of a signed-in browser. An API key as Postgres has it is remembered
for a second, so that its revocation may take that long to count on another replica; everything else reads Postgres with
each request.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import Conflict, Denied, Unavailable
from libs.guards.hosts import same_origin
from libs.identity import ApiKey, BadKey, BadSignature, NoKey, Principal
from libs.identity.keys import Kind, authenticate, digest, id_of, kind_of
from libs.runtime import Platform
from services.gateway.http.admission import Identified
from services.gateway.http.refusal_records import OncePerMinute, Refusal, anonymous
from services.gateway.http.refusals import RefusalLog
from services.gateway.http.urls import base
from services.gateway.identity import links
from services.gateway.identity.rows import KeyUsed, NoncePut
from services.gateway.identity.store import Keys
from services.gateway.schema import GROUP
from services.gateway.settings import Oidc, Settings

if TYPE_CHECKING:
    from starlette.types import Scope

    from libs.identity import Signed
    from services.gateway.identity.tokens import Tokens


COOKIE = "suma_session"
SIGN_IN = "/v1/signin"
SIGNATURE = "x-signature"
JWT = "eyJ"
"""How each JWT begins: a JSON object in base64url."""
READS = frozenset(("GET", "HEAD", "OPTIONS"))
NOTED_EVERY = timedelta(minutes=1)
KNOWN_MOST = 10_000
"""Keys that are remembered."""


class CrossSite(Denied):
    """A signed-in browser writes only from our own pages and as JSON; send Origin and application/json."""

    code = "CROSS_SITE"


@dataclass(frozen=True, slots=True)
class Presented:
    """The credential of a request, not verified yet."""

    kind: Kind | Literal["jwt", "link"]
    text: str

    @property
    def lookup(self) -> str:
        """The value under which the store finds it. Raises BadKey for a key's text that is not one."""
        return id_of(self.text) if self.kind == "key" else digest(self.text)


def cookie_name(address: str) -> str:
    """Return the name of the cookie at an address. Over https no other host and no plain request can set it."""
    return f"__Host-{COOKIE}" if address.startswith("https:") else COOKIE


def presented(headers: Headers, *, cookie: str) -> Presented:
    """Return the credential of a request. Raises BadKey if there is none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    text = token.strip() if scheme.lower() == "bearer" and token.strip() else headers.get("x-api-key")
    if text:
        if text.startswith(JWT):
            return Presented("jwt", text)
        # A cookie's text counts only in the cookie, which no script and no other site can set.
        return Presented("code" if kind_of(text) == "code" else "key", text)
    web = cookie_parser(headers.get("cookie", "")).get(cookie)
    if web:
        return Presented("web", web)
    raise NoKey


class Credentials:
    def __init__(
        self,
        platform: Platform,
        keys: Keys,
        *,
        refusals: RefusalLog,
        opening: Callable[[], Sequence[str]],
        settings: Settings,
    ) -> None:
        self._platform, self._keys, self._opening = platform, keys, opening
        self._settings, self._tokens = settings, _tokens(platform, keys, settings.oidc)
        self._refusals, self._noted = refusals, OncePerMinute()
        self._known: OrderedDict[str, tuple[float, ApiKey]] = OrderedDict()
        """API keys by id, and when each was read."""

    def forget(self) -> None:
        """Read every key anew: keys, principals or tenants have changed."""
        self._known.clear()

    async def verify(self, scope: Scope) -> Identified:
        """Return the identity behind a request, its credential, and what its signature says of the body.

        Raises:
            BadKey: the credential or its signature is missing or not valid.
            CrossSite: a browser's write does not come from our own pages.
            Unavailable: it may be the key of a machine that is still starting.
        """
        given, stored, who = await self._identified(scope, seconds=self._settings.key_seconds)
        signed = await self._signed(stored, given, scope) if stored is not None else None
        if stored is not None:
            await self._note_use(stored)
        return Identified(who, given, signed)

    async def still(self, scope: Scope) -> Principal:
        """Return the identity behind a request that is still being answered. Raises as `verify` does."""
        return (await self._identified(scope, seconds=0.0))[2]

    async def _identified(self, scope: Scope, *, seconds: float) -> tuple[Presented, ApiKey | None, Principal]:
        stored: ApiKey | None = None
        try:
            headers = Headers(scope=scope)
            own = base(scope["scheme"], headers.get("host", ""), self._settings.public_url)
            # First, since a browser also sends its own cookie when a person follows the link of another.
            if (link := links.of(scope)) is not None:
                return Presented("link", link), None, await self._lent(link, scope)
            given = presented(headers, cookie=cookie_name(own))
            if given.kind == "jwt":
                return given, None, await self._token_verified(given.text)
            stored = await self._stored(given, seconds)
            return given, stored, self._admitted(given, stored, scope)
        except Denied as refused:
            await self._refusals.note(_refusal(stored, refused))
            raise

    async def _lent(self, link: str, scope: Scope) -> Principal:
        """Return the identity that made a link, if its key is still valid."""
        now = self._platform.clock.now()
        key_id = links.verified(self._platform.keys, link, path=scope["path"], now=now.timestamp())
        stored = await self._keys.key("key", key_id)
        if stored is None:
            raise BadKey
        return replace(stored.admitted("key", now), credential=f"link:{key_id}")

    async def _stored(self, given: Presented, seconds: float) -> ApiKey | None:
        """Return the key behind a credential, as it was at most `seconds` ago if it is an API key."""
        assert given.kind != "jwt"
        assert given.kind != "link"
        now, lookup = asyncio.get_running_loop().time(), given.lookup
        if given.kind == "key" and (known := self._known.get(lookup)) and now - known[0] < seconds:
            return known[1]
        # Asked before the store is read: a key that is registered in between must not be refused as unknown.
        opening = self._opening()
        stored = await self._keys.key(given.kind, lookup)
        if stored is None and opening:
            raise Unavailable(opening[0])
        self._remember(given, lookup, stored, now)
        return stored

    def _remember(self, given: Presented, lookup: str, stored: ApiKey | None, now: float) -> None:
        """Remember a valid API key; browsers and codes end by requests of their own."""
        self._known.pop(lookup, None)
        # An unknown key is not remembered: it may be created the next moment.
        if given.kind == "key" and stored is not None:
            self._known[lookup] = now, stored
            if len(self._known) > KNOWN_MOST:
                self._known.popitem(last=False)

    def _admitted(self, given: Presented, stored: ApiKey | None, scope: Scope) -> Principal:
        now = self._platform.clock.now()
        if given.kind == "key" or given.kind == "jwt":
            return authenticate(given.text, stored, now=now)
        assert given.kind != "link"
        if stored is None:
            raise BadKey("you are not signed in; sign in again")
        who = stored.admitted(given.kind, now)
        # A code travels in a link, which histories and logs may keep.
        if given.kind == "code" and (scope["path"] != SIGN_IN or scope.get("method") not in ("GET", "POST")):
            raise BadKey(f"a sign-in code is only valid for {SIGN_IN}")
        if given.kind == "web":
            _check_same_site(scope)
        return who

    async def _signed(self, key: ApiKey, given: Presented, scope: Scope) -> Signed | None:
        """Verify the signature of a key that has one, and use up its nonce. Raises BadSignature."""
        try:
            if key.signing_key is None:
                self._allow_unsigned(key, given, scope)
                return None
            if given.kind != "key" or scope["path"].startswith(SIGN_IN):
                raise BadSignature("a key that signs its requests cannot sign a browser in, which signs none")
            # Imported only where a key signs: joserfc loads slowly.
            from libs.identity import signed_requests

            signed = signed_requests.verify(
                Headers(scope=scope).get(SIGNATURE, ""),
                key.signing_key,
                key_id=key.id,
                method=scope.get("method", "GET"),
                target=_target(scope),
                now=self._platform.clock.now(),
                skew=self._settings.signature_seconds,
            )
            await self._use_nonce(key, signed)
            return signed
        except Denied as refused:
            await self._refusals.note(_refusal(key, refused))
            raise

    def _allow_unsigned(self, key: ApiKey, given: Presented, scope: Scope) -> None:
        writes = scope.get("method", "GET") not in READS
        if self._settings.signatures_required and writes and given.kind == "key" and key.origin != "file":
            raise BadSignature("this server accepts writes only with signed requests; use a key that signs")

    async def _use_nonce(self, key: ApiKey, signed: Signed) -> None:
        """Use up a nonce, on every replica. Raises BadSignature if it was used before."""
        # Used up before the work: a crash in between refuses an honest retry; the other order would run a replay.
        once = Changeset(_cause(key)).put(NoncePut(key_id=key.id, nonce=signed.nonce))
        try:
            await self._platform.writer.apply(once)
        except Conflict:
            raise BadSignature("this request was sent before; sign each one with a nonce of its own") from None

    async def _token_verified(self, text: str) -> Principal:
        if self._tokens is None:
            raise BadKey("this server accepts no tokens of an outside issuer; send an API key")
        return await self._tokens.verify(text)

    async def _note_use(self, key: ApiKey) -> None:
        now = self._platform.clock.now()
        if (key.used is not None and now - key.used < NOTED_EVERY) or not self._noted.fresh(key.id, now.timestamp()):
            return
        change = Changeset(_cause(key)).put(KeyUsed(key_id=key.id))
        with suppress(Unavailable):  # for display only
            await self._platform.writer.apply(change)


def _refusal(key: ApiKey | None, error: Denied) -> Refusal:
    if key is None:
        return anonymous(error.code)
    return Refusal(key.tenant, key.principal, "identity.authenticate", f"key:{key.id}", error.code)


def _target(scope: Scope) -> str:
    """Return the path and query as they were sent."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return (path.partition(b"?")[0] + (b"?" + query if query else b"")).decode("latin-1")


def _tokens(platform: Platform, keys: Keys, oidc: Oidc) -> Tokens | None:
    if oidc.issuer is None:
        return None
    # Imported only where it is configured: joserfc loads slowly.
    from services.gateway.identity.tokens import Tokens

    return Tokens(platform, keys, oidc)


def _check_same_site(scope: Scope) -> None:
    """Raise CrossSite unless a browser says that one of our own pages writes JSON, or opens a WebSocket.

    A page of another site cannot read an answer, but it could read a WebSocket, which sends the cookie.
    """
    if scope.get("method") in READS:
        return
    headers = Headers(scope=scope)
    origin, host = headers.get("origin"), headers.get("host", "")
    if origin is None or not same_origin(origin, host):
        raise CrossSite
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    # Another site's page can send neither without our permission: no form sends JSON, or this header.
    if scope["type"] == "http" and kind != "application/json" and "tus-resumable" not in headers:
        raise CrossSite


def _cause(key: ApiKey) -> Cause:
    return Cause.request(GROUP, id=ids.new(), tenant=key.tenant, key=f"{key.tenant}:{key.principal}")
