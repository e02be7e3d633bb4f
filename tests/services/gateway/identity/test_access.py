"""A session belongs to its principal: who else of the tenant sees it, and who may act in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from libs.identity.roles import BUNDLES
from tests.services.gateway.running import RunningGateway


@asynccontextmanager
async def of_role(home: RunningGateway, role: str, principal: str) -> AsyncIterator[httpx.AsyncClient]:
    async with home.client(await home.key(*BUNDLES[role], principal=principal)) as http:
        yield http


async def opened(http: httpx.AsyncClient) -> str:
    answer = await http.post("/v1/sessions/message", json={"text": "mine"})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["session_id"])


async def listed(http: httpx.AsyncClient) -> list[str]:
    return [session["session_id"] for session in (await http.get("/v1/sessions")).json()["sessions"]]


async def test_another_users_session_looks_like_none(home: RunningGateway) -> None:
    async with of_role(home, "user", "ada") as ada, of_role(home, "user", "bob") as bob:
        session = await opened(ada)
        hidden, missing = await bob.get(f"/v1/sessions/{session}"), await bob.get("/v1/sessions/nonesuch")
        said = await bob.post(f"/v1/sessions/{session}/messages", json={"text": "yours"})
        assert (hidden.status_code, hidden.json()) == (404, missing.json())
        assert (said.status_code, await listed(bob), await listed(ada)) == (404, [], [session])
        assert (await bob.get("/status")).json()["sessions"] == 0


async def test_auditor_reads_every_session_and_acts_in_none(home: RunningGateway) -> None:
    async with of_role(home, "user", "ada") as ada, of_role(home, "auditor", "aud") as auditor:
        session = await opened(ada)
        assert await listed(auditor) == [session]
        assert (await auditor.get(f"/v1/sessions/{session}/history")).status_code == 200
        said = await auditor.post(f"/v1/sessions/{session}/messages", json={"text": "yours"})
        opens = await auditor.post("/v1/sessions", json={})
    assert (said.status_code, said.json()["code"]) == (403, "SESSION_READ_ONLY")
    assert (opens.status_code, opens.json()["code"]) == (403, "POLICY_DENIED")


async def test_operator_and_admin_act_in_every_session(home: RunningGateway) -> None:
    async with of_role(home, "user", "ada") as ada:
        session = await opened(ada)
    for role in ("operator", "admin"):
        async with of_role(home, role, role) as http:
            said = await http.post(f"/v1/sessions/{session}/messages", json={"text": "let me help"})
            assert said.status_code == 202, role


async def test_shared_session_is_seen_and_then_hidden_again(home: RunningGateway) -> None:
    async with of_role(home, "user", "ada") as ada, of_role(home, "user", "bob") as bob:
        session = await opened(ada)
        path = f"/v1/sessions/{session}"
        shared = (await ada.put(f"{path}/share", json={"access": "read"})).json()
        assert (shared["shared"], shared["principal"], await listed(bob)) == ("read", "ada", [session])
        said = await bob.post(f"{path}/messages", json={"text": "may I?"})
        assert (said.status_code, said.json()["code"]) == (403, "SESSION_READ_ONLY")
        await ada.put(f"{path}/share", json={"access": "write"})
        assert (await bob.post(f"{path}/messages", json={"text": "may I?"})).status_code == 202
        assert (await ada.delete(f"{path}/share")).json()["shared"] is None
        assert ((await bob.get(path)).status_code, await listed(bob)) == (404, [])
    assert [record["verdict"] for record in await home.audited("session.share")] == ["allow"] * 3


async def test_only_owner_or_operator_shares_a_session(home: RunningGateway) -> None:
    async with of_role(home, "user", "ada") as ada, of_role(home, "user", "bob") as bob:
        session = await opened(ada)
        path = f"/v1/sessions/{session}/share"
        assert (await bob.put(path, json={"access": "write"})).status_code == 404
        await ada.put(path, json={"access": "write"})
        refused = await bob.delete(path)
        assert (refused.status_code, refused.json()["code"]) == (403, "NOT_YOUR_SESSION")
    async with of_role(home, "operator", "op") as operator:
        assert (await operator.delete(path)).status_code == 200
