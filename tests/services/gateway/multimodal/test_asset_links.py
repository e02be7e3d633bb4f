"""Links to one asset: read without a key until they end, and nothing else with them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from libs import ids
from libs.database import Dsns
from libs.identity.roles import BUNDLES
from libs.keys import Keys
from libs.policy import Policy
from libs.skills import Skills
from services.gateway.identity import links
from tests.services.gateway.identity.test_tokens import AUDIENCE, issuing
from tests.services.gateway.multimodal import test_jobs
from tests.services.gateway.multimodal.test_jobs import SVG, Executor, Jobs
from tests.services.gateway.running import running_gateway

Json = Any
DAY = {"seconds": 86_400}
skills, jobs = test_jobs.skills, test_jobs.jobs


async def made(jobs: Jobs, http: httpx.AsyncClient | None = None, body: Json = None) -> Json:
    """Return a link to a new asset."""
    await jobs.made()
    answer = await (http or jobs.http).post(f"{jobs.path}/link", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def read(jobs: Jobs, url: str, method: str = "GET", **headers: str) -> httpx.Response:
    """Follow a link without a key."""
    async with jobs.gateway.client() as http:
        del http.headers["Authorization"]
        return await http.request(method, url, headers=headers)


def outcome(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


@pytest.mark.requirement("S3-35")
async def test_link_returns_the_content_and_ranges_without_a_key(jobs: Jobs) -> None:
    url = (await made(jobs))["url"]
    whole, part = await read(jobs, url), await read(jobs, url, Range="bytes=1-3")
    assert (whole.status_code, whole.content, part.status_code, part.content) == (200, SVG, 206, SVG[1:4])
    assert whole.headers["content-security-policy"] == "sandbox; default-src 'none'"
    outcomes = [one["verdict"] for one in await jobs.gateway.audited("asset.read")]
    assert outcomes == ["allow", "linked", "allow", "streamed", "allow", "streamed"]
    assert jobs.gateway.tenant not in url.partition("?")[2]


async def test_lifetime_is_at_most_that_of_the_setting(jobs: Jobs) -> None:
    begun = datetime.now(UTC)
    ends = [datetime.fromisoformat((await made(jobs, body=body))["expires_at"]) for body in ({"seconds": 60}, {}, DAY)]
    seconds = [(end - begun).total_seconds() for end in ends]
    assert 50 < seconds[0] < 120
    assert all(3500 < each < 3700 for each in seconds[1:])


async def test_link_admits_only_its_own_read(jobs: Jobs) -> None:
    url = (await made(jobs))["url"]
    query = url.partition("?")[2]
    elsewhere = (f"{jobs.path}/provenance?{query}", f"/v1/multimodal/assets/{ids.new()}?{query}", f"/v1/me?{query}")
    assert [outcome(await read(jobs, path)) for path in elsewhere] == [(401, "BAD_KEY")] * 3
    assert outcome(await read(jobs, f"{jobs.path}/link?{query}", "POST")) == (401, "BAD_KEY")


async def test_changed_or_expired_link_is_refused_alike(jobs: Jobs) -> None:
    token = (await made(jobs))["url"].partition("link=")[2]
    key, expires, mac = token.split(".")
    keys = jobs.gateway.platform.keys
    wrong = [
        f"{key}.{int(expires) + 1}.{mac}",
        f"{'a' * 16}.{expires}.{mac}",
        f"{token[:-1]}{'0' if token[-1] != '0' else '1'}",
        links.made(keys, key_id=key, path=jobs.path, expires=1),
        "",
    ]
    answers = [await read(jobs, f"{jobs.path}?link={each}") for each in wrong]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.json()["detail"] for answer in answers}) == 1


@pytest.mark.requirement("A29")
async def test_link_ends_with_its_key_and_with_its_asset(jobs: Jobs) -> None:
    key = await jobs.gateway.key(*BUNDLES["admin"], principal="ada")
    async with jobs.gateway.client(key) as ada:
        by_ada = (await made(jobs, ada))["url"]
    assert (await read(jobs, by_ada)).status_code == 200
    await jobs.gateway.revoke(key)
    assert outcome(await read(jobs, by_ada)) == (401, "BAD_KEY")
    own = (await made(jobs))["url"]
    jobs.executor.asset = None
    assert outcome(await read(jobs, own)) == (404, "NO_SUCH_ASSET")


async def test_link_of_another_counts_before_the_own_key(jobs: Jobs) -> None:
    url = (await made(jobs))["url"]
    key = await jobs.gateway.key(*BUNDLES["user"], principal="eve")
    async with jobs.gateway.client(key) as eve:
        assert (await eve.get(jobs.path)).status_code == 404
        assert (await eve.get(url)).content == SVG
        assert outcome(await eve.post(f"{jobs.path}/link")) == (404, "NO_SUCH_ASSET")


@pytest.mark.requirement("S3-35", "S3-50")
async def test_caller_with_a_token_is_led_to_the_download(
    gateway_where: Dsns, rules: Policy, keys: Keys, owner: str, skills: Skills
) -> None:
    executor = Executor(keys)
    ports: Json = {"policy": rules, "keys": keys, "skills": skills, "clients": {"tool_executor": executor.client}}
    async with issuing() as issuer:
        issuer.claims = {"tenant": "local", "roles": ["user"]}
        oidc = {"oidc": {"issuer": issuer.url, "audience": [AUDIENCE]}}
        async with (
            running_gateway(gateway_where, owner, **ports, settings=oidc) as gateway,
            gateway.client(issuer.token()) as ada,
        ):
            by_token = Jobs(gateway, executor, ada)
            await by_token.made()
            refused = await ada.post(f"{by_token.path}/link")
            assert outcome(refused) == (403, "KEY_NEEDED")
            assert f"download {by_token.path} with the token" in refused.json()["detail"]
            assert (await ada.get(by_token.path)).content == SVG


async def test_key_that_ends_soon_lends_no_longer(jobs: Jobs) -> None:
    ends = datetime.now(UTC) + timedelta(seconds=90)
    key = await jobs.gateway.key(*BUNDLES["admin"], principal="soon", expires=ends)
    async with jobs.gateway.client(key) as http:
        assert datetime.fromisoformat((await made(jobs, http))["expires_at"]) <= ends
