"""Sign-in of browsers: one-time codes, the cookie and what it may do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from tests.services.gateway.running import BASE, RunningGateway

ORIGIN = {"Origin": BASE, "Content-Type": "application/json"}


@asynccontextmanager
async def browser(home: RunningGateway) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client with the cookie of a signed-in browser, and no key."""
    async with home.client() as http:
        answer = await http.post("/v1/signin")
        assert answer.status_code == 200, answer.text
        del http.headers["Authorization"]
        yield http


async def code_of(home: RunningGateway) -> str:
    async with home.client() as http:
        answer = await http.post("/v1/signin/code")
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert made["url"] == f"{BASE}/?code={made['code']}"
    return str(made["code"])


async def test_code_signs_a_browser_in_once(home: RunningGateway) -> None:
    code = await code_of(home)
    async with home.client(code) as http:
        first, second = await http.post("/v1/signin"), await http.post("/v1/signin")
        assert (first.status_code, second.status_code) == (200, 401)
        assert "was used" in second.json()["detail"]
        del http.headers["Authorization"]
        me = (await http.get("/v1/me")).json()
    assert (me["tenant"], me["principal"], me["scopes"], me["signed_in_with"]) == (home.tenant, "owner", ["*"], "web")


async def test_concurrent_uses_of_a_code_sign_in_once(home: RunningGateway) -> None:
    code = await code_of(home)
    async with home.client(code) as http:
        answers = await asyncio.gather(*(http.post("/v1/signin") for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 401, 401, 401, 401]


async def test_code_expires_after_a_minute(home: RunningGateway) -> None:
    code = await code_of(home)
    late = "update gateway.signin_codes set expires_at = expires_at - interval '60 seconds'"
    await home.own(home.tenant, late)
    async with home.client(code) as http:
        answer = await http.post("/v1/signin")
    assert (answer.status_code, "expired" in answer.json()["detail"]) == (401, True)


async def test_code_is_valid_for_nothing_else(home: RunningGateway) -> None:
    async with home.client(await code_of(home)) as http:
        assert [(await http.get(path)).status_code for path in ("/v1/sessions", "/v1/me")] == [401] * 2
        assert (await http.post("/v1/signin")).status_code == 200


async def test_cookie_is_strict_and_hidden_from_scripts(home: RunningGateway) -> None:
    async with home.client() as http:
        plain = (await http.post("/v1/signin")).headers["set-cookie"]
        http.base_url = "https://localhost:8010"
        secure = (await http.post("/v1/signin")).headers["set-cookie"]
    for cookie in (plain, secure):
        assert re.match(
            r"(__Host-)?suma_session=suma_web_[a-z2-7]{52}; HttpOnly; Max-Age=604800; Path=/; SameSite=strict", cookie
        )
    assert ("Secure" in plain, "Secure" in secure) == (False, True)
    assert (plain.startswith("__Host-"), secure.startswith("__Host-")) == (False, True)


async def test_https_accepts_only_the_cookie_of_its_own_host(home: RunningGateway) -> None:
    async with home.client() as http:
        http.base_url = "https://localhost:8010"
        text = (await http.post("/v1/signin")).headers["set-cookie"].partition(";")[0].partition("=")[2]
        del http.headers["Authorization"]
        http.cookies.clear()
        answers = [
            await http.get("/v1/me", headers={"Cookie": f"{name}={text}"})
            for name in ("suma_session", "__Host-suma_session")
        ]
    assert [answer.status_code for answer in answers] == [401, 200]


@pytest.mark.requirement("A28a")
@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "application/json"},
        {"Origin": BASE, "Content-Type": "text/plain"},
        {"Origin": BASE},
        {"Origin": "https://evil.example", "Content-Type": "application/json"},
        {"Origin": "null", "Content-Type": "application/json"},
    ],
)
async def test_cookie_write_from_elsewhere_is_refused(home: RunningGateway, headers: dict[str, str]) -> None:
    async with browser(home) as http:
        answer = await http.post("/v1/sessions", content=b"{}", headers=headers)
        assert answer.status_code == 403
        assert answer.json()["code"] in ("CROSS_SITE", "FOREIGN_ORIGIN")
        assert (await http.post("/v1/sessions", json={}, headers=ORIGIN)).status_code == 201


async def test_cookie_in_a_bearer_token_is_refused(home: RunningGateway) -> None:
    async with browser(home) as http:
        text = http.cookies["suma_session"]
    async with home.client(text) as http:
        assert (await http.get("/v1/me")).status_code == 401


@pytest.mark.requirement("A21")
async def test_revoked_key_ends_its_browsers(home: RunningGateway) -> None:
    key = await home.key("chat")
    async with home.client(key) as http:
        assert (await http.post("/v1/signin")).status_code == 200
        del http.headers["Authorization"]
        before = await http.get("/v1/sessions")
        await home.revoke(key)
        after = await http.get("/v1/sessions")
    assert (before.status_code, after.status_code) == (200, 401)


async def test_sign_out_ends_the_session_on_the_server(home: RunningGateway) -> None:
    async with browser(home) as http:
        kept = http.cookies["suma_session"]
        assert (await http.post("/v1/signout", headers=ORIGIN)).status_code == 204
        assert "suma_session" not in http.cookies
        answer = await http.get("/v1/me", headers={"Cookie": f"suma_session={kept}"})
    assert (answer.status_code, answer.json()["detail"]) == (401, "this sign-in has ended; sign in again")


async def test_a_browser_cannot_create_codes(home: RunningGateway) -> None:
    async with browser(home) as http:
        answers = [await http.post(path, headers=ORIGIN) for path in ("/v1/signin/code", "/v1/signin")]
    assert [(a.status_code, a.json()["code"]) for a in answers] == [(403, "KEY_NEEDED")] * 2


async def test_sign_ins_are_audited_and_stored_as_hashes(home: RunningGateway) -> None:
    async with browser(home) as http:
        cookie = http.cookies["suma_session"]
        await http.post("/v1/signout", headers=ORIGIN)
    code = await code_of(home)
    done = [(await home.audited(action))[0]["verdict"] for action in ("identity.signin", "identity.signout")]
    assert done == ["succeeded"] * 2
    for table in ("web_sessions", "signin_codes"):
        rows = await home.rows(f"select to_jsonb(t)::text as all from gateway.{table} t")
        assert rows
        assert all(text not in row["all"] for row in rows for text in (cookie, code))


async def test_last_use_of_a_key_is_noted(home: RunningGateway) -> None:
    async with home.client() as http:
        await http.get("/v1/me")
        (row,) = await home.rows("select used_at from gateway.api_keys")
        assert row["used_at"] is not None
        await http.get("/v1/me")
        (again,) = await home.rows("select used_at from gateway.api_keys")
    assert again["used_at"] == row["used_at"]


async def test_code_preview_names_the_principal_and_keeps_the_code_valid(home: RunningGateway) -> None:
    code = await code_of(home)
    async with home.client(code) as http:
        told = await http.get("/v1/signin")
        assert told.json() == {"tenant": home.tenant, "principal": "owner", "instead_of": None}
        assert (await http.get("/v1/me")).status_code == 401
        assert (await http.post("/v1/signin")).status_code == 200


async def test_sign_in_ends_the_web_session_before_it(home: RunningGateway) -> None:
    async with browser(home) as http:
        former = next(iter(http.cookies.values()))
        name = next(iter(http.cookies.keys()))
        code = await code_of(home)
        assert (await http.post("/v1/signin", headers={"Authorization": f"Bearer {code}"})).status_code == 200
        assert (await http.get("/v1/me")).status_code == 200
        http.cookies.clear()
        http.cookies.set(name, former)
        assert (await http.get("/v1/me")).status_code == 401
