"""A repair as coding agents do it, in the page: commands and their output, one approval, and its undo."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from deploy.local.cache import Unprovided
from libs.sandbox import NoSandbox, Sandboxes
from tests.browser.states import OVERFLOWING
from tests.browser.visitor import Live, Visitor, approval, ask, contents, ended, live_at, undo
from tests.conformance.sandbox.rigs import Rig
from tests.infrastructure.vendor import APPROVED, Vendor, planned, said, vendor
from tests.support import web_site
from tests.support.repairs import BROKEN, COUNT, EDIT, GREP, MENDED, READ, RUN, TESTS, counting, edit
from tests.support.web_site import Site

SLOW_TESTS = TESTS.replace("import unittest", "import time, unittest").replace(
    "class Areas",
    """\
print("<b>not bold</b> https://attacker.example", flush=True)
for _ in range(30):
    print("waiting", flush=True)
    time.sleep(0.1)

class Areas""",
)
"""Takes as long as a page needs to show what it writes."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def there() -> AsyncIterator[Vendor]:
    async with vendor() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site() -> AsyncIterator[Site]:
    """Yield a web server of this machine with one page."""
    async with web_site.serving() as running:
        running.paths["/words"] = web_site.page("three short words", "text/plain")
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def working(
    browser: Browser,
    application: Path,
    there: Vendor,
    site: Site,
    rig: Rig,
    docker_engine: str | Unprovided,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Live]:
    """Yield a platform that thinks with this vendor, reads this site, and runs commands in this sandbox."""
    try:
        async with Sandboxes(rig.launcher()) as tried:
            await tried.probe()
    except NoSandbox as reason:
        pytest.skip(f"SKIPPED in a browser: no {rig.name}: {reason}")
    extra = {
        "SUMA_MODEL": "openai:toy",
        "SUMA_MODEL_URL": there.url,
        "SUMA_SANDBOX": rig.name,
        "SUMA_TOOL_EXECUTOR__WEB__ALLOW_HOSTS": f'["{web_site.PRIVATE}:{site.port}"]',
        **({"DOCKER_HOST": docker_engine} if isinstance(docker_engine, str) else {}),
    }
    async with live_at(tmp_path_factory.mktemp("commands"), application, **extra) as made:
        yield made


async def test_page_shows_a_repair_from_its_output_to_its_undo(
    browser: Browser, working: Live, there: Vendor, rig: Rig
) -> None:
    there.play(planned(READ, RUN, complete=False), APPROVED, planned(EDIT, RUN), APPROVED, said("Mended."))
    folder = working.folder("repair", {"area.py": BROKEN, "test_area.py": SLOW_TESTS})
    async with Visitor(browser, working.url) as visitor:
        await visitor.sign_in(working.key)
        page = await visitor.open("/chat")
        await ask(page, "mend the area", folder)
        live = page.get_by_label("Output of step 2 so far")
        await expect(live).to_contain_text("waiting")
        await expect(live).to_contain_text("<b>not bold</b> https://attacker.example")
        await approval(page).wait_for()
        await expect(page.get_by_text("ended with code 1", exact=True)).to_be_visible()
        question = page.locator("[data-asks]")
        await expect(question).to_contain_text("width * height")
        assert (folder / "area.py").read_text() == BROKEN
        await page.get_by_role("button", name="Step 2").first.click()
        result = page.get_by_label("Output of step 2", exact=True)
        await expect(result).to_contain_text("AssertionError: 7 != 12")
        await expect(page.get_by_text(rig.name, exact=True)).to_be_visible()
        assert await result.locator("b, a").count() == 0
        await page.set_viewport_size({"width": 360, "height": 740})
        assert await page.evaluate(OVERFLOWING) == []
        await approval(page).click()
        await ended(page)
        assert (folder / "area.py").read_text() == MENDED
        await undo(page)
        await expect(page.get_by_label("Changes made").get_by_text("undone since")).to_be_visible()
        assert (folder / "area.py").read_text() == BROKEN


async def test_repair_of_several_rounds_has_one_approval(browser: Browser, working: Live, there: Vendor) -> None:
    wrong, right = edit("width + height", "width - height"), edit("width - height", "width * height")
    there.play(planned(READ, GREP, wrong, RUN, complete=False), APPROVED)
    there.play(planned(right, RUN), APPROVED, said("Mended."))
    folder = working.folder("rounds", {"area.py": BROKEN, "test_area.py": TESTS})
    async with Visitor(browser, working.url) as visitor:
        await visitor.sign_in(working.key)
        page = await visitor.open("/chat")
        await ask(page, "mend the area", folder)
        await approval(page).wait_for()
        await expect(page.get_by_text("ended with code 1", exact=True)).to_be_visible()
        await page.get_by_role("button", name="Step 2, Done").last.click()
        await expect(page.get_by_label("Output of step 2", exact=True)).to_contain_text("OK")
        assert (folder / "area.py").read_text() == BROKEN
        await approval(page).click()
        await ended(page)
        assert await page.locator("[aria-label^='Approval:']").count() == 1
        assert (folder / "area.py").read_text() == MENDED
        await undo(page)
        await expect(page.get_by_label("Changes made").get_by_text("undone since")).to_be_visible()
        assert (folder / "area.py").read_text() == BROKEN


async def test_page_edit_and_command_are_undone_with_clicks(
    browser: Browser, working: Live, there: Vendor, site: Site
) -> None:
    url = site.url("/words", web_site.PRIVATE)
    there.play(planned(*counting(url)), APPROVED, said("Three."))
    folder = working.folder("counting", {"count.py": "pass\n"})
    async with Visitor(browser, working.url) as visitor:
        await visitor.sign_in(working.key)
        page = await visitor.open("/chat")
        await ask(page, "count the words of the page", folder)
        await approval(page).click()
        await ended(page)
        assert ((folder / "count.txt").read_text(), (folder / "count.py").read_text()) == ("3", COUNT)
        await page.get_by_text("Has read").click()
        marks = page.get_by_label("What this session has read").get_by_role("listitem")
        await expect(marks).to_contain_text(["the folder", url, "python3 -B count.py"])
        await undo(page)
        await expect(page.get_by_label("Changes made").get_by_text("undone since")).to_be_visible()
        assert contents(folder) == {"count.py": b"pass\n"}
        there.play(planned(("web.fetch", {"url": f"{url}?again"})), APPROVED, said("No."))
        await page.get_by_label("Message").fill("read it again")
        await page.get_by_role("button", name="Send").click()
        reason = f"Asked because this session has read {url} and python3 -B count.py."
        await expect(page.locator("[data-asks]")).to_contain_text(reason)
        await page.set_viewport_size({"width": 360, "height": 740})
        assert await page.evaluate(OVERFLOWING) == []
        for _ in range(2):
            await page.get_by_role("button", name="Refuse", exact=True).click()
        await ended(page)
