"""Access tokens of an outside issuer: verified by its keys, bound to us, and mapped to an account."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from joserfc import jws, jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from libs import ids
from libs.clock import SystemClock
from libs.database import Dsns
from libs.keys import Keys
from libs.policy import Policy
from services import http_server
from tests.services.gateway.running import RunningGateway, running_gateway

Json = Any
AUDIENCE = "https://suma.example"
MCP = f"{AUDIENCE}/mcp"


@dataclass
class Issuer:
    """An OpenID provider on a real port, whose keys can be changed."""

    url: str = ""
    keys: dict[str, ECKey | RSAKey] = field(default_factory=dict)
    asked: int = 0
    away: bool = False
    claims: dict[str, Json] = field(default_factory=dict)

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.get("/.well-known/openid-configuration")
        async def discovery() -> Json:
            return {"issuer": self.url, "jwks_uri": f"{self.url}/jwks"}

        @app.get("/jwks")
        async def jwks() -> Json:
            self.asked += 1
            assert not self.away
            return {"keys": [{**key.as_dict(private=False), "kid": kid} for kid, key in self.keys.items()]}

        return app

    def rotate(self, kid: str) -> None:
        self.keys = {kid: ECKey.generate_key("P-256")}

    def token(self, kid: str | None = None, **others: Json) -> str:
        kid = kid or next(iter(self.keys))
        return jwt.encode({"alg": "ES256", "kid": kid}, self.said(**others), self.keys[kid], ["ES256"])

    def said(self, **others: Json) -> dict[str, Json]:
        now = int(SystemClock().now().timestamp())
        said = {"iss": self.url, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 300, **self.claims, **others}
        return {name: value for name, value in said.items() if value is not None}


@dataclass
class LateClock:
    """The machine's clock, moved on."""

    late: timedelta = timedelta()

    def now(self) -> datetime:
        return SystemClock().now() + self.late


@dataclass
class SignIn:
    home: RunningGateway
    issuer: Issuer
    clock: LateClock

    def later(self, seconds: float) -> None:
        self.clock.late += timedelta(seconds=seconds)

    async def get(self, token: str, path: str = "/v1/me") -> httpx.Response:
        async with self.home.client(token) as http:
            return await http.get(path)

    async def status(self, token: str) -> int:
        return (await self.get(token)).status_code


@asynccontextmanager
async def issuing() -> AsyncIterator[Issuer]:
    issuer = Issuer()
    issuer.rotate("first")
    with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as door:
        issuer.url = http_server.url_of(door)
        async with http_server.serving(issuer.app(), door):
            yield issuer


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def issuer() -> AsyncIterator[Issuer]:
    async with issuing() as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def sign_in(gateway_where: Dsns, rules: Policy, keys: Keys, owner: str, issuer: Issuer) -> AsyncIterator[SignIn]:
    oidc = {"issuer": issuer.url, "audience": [AUDIENCE, MCP], "skew_seconds": 60}
    issuer.rotate(ids.new())
    issuer.claims, issuer.asked, issuer.away = {"tenant": "local", "roles": ["user"]}, 0, False
    clock = LateClock()
    ports: Json = {"policy": rules, "keys": keys, "clock": clock}
    async with running_gateway(gateway_where, owner, **ports, settings={"oidc": oidc}) as made:
        yield SignIn(made, issuer, clock)


def part(value: Json) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.requirement("S3-50")
async def test_token_of_the_issuer_is_an_identity(sign_in: SignIn) -> None:
    me = (await sign_in.get(sign_in.issuer.token(scope="openid admin.audit admin.tenants *"))).json()
    assert (me["tenant"], me["principal"], me["roles"], me["signed_in_with"]) == ("local", "ada", ["user"], "jwt")
    assert set(me["scopes"]) == {"chat", "files:read", "files:write", "memory", "admin.audit"}
    assert (await sign_in.get(sign_in.issuer.token(roles=[]), "/v1/sessions")).status_code == 403


@pytest.mark.requirement("A21")
async def test_wrong_claims_are_401(sign_in: SignIn) -> None:
    now = int(SystemClock().now().timestamp())
    for wrong in (
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "https://other.example"},
        {"aud": None},
        {"exp": now - 61},
        {"exp": None},
        {"exp": "soon"},
        {"nbf": now + 600},
        {"tenant": "nonesuch"},
        {"tenant": None},
        {"tenant": ["local"]},
        {"sub": None},
        {"sub": "a b"},
    ):
        answer = await sign_in.get(sign_in.issuer.token(**wrong))
        assert (answer.status_code, answer.json()["code"]) == (401, "BAD_TOKEN"), wrong


async def test_clock_skew_is_tolerated(sign_in: SignIn) -> None:
    now = int(SystemClock().now().timestamp())
    assert await sign_in.status(sign_in.issuer.token(exp=now - 1, nbf=now + 1)) == 200


@pytest.mark.requirement("A21")
async def test_no_algorithm_and_shared_secrets_are_401(sign_in: SignIn) -> None:
    said, (kid, key) = sign_in.issuer.said(), next(iter(sign_in.issuer.keys.items()))
    public = json.dumps({**key.as_dict(private=False), "kid": kid})
    secret = OctKey.import_key(public.encode())
    stranger = ECKey.generate_key("P-256")
    brought = {"alg": "ES256", "kid": kid, "jwk": stranger.as_dict(private=False)}
    for token in (
        f"{part({'alg': 'none', 'kid': kid})}.{part(said)}.",
        f"{part({'kid': kid})}.{part(said)}.",
        jwt.encode({"alg": "HS256", "kid": kid}, said, secret, ["HS256"]),
        jwt.encode({"alg": "ES256", "kid": kid}, said, stranger, ["ES256"]),
        jws.serialize_compact(brought, json.dumps(said).encode(), stranger, ["ES256"]),
        jwt.encode({"alg": "ES256"}, said, key, ["ES256"]),
        jwt.encode({"alg": "ES256", "kid": kid}, said, key, ["ES256"])[:-2],
        sign_in.issuer.token() + "." + "x" * 20_000,
        "eyJ",
    ):
        answer = await sign_in.get(token)
        assert (answer.status_code, answer.json()["code"]) == (401, "BAD_TOKEN"), token[:80]


@pytest.mark.requirement("A21")
async def test_algorithms_that_are_not_listed_are_401(sign_in: SignIn) -> None:
    key = sign_in.issuer.keys["rsa"] = RSAKey.generate_key(2048)

    async def status(algorithm: str) -> int:
        header = {"alg": algorithm, "kid": "rsa"}
        return await sign_in.status(jwt.encode(header, sign_in.issuer.said(), key, [algorithm]))

    assert [await status(listed) for listed in ("RS256", "PS256")] == [200, 200]
    assert {await status(other) for other in ("RS384", "RS512", "PS384", "PS512")} == {401}


@pytest.mark.requirement("A21")
async def test_refused_tokens_are_audited(sign_in: SignIn) -> None:
    expired = int(SystemClock().now().timestamp()) - 61
    wrong = [
        sign_in.issuer.token(**claims) for claims in ({"exp": expired}, {"aud": "x"}, {"tenant": "x"}, {"sub": None})
    ]
    forged = [f"{part({'alg': 'none', 'kid': 'x'})}.{part({})}.", sign_in.issuer.token()[:-2]]
    for token in (*wrong, *forged):
        assert await sign_in.status(token) == 401
    sign_in.later(61)
    await sign_in.home.context.refusals.flush()
    told = [(r["principal"], r["resource"], r["rule"]) for r in await sign_in.home.audited("identity.authenticate")]
    assert told == [("anonymous", "", "BAD_TOKEN"), ("anonymous", f"{len(wrong + forged) - 1} requests", "BAD_TOKEN")]


@pytest.mark.requirement("S3-59")
async def test_rotated_key_is_fetched_once_the_issuer_uses_it(sign_in: SignIn) -> None:
    before = sign_in.issuer.token()
    assert await sign_in.status(before) == 200
    sign_in.issuer.rotate("next")
    fresh = sign_in.issuer.token()
    assert await sign_in.status(fresh) == 401, "a fetch within ten seconds is not repeated"
    sign_in.later(10)
    assert (await sign_in.status(fresh), await sign_in.status(before)) == (200, 401)


async def test_unknown_keys_cause_few_requests(sign_in: SignIn) -> None:
    await sign_in.status(sign_in.issuer.token())
    key = ECKey.generate_key("P-256")
    forged = [jwt.encode({"alg": "ES256", "kid": f"k{n}"}, {}, key, ["ES256"]) for n in range(20)]
    assert set(await asyncio.gather(*map(sign_in.status, forged))) == {401}
    assert sign_in.issuer.asked == 1


async def test_known_keys_outlive_an_outage_of_the_issuer(sign_in: SignIn) -> None:
    assert await sign_in.status(sign_in.issuer.token()) == 200
    sign_in.issuer.away = True
    sign_in.later(600)
    assert await sign_in.status(sign_in.issuer.token(exp=int(sign_in.clock.now().timestamp()) + 60)) == 200
    sign_in.later(3600)
    assert await sign_in.status(sign_in.issuer.token(exp=int(sign_in.clock.now().timestamp()) + 60)) == 503


async def test_disabled_principal_of_the_issuer_is_refused(sign_in: SignIn) -> None:
    async with sign_in.home.client() as http:
        await http.post("/v1/admin/principals/ada/disable")
    assert await sign_in.status(sign_in.issuer.token()) == 401
    assert await sign_in.status(sign_in.issuer.token(sub="bob@example.org")) == 200


@pytest.mark.requirement("S3-50")
async def test_challenges_name_metadata_and_scopes(sign_in: SignIn) -> None:
    async with sign_in.home.client() as http:
        del http.headers["Authorization"]
        bare = await http.get("/v1/sessions")
        url = bare.headers["www-authenticate"].partition('resource_metadata="')[2].rstrip('"')
        metadata = (await http.get(url)).json()
    assert (metadata["resource"], metadata["authorization_servers"]) == ("http://localhost:8010", [sign_in.issuer.url])
    assert "error=" not in bare.headers["www-authenticate"]
    wrong = (await sign_in.get("suma_x")).headers["www-authenticate"]
    assert 'error="invalid_token"' in wrong
    assert 'scope="chat ' in wrong
    token = sign_in.issuer.token(roles=[], scope="chat")
    async with sign_in.home.client(token) as http:
        denied = await http.post("/v1/sessions", json={"root": "/tmp"})
        missing = await http.get("/v1/sessions/x/diff")
    for answer in (denied, missing):
        assert answer.status_code == 403
        assert 'error="insufficient_scope", scope="files:read"' in answer.headers["www-authenticate"]
        assert "resource_metadata=" in answer.headers["www-authenticate"]


async def test_token_without_a_configured_issuer_is_401(home: RunningGateway, issuer: Issuer) -> None:
    async with home.client(issuer.token()) as http:
        assert (await http.get("/v1/me")).status_code == 401


@pytest.mark.requirement("A21")
async def test_mcp_metadata_names_the_issuer_of_its_tokens(sign_in: SignIn) -> None:
    async with sign_in.home.client("") as http:
        described = (await http.get("/.well-known/oauth-protected-resource/mcp")).json()
    assert described["authorization_servers"] == [sign_in.issuer.url]
    assert described["resource"].endswith("/mcp")
    assert described["scopes_supported"] == ["chat", "files:read", "files:write", "memory"]


@pytest.mark.requirement("A21")
@pytest.mark.parametrize(("audience", "status"), [(MCP, 200), ("https://other.example/mcp", 401)])
async def test_mcp_takes_tokens_for_its_audience_alone(sign_in: SignIn, audience: str, status: int) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    async with sign_in.home.client(sign_in.issuer.token(aud=audience)) as http:
        answer = await http.post("/mcp", json=asked, headers=headers)
    challenge = answer.headers.get("www-authenticate", "")
    assert answer.status_code == status
    assert ("result" in answer.json()) == (status == 200)
    assert ("/.well-known/oauth-protected-resource/mcp" in challenge) == (status == 401)
