"""A repair as coding agents do it, in the page: commands and their output, one approval, and its undo."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from deploy.local.runner_image import RUNNER
from libs.sandbox import NoSandbox, Sandboxes
from libs.sandbox.bubblewrap import Bubblewrap
from tests.browser.states import OVERFLOWING
from tests.browser.visitor import Live, Visitor, approval, ask, ended, live_at, undo
from tests.infrastructure.vendor import APPROVED, Vendor, planned, said, vendor

BROKEN = "def area(width, height):\n    return width + height\n"
TESTS = """\
import time, unittest
from area import area

print("<b>not bold</b> https://attacker.example", flush=True)
for _ in range(30):
    print("waiting", flush=True)
    time.sleep(0.1)

class Areas(unittest.TestCase):
    def test_area_of_a_rectangle(self):
        self.assertEqual(area(3, 4), 12)
"""
"""Takes as long as a page needs to show what it writes."""
RUN = ("run-commands.run", {"command": "python3 -B -m unittest -v"})
READ = ("edit-files.read", {"path": "area.py"})
EDIT = ("edit-files.edit", {"path": "area.py", "old": "width + height", "new": "width * height"})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def there() -> AsyncIterator[Vendor]:
    async with vendor() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def working(
    browser: Browser, application: Path, there: Vendor, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Live]:
    """Yield a platform that thinks with this vendor and runs commands in bubblewrap."""
    try:
        async with Sandboxes(Bubblewrap(RUNNER / "runner.py")) as tried:
            await tried.probe()
    except NoSandbox as reason:
        pytest.skip(f"SKIPPED in a browser: no bubblewrap: {reason}")
    model = {"SUMA_MODEL": "openai:toy", "SUMA_MODEL_URL": there.url, "SUMA_SANDBOX": "bubblewrap"}
    async with live_at(tmp_path_factory.mktemp("commands"), application, **model) as made:
        yield made


async def test_page_shows_a_repair_from_its_output_to_its_undo(browser: Browser, working: Live, there: Vendor) -> None:
    there.play(planned(READ, RUN, complete=False), APPROVED, planned(EDIT, RUN), APPROVED, said("Mended."))
    folder = working.folder("repair", {"area.py": BROKEN, "test_area.py": TESTS})
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
        await expect(page.get_by_text("bubblewrap", exact=True)).to_be_visible()
        assert await result.locator("b, a").count() == 0
        await page.set_viewport_size({"width": 360, "height": 740})
        assert await page.evaluate(OVERFLOWING) == []
        await approval(page).click()
        await ended(page)
        assert (folder / "area.py").read_text() == BROKEN.replace("+", "*")
        await undo(page)
        await expect(page.get_by_label("Changes made").get_by_text("undone since")).to_be_visible()
        assert (folder / "area.py").read_text() == BROKEN
