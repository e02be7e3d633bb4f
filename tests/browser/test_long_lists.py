"""Long lists draw only the rows in view, and lead to their last row."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from playwright.async_api import Browser, Locator, expect

from tests.browser.rows import insert_approvals, insert_events, insert_keys, insert_sessions
from tests.browser.visitor import Live, Visitor

TENANT, PRINCIPAL = "crowded", "eve"
SESSIONS, STEPS, APPROVALS, KEYS = 10_000, 500, 150, 250
DRAWN_MOST = 60
TO_THE_END = "region => { region.scrollTop = region.scrollHeight; }"
GOLDEN = Path(__file__).parents[2] / "proto/golden/suma.plan.proposed.v1.json"


@pytest_asyncio.fixture(loop_scope="session")
async def reader(browser: Browser, live: Live) -> AsyncIterator[Visitor]:
    """Yield a person of a tenant that has many sessions."""
    async with live.installation.api() as api:
        await api.post("/v1/admin/tenants", json={"tenant": TENANT})
        key = {"tenant": TENANT, "principal": PRINCIPAL, "roles": ["admin"]}
        made = (await api.post("/v1/admin/keys", json=key)).json()
    async with Visitor(browser, live.url) as visitor:
        await visitor.sign_in(made["key"])
        yield visitor


async def test_long_lists_draw_the_rows_in_view(reader: Visitor, live: Live) -> None:
    await insert_sessions(live, TENANT, PRINCIPAL, SESSIONS)
    page = await reader.open("/sessions")
    await _scroll_to_the_end(page.get_by_role("region", name="Sessions"), SESSIONS)
    await expect(page.get_by_role("link", name="Session 1 ").last).to_be_visible()
    await insert_approvals(live, TENANT, APPROVALS)
    await page.get_by_role("link", name="Approvals").click()
    await _scroll_to_the_end(page.get_by_role("region", name="Open approvals"), APPROVALS)


async def test_all_of_many_keys_are_listed(reader: Visitor, live: Live) -> None:
    await insert_keys(live, TENANT, PRINCIPAL, KEYS)
    page = await reader.open("/keys")
    await page.get_by_role("button", name="Show more keys").click()
    keys = page.get_by_role("region", name="Keys", exact=True).get_by_role("listitem")
    await expect(keys.filter(has_text=re.compile(r"^Key \d"))).to_have_count(KEYS)


async def test_long_plan_draws_the_steps_in_view(reader: Visitor, live: Live) -> None:
    origin = {"Origin": live.url}
    made = await reader.context.request.post("/v1/sessions", data={"title": "long"}, headers=origin)
    session = str((await made.json())["session_id"])
    turn = "00000000-0000-7000-8000-00000000aaaa"
    proposed = ("plan.proposed", {"turn_id": turn, "plan": _plan(STEPS)})
    await insert_events(live, TENANT, session, turn, [proposed])
    page = await reader.open(f"/chat/{session}")
    await _scroll_to_the_end(page.get_by_role("region", name="Steps"), STEPS)
    await expect(page.get_by_role("button", name=f"Step {STEPS},")).to_be_visible()


async def _scroll_to_the_end(region: Locator, size: int) -> None:
    """Scroll on until the last row is drawn; no more rows than fit may be drawn on the way."""
    row = region.get_by_role("listitem")
    await expect(row.first).to_be_visible()
    while await region.locator(f"[aria-posinset='{size}']").count() == 0:
        before = await row.last.get_attribute("aria-posinset")
        await region.evaluate(TO_THE_END)
        await expect(row.last).not_to_have_attribute("aria-posinset", str(before))
        assert await row.count() <= DRAWN_MOST


def _plan(steps: int) -> dict[str, Any]:
    plan: dict[str, Any] = json.loads(GOLDEN.read_text())["data"]["plan"]
    step = plan["steps"][0]
    return {**plan, "steps": [{**step, "step_id": f"step-{n}", "ordinal": n} for n in range(1, steps + 1)]}
