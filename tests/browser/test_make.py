"""The page Make: a picture of a folder in words, its plan and preview, and where it comes from."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser.states import NARROW, OVERFLOWING, RULES, WIDE, axe, screenshot
from tests.browser.visitor import Live, Visitor, approval, live_at
from tests.journeys.test_make import CODE

WISH = "make a component diagram of this folder as parts.svg"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def making(browser: Browser, application: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Live]:
    """Yield a platform that makes pictures and documents."""
    flag = {"SA01_ENABLE_multimodal_capabilities": "true"}
    async with live_at(tmp_path_factory.mktemp("making"), application, **flag) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def maker(browser: Browser, making: Live) -> AsyncIterator[Visitor]:
    async with Visitor(browser, making.url) as visitor:
        await visitor.sign_in(making.key)
        yield visitor


async def looked_at(page: Page, name: str) -> list[str]:
    """Return what axe and a narrow window find."""
    found = list[str]()
    for size in (WIDE, NARROW):
        await page.set_viewport_size(size)
        found += [*await axe(page, RULES["light"]), *await page.evaluate(OVERFLOWING)]
        await screenshot(page, f"{name} {size['width']}")
    await page.set_viewport_size(WIDE)
    return found


@pytest.mark.requirement("S3-02", "S3-14", "S3-39", "A26")
async def test_diagram_in_words_is_approved_shown_and_explained(maker: Visitor, making: Live) -> None:
    folder = making.folder("shop", CODE)
    await maker.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = await maker.open("/make")
    await page.get_by_label("In words, or as a plan in the Task DSL").fill(WISH)
    await page.get_by_label("Folder").fill(str(folder))
    findings = await looked_at(page, "make empty")
    await page.get_by_role("button", name="Make it").click()
    await page.get_by_role("link", name="Answer its question").click()
    await approval(page).click()
    await page.get_by_role("link", name="Make", exact=True).click()
    await page.get_by_role("link", name=WISH).click()
    await expect(page.get_by_role("main").get_by_role("status")).to_have_text("Done")
    await expect(page.get_by_role("heading", name="Plan")).to_be_visible()
    preview = page.get_by_role("main").get_by_role("img", name=re.compile("Component"))
    await expect(preview).not_to_have_js_property("naturalWidth", 0)
    findings += await looked_at(page, "make done")
    await page.get_by_role("button", name="Where it comes from").click()
    await expect(page.get_by_role("dialog").get_by_label("Provenance")).to_contain_text("mermaid")
    findings += await looked_at(page, "make provenance")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Copy a link").click()
    await expect(page.get_by_text("Whoever has the link can read this until")).to_be_visible()
    async with httpx.AsyncClient(trust_env=False) as anyone:
        lent = await anyone.get(await page.evaluate("navigator.clipboard.readText()"))
    assert lent.headers["content-type"].startswith("image/svg+xml")
    assert (folder / "parts.svg").read_text().lstrip().startswith(("<svg", "<?xml"))
    assert findings == []
