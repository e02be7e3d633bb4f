"""API keys, principals and tenants: created, listed, rotated, revoked, disabled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio

from libs import ids
from libs.identity.roles import BUNDLES
from tests.services.gateway.running import RunningGateway

Json = Any


async def created(http: httpx.AsyncClient, **asked: Json) -> Json:
    answer = await http.post("/v1/admin/keys", json={"principal": "ada", "roles": ["user"], **asked})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def status_of(home: RunningGateway, key: str) -> int:
    async with home.client(key) as http:
        return (await http.get("/v1/me")).status_code


async def listed(http: httpx.AsyncClient, **params: str) -> list[Json]:
    answer = await http.get("/v1/admin/keys", params=params)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["keys"])


@pytest_asyncio.fixture(loop_scope="session")
async def platform_home(running: RunningGateway) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of the machine's owner, in the platform's own tenant."""
    async with running.client() as http:
        yield http


@asynccontextmanager
async def admin_of(home: RunningGateway) -> AsyncIterator[httpx.AsyncClient]:
    async with home.client(await home.key(*BUNDLES["admin"], principal="admin")) as http:
        yield http


@pytest.mark.requirement("S3-50")
async def test_created_key_has_its_roles_and_is_shown_once(home: RunningGateway, http: httpx.AsyncClient) -> None:
    made = await created(http, name="laptop", scopes=["admin.bus.read"])
    async with home.client(made["key"]) as ada:
        me = (await ada.get("/v1/me")).json()
    assert (me["principal"], me["roles"]) == ("ada", ["user"])
    assert set(me["scopes"]) == {*BUNDLES["user"], "admin.bus.read"}
    shown = await http.get("/v1/admin/keys")
    assert made["key"].rsplit("_", 1)[-1] not in shown.text
    key = next(key for key in shown.json()["keys"] if key["key_id"] == made["key_id"])
    assert (key["name"], key["created_by"], key["state"]) == ("laptop", "owner", "valid")
    assert key["used_at"] is not None


@pytest.mark.requirement("S3-59")
async def test_rotated_key_overlaps_with_its_successor(home: RunningGateway, http: httpx.AsyncClient) -> None:
    ends = (datetime.now(UTC) + timedelta(days=30)).isoformat()
    old = await created(http, name="ci", expires_at=ends)
    path = f"/v1/admin/keys/{old['key_id']}/rotate"
    new = (await http.post(path, json={"overlap_seconds": 3600})).json()
    assert [await status_of(home, made["key"]) for made in (old, new)] == [200, 200]
    assert (new["name"], new["principal"], new["roles"]) == ("ci", "ada", ["user"])
    lifetimes = {made["key_id"]: made["expires_at"] for made in await listed(http, principal="ada")}
    assert lifetimes[old["key_id"]] < lifetimes[new["key_id"]]
    last = (await http.post(f"/v1/admin/keys/{new['key_id']}/rotate", json={"overlap_seconds": 0})).json()
    assert [await status_of(home, made["key"]) for made in (new, last)] == [401, 200]


@pytest.mark.requirement("A21")
async def test_revoked_key_is_refused_at_once_and_listed_as_ended(
    home: RunningGateway, http: httpx.AsyncClient
) -> None:
    made = await created(http)
    revoked = [await http.post(f"/v1/admin/keys/{made['key_id']}/revoke") for _ in range(2)]
    assert [(answer.status_code, answer.json()["state"]) for answer in revoked] == [(200, "revoked")] * 2
    assert await status_of(home, made["key"]) == 401
    assert made["key_id"] not in {key["key_id"] for key in await listed(http)}
    assert made["key_id"] in {key["key_id"] for key in await listed(http, ended="true")}
    again = await http.post(f"/v1/admin/keys/{made['key_id']}/rotate")
    assert (again.status_code, again.json()["code"]) == (409, "KEY_ENDED")


async def test_key_is_rotated_once(home: RunningGateway, http: httpx.AsyncClient) -> None:
    made = await created(http)
    path = f"/v1/admin/keys/{made['key_id']}/rotate"
    answers = await asyncio.gather(*(http.post(path, json={"overlap_seconds": 60}) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [201, *[409] * 7]
    assert len(await listed(http)) == len({key["key_id"] for key in await listed(http)})
    assert await status_of(home, made["key"]) == 200


async def test_key_ends_no_later_than_the_one_that_made_it(home: RunningGateway, http: httpx.AsyncClient) -> None:
    end = home.platform.clock.now() + timedelta(minutes=10)
    short = await created(http, roles=["admin"], principal="lent", expires_at=end.isoformat())
    async with home.client(short["key"]) as admin:
        made = await created(admin, principal="lent")
        later = await created(admin, principal="lent", expires_at=(end + timedelta(days=1)).isoformat())
        assert {datetime.fromisoformat(key["expires_at"]) for key in (made, later)} == {end}
        rotated = (await admin.post(f"/v1/admin/keys/{made['key_id']}/rotate")).json()
        assert datetime.fromisoformat(rotated["expires_at"]) <= end


async def test_key_of_another_principal_takes_the_right_to_its_sessions(
    home: RunningGateway, http: httpx.AsyncClient
) -> None:
    alice = await created(http, principal="alice", scopes=["chat"])
    minter = ["admin.keys.read", "admin.keys.write", "chat"]
    async with home.client(await home.key(*minter, principal="mallory")) as mallory:
        made = await mallory.post("/v1/admin/keys", json={"principal": "alice", "scopes": ["chat"]})
        rotated = await mallory.post(f"/v1/admin/keys/{alice['key_id']}/rotate")
        assert [(each.status_code, each.json()["code"]) for each in (made, rotated)] == [(403, "GRANTS_MORE")] * 2
        assert (await mallory.post("/v1/admin/keys", json={"principal": "mallory", "scopes": ["chat"]})).is_success


async def test_key_cannot_grant_more_than_its_creator_holds(home: RunningGateway, http: httpx.AsyncClient) -> None:
    strong = await created(http, scopes=["admin.roots"])
    async with admin_of(home) as admin:
        for asked in ({"scopes": ["*"]}, {"scopes": ["admin.tenants"]}, {"scopes": ["admin.roots"]}):
            answer = await admin.post("/v1/admin/keys", json={"principal": "eve", **asked})
            assert (answer.status_code, answer.json()["code"]) == (403, "GRANTS_MORE"), asked
        rotated = await admin.post(f"/v1/admin/keys/{strong['key_id']}/rotate")
        assert (rotated.status_code, rotated.json()["code"]) == (403, "GRANTS_MORE")
        for role in BUNDLES:
            await created(admin, roles=[role])


async def test_only_administrators_manage_keys(home: RunningGateway) -> None:
    for role in ("user", "operator", "auditor"):
        async with home.client(await home.key(*BUNDLES[role], principal=role)) as http:
            answers = [
                await http.get("/v1/admin/keys"),
                await http.post("/v1/admin/keys", json={"principal": role, "roles": ["user"]}),
                await http.get("/v1/admin/principals"),
            ]
        assert [(a.status_code, a.json()["code"]) for a in answers] == [(403, "POLICY_DENIED")] * 3, role


async def test_key_past_its_expiry_cannot_be_created(http: httpx.AsyncClient) -> None:
    asked = {"principal": "ada", "roles": ["user"], "expires_at": "2001-01-01T00:00:00Z"}
    assert (await http.post("/v1/admin/keys", json=asked)).status_code == 422
    assert (await http.post("/v1/admin/keys", json={"principal": "ada"})).status_code == 422


async def test_disabled_principal_loses_every_key_and_browser(home: RunningGateway, http: httpx.AsyncClient) -> None:
    made = await created(http)
    async with home.client(made["key"]) as ada:
        await ada.post("/v1/signin")
        await http.post("/v1/admin/principals/ada/disable")
        key = await ada.get("/v1/me")
        del ada.headers["Authorization"]
        browser = await ada.get("/v1/me")
        assert [(a.status_code, "disabled" in a.json()["detail"]) for a in (key, browser)] == [(401, True)] * 2
        await http.post("/v1/admin/principals/ada/enable")
        assert (await ada.get("/v1/me")).status_code == 200
    assert (await http.post("/v1/admin/principals/owner/disable")).json()["code"] == "YOURSELF"
    assert (await http.post("/v1/admin/principals/nobody/enable")).status_code == 404


@pytest.mark.requirement("P8")
async def test_tenant_is_created_used_and_disabled(running: RunningGateway, platform_home: httpx.AsyncClient) -> None:
    tenant = f"t{ids.new()}"
    made = await platform_home.post("/v1/admin/tenants", json={"tenant": tenant, "name": "ACME"})
    twice = await platform_home.post("/v1/admin/tenants", json={"tenant": tenant})
    assert (made.status_code, twice.status_code, twice.json()["code"]) == (201, 409, "TENANT_EXISTS")
    key = (await created(platform_home, tenant=tenant, roles=["admin"]))["key"]
    acme = replace(running, tenant=tenant)
    async with acme.client(key) as admin:
        assert [made["tenant"] for made in await listed(admin)] == [tenant]
        await platform_home.post(f"/v1/admin/tenants/{tenant}/disable")
        assert (await admin.get("/v1/me")).status_code == 401
        await platform_home.post(f"/v1/admin/tenants/{tenant}/enable")
        assert (await admin.get("/v1/me")).status_code == 200
    found = (await platform_home.get("/v1/admin/tenants", params={"limit": 500})).json()["tenants"]
    assert {"local", tenant} <= {shown["tenant"] for shown in found}


@pytest.mark.requirement("P8")
async def test_other_tenants_are_closed_to_all_but_the_platforms(home: RunningGateway, http: httpx.AsyncClient) -> None:
    answers = [
        await http.get("/v1/admin/tenants"),
        await http.post("/v1/admin/tenants", json={"tenant": "mine"}),
        await http.post("/v1/admin/tenants/local/disable"),
        await http.get("/v1/admin/keys", params={"tenant": "local"}),
        await http.post("/v1/admin/keys", json={"principal": "eve", "roles": ["user"], "tenant": "local"}),
        await http.get("/v1/admin/principals", params={"tenant": "local"}),
        await http.post("/v1/admin/principals/owner/disable", params={"tenant": "local"}),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(403, "POLICY_DENIED")] * 7


async def test_unknown_tenant_gets_no_key(platform_home: httpx.AsyncClient) -> None:
    answer = await platform_home.post(
        "/v1/admin/keys", json={"principal": "ada", "roles": ["user"], "tenant": "nonesuch"}
    )
    assert answer.status_code == 404


async def test_key_file_is_replaced_only_by_its_owner(platform_home: httpx.AsyncClient) -> None:
    own = (await platform_home.get("/v1/me")).json()["key_id"]
    for verb in ("revoke", "rotate"):
        answer = await platform_home.post(f"/v1/admin/keys/{own}/{verb}")
        assert (answer.status_code, answer.json()["code"]) == (409, "KEY_FILE")


async def test_changes_of_keys_are_decided_and_audited(home: RunningGateway, http: httpx.AsyncClient) -> None:
    made = await created(http)
    await http.post(f"/v1/admin/keys/{made['key_id']}/revoke")
    decisions = [(record["phase"], record["verdict"]) for record in await home.audited("admin.keys.write")]
    assert decisions == [("decision", "allow")] * 2
    for action in ("identity.key_created", "identity.key_revoked"):
        (done,) = await home.audited(action)
        assert (done["resource"], done["principal"]) == (f"key:{made['key_id']}", "owner")
