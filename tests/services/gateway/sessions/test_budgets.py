"""Budgets of model calls over HTTP."""

from __future__ import annotations

import httpx
import pytest

from libs import ids
from libs.budgets import Amount, Payer
from tests.services.gateway.running import RunningGateway


async def opened(http: httpx.AsyncClient) -> str:
    return str((await http.post("/v1/sessions", json={"title": "t"})).json()["session_id"])


async def test_budget_shows_spending_reservations_limits_and_reset(
    home: RunningGateway, http: httpx.AsyncClient
) -> None:
    session, budgets = await opened(http), home.platform.budgets
    payer = Payer(home.tenant, session, "t1")
    await budgets.settle(await budgets.reserve(payer, Amount(100, 50), about="toy"), Amount(70, 20))
    await budgets.reserve(payer, Amount(9, 8), about="toy")
    found = (await http.get("/v1/budgets", params={"session": session})).json()
    limit = budgets.limits.tenant.tokens
    assert found["tenant"]["tokens"] == found["session"]["tokens"] == {"limit": limit, "spent": 70, "reserved": 9}
    assert found["session"]["cost_micros"]["spent"] == 20
    assert (found["tenant"]["until"].endswith("00:00:00Z"), found["session"]["until"]) == (True, None)


async def test_accounts_that_were_never_used_are_empty(http: httpx.AsyncClient) -> None:
    found = (await http.get("/v1/budgets")).json()
    assert (found["tenant"]["tokens"]["spent"], found["tenant"]["tokens"]["reserved"]) == (0, 0)
    assert found["session"] is None


@pytest.mark.requirement("P8")
async def test_budgets_show_no_other_tenants_accounts(home: RunningGateway, http: httpx.AsyncClient) -> None:
    session = await opened(http)
    await home.platform.budgets.reserve(Payer(home.tenant, session, "t1"), Amount(9, 8), about="toy")
    async with home.client(await home.key("*", tenant=ids.new())) as stranger:
        assert (await stranger.get("/v1/budgets")).json()["tenant"]["tokens"]["reserved"] == 0
        assert (await stranger.get("/v1/budgets", params={"session": session})).status_code == 404


async def test_budgets_need_a_scope_and_an_existing_session(home: RunningGateway, http: httpx.AsyncClient) -> None:
    assert (await http.get("/v1/budgets", params={"session": "no-such"})).status_code == 404
    assert (await http.get("/v1/budgets", params={"session": "../x"})).status_code == 422
    async with home.client("suma_nobody") as nobody:
        assert (await nobody.get("/v1/budgets")).status_code == 401
    async with home.client(await home.key("files:read")) as silent:
        assert (await silent.get("/v1/budgets")).status_code == 403
