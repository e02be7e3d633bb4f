"""Requests signed by the holder of a key: method, target, body, nonce and time, each once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import httpx
import pytest
import pytest_asyncio
from joserfc import jwt
from joserfc.jwk import ECKey, OKPKey
from typing_extensions import override

from libs import ids
from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.keys import Keys
from libs.policy import Policy
from tests import infrastructure
from tests.services.gateway.running import RunningGateway, running_gateway

Json = Any
NOW = 1_800_000_000
X25519 = OKPKey.generate_key("X25519").as_dict(private=False)


class StoppedClock:
    """The time is always NOW, so that the age of a signature is exact."""

    def now(self) -> datetime:
        return datetime.fromtimestamp(NOW, UTC)


class Signing(httpx.Auth):
    """Signs each request as a client does."""

    requires_request_body = True

    def __init__(self, key: str, private: OKPKey | ECKey, **wrong: Json) -> None:
        self._id, self._private, self._wrong = key.split("_")[1], private, wrong

    @override
    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        said = {
            "method": request.method,
            "path": request.url.raw_path.decode(),
            "body": sha256(request.content).hexdigest(),
            "nonce": ids.new(),
            "iat": NOW,
            **self._wrong,
        }
        alg = "ES256" if isinstance(self._private, ECKey) else "Ed25519"
        request.headers["X-Signature"] = jwt.encode({"alg": alg, "kid": self._id}, said, self._private, [alg])
        yield request


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(
    server: Postgres, gateway_template: str, rules: Policy, keys: Keys, owner: str
) -> AsyncIterator[RunningGateway]:
    ports: Json = {"policy": rules, "keys": keys, "clock": StoppedClock()}
    async with (
        infrastructure.fresh_database(server, gateway_template) as where,
        running_gateway(where, owner, **ports) as made,
    ):
        yield made


Signer = tuple[str, OKPKey]


async def registered(http: httpx.AsyncClient, private: OKPKey | ECKey) -> str:
    body = {"principal": "ada", "roles": ["user"], "signing_key": private.as_dict(private=False)}
    answer = await http.post("/v1/admin/keys", json=body)
    assert answer.status_code == 201, answer.text
    assert answer.json()["signs"] is True
    return str(answer.json()["key"])


@pytest_asyncio.fixture(loop_scope="session")
async def signer(http: httpx.AsyncClient) -> Signer:
    private = OKPKey.generate_key("Ed25519")
    return await registered(http, private), private


@pytest.mark.requirement("S3-55")
async def test_signed_requests_are_accepted(home: RunningGateway, http: httpx.AsyncClient, signer: Signer) -> None:
    for key, private in (signer, await _elliptic(http)):
        async with home.client(key) as ada:
            ada.auth = Signing(key, private)
            opened = await ada.post("/v1/sessions", json={"title": "signed"})
            listed = await ada.get("/v1/sessions", params={"limit": "5"})
        assert (opened.status_code, listed.status_code) == (201, 200)


async def _elliptic(http: httpx.AsyncClient) -> tuple[str, ECKey]:
    private = ECKey.generate_key("P-256")
    return await registered(http, private), private


@pytest.mark.requirement("S3-55", "A21")
async def test_unsigned_and_wrongly_signed_requests_are_401(home: RunningGateway, signer: Signer) -> None:
    key, private = signer
    wrong: list[httpx.Auth | None] = [
        None,
        Signing(key, OKPKey.generate_key("Ed25519")),
        Signing(home.owner, private),
        Signing(key, private, method="GET"),
        Signing(key, private, path="/v1/sessions/message"),
        Signing(key, private, body=sha256(b"{}").hexdigest()),
        Signing(key, private, iat=NOW - 61),
        Signing(key, private, iat=NOW + 61),
        Signing(key, private, iat="now"),
        Signing(key, private, iat=float("nan")),
        Signing(key, private, iat=float("inf")),
        Signing(key, private, iat=10**400),
        Signing(key, private, nonce="short"),
    ]
    async with home.client(key) as ada:
        for auth in wrong:
            ada.auth = auth or httpx.Auth()
            answer = await ada.post("/v1/sessions", json={"title": "mine"})
            assert (answer.status_code, answer.json()["code"]) == (401, "BAD_SIGNATURE"), vars(auth or object)
        ada.auth = Signing(key, private)
        assert (await ada.get("/v1/sessions")).json()["sessions"] == []
    refused = [record for record in await home.audited("identity.authenticate") if record["rule"] == "BAD_SIGNATURE"]
    assert [record["principal"] for record in refused] == ["ada"]


@pytest.mark.requirement("S3-55")
async def test_recorded_request_is_refused(home: RunningGateway, signer: Signer) -> None:
    key, private = signer
    async with home.client(key) as ada:
        ada.auth = Signing(key, private, nonce="n" * 16)
        answers = [await ada.post("/v1/sessions", json={}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 401]
    assert "sent before" in answers[1].json()["detail"]


async def test_signing_key_signs_in_no_browser(home: RunningGateway, signer: Signer) -> None:
    key, private = signer
    async with home.client(key) as ada:
        ada.auth = Signing(key, private)
        assert [(await ada.post(path)).status_code for path in ("/v1/signin", "/v1/signin/code")] == [401, 401]


async def test_successor_of_a_signing_key_signs_too(
    home: RunningGateway, http: httpx.AsyncClient, signer: Signer
) -> None:
    key, private = signer
    new = (await http.post(f"/v1/admin/keys/{key.split('_')[1]}/rotate")).json()["key"]
    async with home.client(new) as ada:
        assert (await ada.get("/v1/me")).status_code == 401
        ada.auth = Signing(new, private)
        assert (await ada.get("/v1/me")).status_code == 200


@pytest.mark.parametrize("given", [{}, {"kty": "oct", "k": "c2VjcmV0"}, X25519])
async def test_unusable_signing_key_is_422(http: httpx.AsyncClient, given: Json) -> None:
    body = {"principal": "ada", "roles": ["user"], "signing_key": given}
    answer = await http.post("/v1/admin/keys", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "NO_SIGNING_KEY")


async def test_private_part_of_a_signing_key_is_not_kept(home: RunningGateway, http: httpx.AsyncClient) -> None:
    private = OKPKey.generate_key("Ed25519")
    body = {"principal": "ada", "roles": ["user"], "signing_key": private.as_dict(private=True)}
    assert (await http.post("/v1/admin/keys", json=body)).status_code == 201
    rows = await home.rows("select signing_key::text as jwk from gateway.api_keys where signing_key is not null")
    assert rows
    assert all(str(private.as_dict(private=True)["d"]) not in row["jwk"] for row in rows)


async def test_server_may_require_signatures_for_writes(gateway_where: Dsns, rules: Policy, owner: str) -> None:
    async with running_gateway(gateway_where, owner, policy=rules, settings={"signatures_required": True}) as made:
        async with made.client(await made.key("chat")) as ada:
            answers = [await ada.get("/v1/sessions"), await ada.post("/v1/sessions", json={})]
        async with made.client() as machine:
            answers.append(await machine.post("/v1/sessions", json={}))
    assert [answer.status_code for answer in answers] == [200, 401, 201]
