"""Every refused request is in the audit log, and no caller can flood it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from libs.clock import SystemClock
from libs.database import Dsns
from libs.policy import Policy
from services.gateway.http.refusal_records import OTHERS, REMEMBERED, Refusal, Tally
from tests.services.gateway.running import RunningGateway, running_gateway


@dataclass
class LateClock:
    """The machine's clock, moved on."""

    late: timedelta = timedelta()

    def now(self) -> datetime:
        return SystemClock().now() + self.late


@pytest_asyncio.fixture(loop_scope="session")
async def late() -> LateClock:
    return LateClock()


@pytest_asyncio.fixture(loop_scope="session")
async def alone(gateway_where: Dsns, rules: Policy, owner: str, late: LateClock) -> AsyncIterator[RunningGateway]:
    async with running_gateway(gateway_where, owner, policy=rules, clock=late) as made:
        yield made


async def denied(home: RunningGateway, action: str) -> list[tuple[Any, ...]]:
    return [(r["principal"], r["resource"], r["rule"]) for r in await home.audited(action) if r["verdict"] == "deny"]


@pytest.mark.requirement("A21")
async def test_anonymous_refusals_are_one_record_a_minute(alone: RunningGateway, late: LateClock) -> None:
    async with alone.client() as http:
        del http.headers["Authorization"]
        for number in range(20):
            assert (await http.get("/v1/sessions", headers={"X-API-Key": f"garbage{number}"})).status_code == 401
        assert (await http.post("/v1/sessions", headers={"Origin": "https://evil.example"})).status_code == 403
        assert (await http.get("/v1/sessions", headers={"Host": "evil.example"})).status_code == 421
    at_once = [("anonymous", "", code) for code in ("BAD_KEY", "FOREIGN_ORIGIN", "MISDIRECTED")]
    assert await denied(alone, "identity.authenticate") == at_once
    late.late += timedelta(seconds=61)
    await alone.context.refusals.flush()
    assert await denied(alone, "identity.authenticate") == [*at_once, ("anonymous", "19 requests", "BAD_KEY")]


@pytest.mark.requirement("A21")
async def test_refused_callers_are_recorded_by_name_and_route(home: RunningGateway) -> None:
    async with home.client(await home.key("chat", "files:read", "admin.keys.write")) as ada, home.client() as owner:
        session = (await owner.post("/v1/sessions", json={})).json()["session_id"]
        await owner.put(f"/v1/sessions/{session}/share", json={"access": "read"})
        for _ in range(3):
            assert (await ada.post(f"/v1/sessions/{session}/messages", json={"text": "mine"})).status_code == 403
            await ada.post("/v1/admin/keys", json={"principal": "ada", "scopes": ["*"]})
    async with home.client(await home.key("memory", principal="bob")) as bob:
        assert (await bob.get("/v1/sessions")).status_code == 403
        assert (await bob.get("/v1/sessions/x/diff")).status_code == 403
    assert await denied(home, "identity.authorize") == [
        ("ada", "POST /v1/sessions/{session_id}/messages", "SESSION_READ_ONLY"),
        ("ada", "POST /v1/admin/keys", "GRANTS_MORE"),
        ("bob", "GET /v1/sessions", "SCOPE_MISSING"),
        ("bob", "GET /v1/sessions/{session_id}/diff", "SCOPE_MISSING"),
    ]


async def test_policy_denials_are_recorded_once(home: RunningGateway) -> None:
    async with home.client(await home.key("chat")) as http:
        assert (await http.get("/v1/admin/keys")).status_code == 403
    assert len(await denied(home, "admin.keys.read")) == 1
    assert await denied(home, "identity.authorize") == []


def test_many_kinds_of_refusals_share_one() -> None:
    tally, kind = Tally(), Refusal("acme", "ada", "identity.authorize", "", "X")
    for number in range(REMEMBERED):
        assert tally.add(replace(kind, resource=str(number)), 0.0) is not None
    more = [tally.add(replace(kind, resource=f"more {number}"), 1.0) for number in range(5)]
    assert more == [OTHERS, None, None, None, None]
    assert tally.due(61.0) == [(OTHERS, 4)]
    assert tally.due(200.0) == []
