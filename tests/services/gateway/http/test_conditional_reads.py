"""Conditional reads: 304 while nothing changed, and never for another identity."""

from __future__ import annotations

import httpx
import pytest

from tests.services.gateway.running import RunningGateway

POLLED = (
    "/v1/sessions",
    "/v1/approvals",
    "/v1/effects",
    "/v1/budgets",
    "/status",
    "/v1/me",
    "/readyz",
    "/v1/health",
    "/v1/admin/keys",
)


async def session(http: httpx.AsyncClient) -> str:
    return f"/v1/sessions/{(await http.post('/v1/sessions', json={'title': 'one'})).json()['session_id']}"


@pytest.mark.parametrize("path", POLLED)
async def test_unchanged_read_is_not_sent_again(http: httpx.AsyncClient, path: str) -> None:
    first = await http.get(path)
    again = await http.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert not {"content-type", "content-length"} & again.headers.keys()


async def test_changed_read_is_sent_whole_with_a_new_tag(http: httpx.AsyncClient) -> None:
    path = await session(http)
    tag = (await http.get(path)).headers["etag"]
    await http.post(f"{path}/messages", json={"text": "wait"})
    changed = await http.get(path, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.json()["last_seq"]) == (200, 1)
    assert changed.headers["etag"] != tag


async def test_tag_of_one_identity_never_matches_another(home: RunningGateway, http: httpx.AsyncClient) -> None:
    tag = (await http.get("/v1/approvals")).headers["etag"]
    for key in (await home.key("*", principal="bob"), await home.key("*", tenant="other", principal="owner")):
        async with home.client(key) as other:
            assert (await other.get("/v1/approvals", headers={"If-None-Match": tag})).status_code == 200


async def test_refused_identity_gets_no_304(home: RunningGateway, http: httpx.AsyncClient) -> None:
    path = await session(http)
    tag = (await http.get(path)).headers["etag"]
    async with home.client(await home.key("*", tenant="other")) as other:
        answers = [await other.get(path, headers={"If-None-Match": asked}) for asked in (tag, "*")]
    assert [(answer.status_code, "etag" in answer.headers) for answer in answers] == [(404, False)] * 2


async def test_caches_keep_reads_for_one_identity_only(http: httpx.AsyncClient) -> None:
    read, admin = await http.get("/v1/sessions"), await http.get("/v1/admin/keys")
    assert read.headers["cache-control"] == "private, no-cache"
    assert read.headers["vary"] == "Authorization, Cookie, X-API-Key"
    assert admin.headers["cache-control"] == "no-store"
    written = await http.post("/v1/sessions", json={})
    assert (written.headers["cache-control"], "etag" in written.headers) == ("no-store", False)
    assert (await http.post("/v1/signout", json={})).headers["clear-site-data"] == '"cache"'


@pytest.mark.parametrize("asked", ["*", '"other", {tag}', "{strong}"])
async def test_tag_is_found_in_each_form_of_the_header(http: httpx.AsyncClient, asked: str) -> None:
    tag = (await http.get("/v1/me")).headers["etag"]
    header = asked.format(tag=tag, strong=tag.removeprefix("W/"))
    assert (await http.get("/v1/me", headers={"If-None-Match": header})).status_code == 304
