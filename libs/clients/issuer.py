"""The keys of an outside issuer of tokens: its JWK set, by address or by OpenID Connect discovery.

A set is fetched again every five minutes, and once a token names an unknown key: that is how issuers rotate. Tokens are
free to make, so an unknown key causes at most one request in ten seconds. While the issuer is away, the last set is
used for an hour.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import orjson

from libs.clients.calls import ServiceDown
from libs.errors import Unavailable
from libs.guards.hosts import safe
from libs.identity.jwt import PublicKey, public_keys
from libs.resilience import GuardedCall

TIMEOUT_SECONDS = 5.0
REFRESH_SECONDS, REFETCH_SECONDS, STALE_SECONDS = 300.0, 10.0, 3600.0
BYTES_MOST = 512 * 1024
DISCOVERY = "/.well-known/openid-configuration"


class Issuer:
    """The keys of `issuer`, from `jwks_url` or, without one, from where its discovery document says."""

    def __init__(self, issuer: str, jwks_url: str | None, guard: GuardedCall) -> None:
        self._issuer, self._jwks_url, self._guard = issuer, jwks_url, guard
        self._keys: Mapping[str, PublicKey] = {}
        self._fetched: float | None = None
        self._tried: float | None = None
        self._turn = asyncio.Lock()

    async def key(self, kid: str, *, now: float) -> PublicKey | None:
        """Return a key by its id; None if the issuer has none of it. `now` is in seconds.

        Raises:
            Unavailable: the issuer has not answered for an hour, or never.
        """
        if not self._fresh(kid, now):
            async with self._turn:
                # Another request may have fetched the set while this one waited.
                if not self._fresh(kid, now) and _over(self._tried, REFETCH_SECONDS, now):
                    await self._refresh(now)
        if _over(self._fetched, STALE_SECONDS, now):
            raise ServiceDown("the token issuer does not answer; retry later")
        return self._keys.get(kid)

    def _fresh(self, kid: str, now: float) -> bool:
        return kid in self._keys and not _over(self._fetched, REFRESH_SECONDS, now)

    async def _refresh(self, now: float) -> None:
        # Before the request: one that fails counts, too.
        self._tried = now
        try:
            document = await self._guard.call(self._fetch, seconds=TIMEOUT_SECONDS)
        except Unavailable:
            if self._fetched is None:
                raise
            return
        self._keys, self._fetched = public_keys(document), now

    async def _fetch(self) -> Any:
        # No redirects: they could lead to an address that nothing has checked.
        async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS, follow_redirects=False) as client:
            return await _json(client, self._jwks_url or await self._discovered(client))

    async def _discovered(self, client: httpx.AsyncClient) -> str:
        """Return the address of the key set. It must be as safe as ours: https, or on this machine."""
        found = await _json(client, self._issuer.rstrip("/") + DISCOVERY)
        url = found.get("jwks_uri") if isinstance(found, dict) else None
        # Without equal names another issuer's keys could sign for this one (OpenID Connect Discovery 1.0, 4.3).
        if not isinstance(url, str) or found.get("issuer") != self._issuer or not safe(url):
            raise ServiceDown("the token issuer's discovery document is not acceptable")
        return url


async def _json(client: httpx.AsyncClient, url: str) -> Any:
    """Fetch a JSON document of bounded size. Raises ServiceDown."""
    try:
        async with client.stream("GET", url) as answer:
            if answer.status_code != 200:
                raise ServiceDown(f"the token issuer answered {answer.status_code}")
            body = b""
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > BYTES_MOST:
                    raise ServiceDown("the token issuer's document is too large")
        return orjson.loads(body)
    except (httpx.HTTPError, httpx.InvalidURL, orjson.JSONDecodeError) as error:
        raise ServiceDown(f"the token issuer: {type(error).__name__}") from error


def _over(since: float | None, seconds: float, now: float) -> bool:
    return since is None or now - since >= seconds
