"""Access control: keys, scopes, tenants, Host and Origin."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from libs import ids
from libs.database import Dsns
from libs.identity.keys import mint
from libs.runtime.host import prepare
from services.gateway.identity.local_key import ensure_local_key
from services.gateway.service import build
from tests import infrastructure
from tests.services.gateway.running import RunningGateway, client, running_gateway

OPEN = {"/healthz", "/readyz", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"}


def _swapped(key: str) -> str:
    """Return a key with the same id and another secret."""
    return key[:-1] + ("a" if key[-1] != "a" else "b")


@pytest.mark.requirement("A21")
async def test_closed_routes_without_key_return_401(home: RunningGateway) -> None:
    async with home.client() as http:
        del http.headers["Authorization"]
        document = (await http.get("/openapi.json")).json()
        routes = [(m, p) for p, methods in document["paths"].items() for m in methods if p not in OPEN]
        assert len(routes) > 20
        for method, path in routes:
            answer = await http.request(method, path.replace("{", "").replace("}", ""), json={})
            assert answer.status_code == 401, (method, path)
            assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.requirement("A21")
@pytest.mark.parametrize("key", [" ", "suma_", "x" * 5000, "eyJhbGciOiJub25lIn0.e30.", f"suma_{'a' * 16}_{'a' * 52}"])
async def test_malformed_or_unknown_key_is_401(home: RunningGateway, key: str) -> None:
    async with home.client(key) as http:
        answer = await http.get("/v1/sessions")
    assert (answer.status_code, answer.json()["code"]) == (401, "BAD_KEY")


@pytest.mark.requirement("A21")
async def test_forged_expired_and_revoked_keys_are_401_and_audited(home: RunningGateway) -> None:
    keys = {name: await home.key("chat", principal=name) for name in ("forged", "revoked")}
    keys["expired"] = await home.key("chat", principal="expired", expires=datetime.now(UTC) - timedelta(seconds=1))
    keys["forged"] = _swapped(keys["forged"])
    await home.revoke(keys["revoked"])
    for key in keys.values():
        async with home.client(key) as http:
            assert [(await http.get("/v1/sessions")).status_code for _ in range(3)] == [401] * 3

    records = await home.audited("identity.authenticate")
    assert sorted(record["principal"] for record in records) == ["expired", "forged", "revoked"]
    assert {record["verdict"] for record in records} == {"deny"}


async def test_a_key_works_until_the_moment_that_it_is_revoked(home: RunningGateway) -> None:
    key = await home.key("chat")
    async with home.client(key) as http:
        before = await http.get("/v1/sessions")
        await home.revoke(key)
        after = await http.get("/v1/sessions")
    assert (before.status_code, after.status_code) == (200, 401)


async def test_revocation_elsewhere_counts_within_the_time_of_a_key(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"key_seconds": 0.2}) as home, asyncio.timeout(60):
        key = await home.key("chat")
        async with home.client(key) as http:
            assert (await http.get("/v1/sessions")).status_code == 200
            await home.revoke(key)
            while (await http.get("/v1/sessions")).status_code == 200:
                await asyncio.sleep(0.02)


async def test_revocation_here_counts_at_once(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"key_seconds": 60.0}) as home:
        key = await home.key("chat")
        async with home.client(key) as http, home.client() as admin:
            assert (await http.get("/v1/sessions")).status_code == 200
            await admin.post(f"/v1/admin/keys/{key.split('_')[1]}/revoke")
            assert (await http.get("/v1/sessions")).status_code == 401


@pytest.mark.requirement("S3-50")
async def test_a_key_may_come_in_its_own_header(home: RunningGateway) -> None:
    async with home.client() as http:
        del http.headers["Authorization"]
        assert (await http.get("/v1/sessions", headers={"X-API-Key": home.owner})).status_code == 200


@pytest.mark.requirement("A29")
async def test_another_tenants_things_look_like_nothing(home: RunningGateway, http: httpx.AsyncClient) -> None:
    accepted = (await http.post("/v1/sessions/message", json={"text": "mine"})).json()
    session, turn = accepted["session_id"], accepted["turn_id"]
    async with home.client(await home.key("*", tenant=ids.new())) as stranger:
        answers = [
            await stranger.get(f"/v1/sessions/{session}"),
            await stranger.get(f"/v1/sessions/{session}/history"),
            await stranger.get(f"/v1/sessions/{session}/events"),
            await stranger.get(f"/v1/sessions/{session}/diff"),
            await stranger.get(f"/v1/turns/{turn}"),
            await stranger.get("/status", params={"session": session}),
            await stranger.post(f"/v1/sessions/{session}/messages", json={"text": "yours"}),
            await stranger.post("/v1/sessions/message", json={"text": "yours", "session_id": session}),
            await stranger.post(f"/v1/turns/{turn}/cancel"),
            await stranger.post(f"/v1/sessions/{session}/rollback"),
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert (await stranger.get("/v1/sessions")).json()["sessions"] == []
        nobodys = await stranger.get("/v1/sessions/nobodys")
    assert answers[0].json() == nobodys.json()
    assert (await http.get(f"/v1/sessions/{session}")).json()["last_seq"] == 1


async def test_without_the_scope_to_talk_nothing_is_shown(home: RunningGateway, http: httpx.AsyncClient) -> None:
    await http.post("/v1/sessions/message", json={"text": "hello"})
    async with home.client(await home.key("memory")) as other:
        answer = await other.get("/v1/sessions")
    assert (answer.status_code, answer.json()["code"]) == (403, "SCOPE_MISSING")


@pytest.mark.requirement("A28a")
@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io:8010", "", "[::2]", "[bad", "a:b:c"]
)
async def test_a_rebound_host_name_is_misdirected(http: httpx.AsyncClient, host: str) -> None:
    answer = await http.get("/v1/sessions", headers={"Host": host})
    assert (answer.status_code, answer.json()["code"]) == (421, "MISDIRECTED")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8010", "127.0.0.1:9999", "[::1]:8010"])
async def test_our_own_names_are_answered_on_any_port(http: httpx.AsyncClient, host: str) -> None:
    assert (await http.get("/healthz", headers={"Host": host})).status_code == 200


@pytest.mark.requirement("A28a")
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://localhost:3000",
        "http://localhost.evil",
        "x",
        "http://[bad",
        "http://a]b",
    ],
)
async def test_a_page_of_another_origin_is_refused(http: httpx.AsyncClient, origin: str) -> None:
    answer = await http.post("/v1/sessions", json={}, headers={"Origin": origin})
    assert (answer.status_code, answer.json()["code"]) == (403, "FOREIGN_ORIGIN")
    assert "access-control-allow-origin" not in answer.headers


async def test_our_own_pages_and_listed_ones_may_send(gateway_where: Dsns, owner: str) -> None:
    settings = {"origins": ("https://ui.example",)}
    async with running_gateway(gateway_where, owner, settings=settings) as home, home.client() as http:
        for origin in ("http://localhost:8010", "https://ui.example"):
            assert (await http.post("/v1/sessions", json={}, headers={"Origin": origin})).status_code == 201
        preflight = await http.options("/v1/sessions", headers={"Origin": "https://ui.example"})
    assert (preflight.status_code, "access-control-allow-origin" in preflight.headers) == (405, False)


@pytest.mark.requirement("A28a")
async def test_cross_site_form_post_is_refused(http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/sessions", content=b'{"title": "x"}', headers={"Content-Type": "text/plain"})
    assert (answer.status_code, answer.json()["code"]) == (415, "NOT_JSON")


@pytest.mark.parametrize("coding", ["gzip", "br"])
async def test_a_body_with_a_coding_is_refused_by_name(http: httpx.AsyncClient, coding: str) -> None:
    answer = await http.post("/v1/sessions", json={"title": "x"}, headers={"Content-Encoding": coding})
    assert (answer.status_code, answer.json()["code"]) == (415, "ENCODED")


@pytest.mark.parametrize("path", ["/v1/sessions", "/nowhere", "/docs", "/healthz"])
async def test_every_response_has_security_headers(http: httpx.AsyncClient, path: str) -> None:
    headers = (await http.get(path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] in ("no-store", "private, no-cache")


@pytest.mark.requirement("S3-54")
async def test_answers_over_tls_bind_browsers_to_it(gateway_where: Dsns, owner: str) -> None:
    behind_proxy = {"public_url": "https://suma.example"}
    async with running_gateway(gateway_where, owner) as home, home.client() as http:
        plain = await http.get("/healthz")
        http.base_url = "https://localhost:8010"
        over_tls = [await http.get("/healthz"), await http.get("/nowhere", headers={"Host": "evil.example"})]
    async with running_gateway(gateway_where, owner, settings=behind_proxy) as home, home.client() as http:
        over_tls.append(await http.get("/healthz"))
    assert "strict-transport-security" not in plain.headers
    assert {answer.headers["strict-transport-security"] for answer in over_tls} == {"max-age=31536000"}


async def test_unregistered_machine_key_gets_a_retry(gateway_where: Dsns, owner: str) -> None:
    async with infrastructure.platform(gateway_where, settings={"gateway": {"local_key": owner}}) as platform:
        service = build(platform)
        await prepare(platform, [service])
        assert service.api is not None
        async with client(service.api.app, owner) as http:
            answer = await http.get("/v1/sessions")
    assert (answer.status_code, answer.json()["code"]) == (503, "UNAVAILABLE")
    assert "key is not registered yet" in answer.json()["detail"]
    assert int(answer.headers["retry-after"]) > 0


async def test_new_machine_key_revokes_the_old_one(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner) as home:
        changed, _ = mint("local", "owner", scopes=["*"])
        await ensure_local_key(home.platform, changed)
        async with home.client(owner) as old, home.client(changed) as new:
            assert (await old.get("/v1/sessions")).status_code == 401
            assert (await new.get("/v1/sessions")).status_code == 200
        await ensure_local_key(home.platform, owner)
        async with home.client(owner) as old, home.client(changed) as new:
            assert (await old.get("/v1/sessions")).status_code == 401, "a revoked key came back"
            assert (await new.get("/v1/sessions")).status_code == 200, "a revoked key revoked its successor"


async def test_only_the_hash_of_a_key_is_stored(home: RunningGateway) -> None:
    secret = home.owner.rsplit("_", 1)[-1]
    rows = await home.rows("select to_jsonb(k)::text as all from gateway.api_keys k")
    assert rows
    assert all(secret not in row["all"] for row in rows)
