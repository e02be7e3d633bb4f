"""A model's text, and a platform that is killed while the model speaks, as a page shows them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser.states import OVERFLOWING
from tests.browser.visitor import Live, Visitor, approval, ask, contents, ended, known, live_at
from tests.infrastructure.vendor import APPROVED, Vendor, planned, said, vendor
from tests.journeys.test_start_and_stop import seen
from tests.support import web_site
from tests.support.web_site import PRIVATE, Site

LIST = planned(("manage-files.list", {"path": "."}))
ELSEWHERE = "https://attacker.example"
HOSTILE = f"""# Result

<script>window.caught = "script"</script>

<img src="{ELSEWHERE}/raw.png" onerror="window.caught = 'onerror'">

<iframe src="{ELSEWHERE}/frame"></iframe> <svg onload="window.caught = 'onload'"></svg>

<style>body {{ background: url({ELSEWHERE}/style.png) }}</style>

![remote]({ELSEWHERE}/image.png) ![inline](data:image/svg+xml;base64,PHN2Zy8+)

[press me](javascript:window.caught='link') [and me](data:text/html,caught) [away]({ELSEWHERE}/page)

| {"wide " * 30} | {"x" * 200} |
|---|---|
| a | b |
"""
HARMFUL = "script:not([src]), img, iframe, svg[onload], style, a[href^='javascript'], a[href^='data']"

SHELL = {"/", "/theme.js", "/icon.svg", "/manifest.webmanifest"}
KEPT = """async () => {
  const kept = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
  return kept.flat().map((request) => new URL(request.url).pathname);
}"""
"""The paths that the service worker has stored."""
CUTTABLE = """{
  const real = window.fetch;
  let line = new AbortController();
  window.cut = () => { line.abort(); line = new AbortController(); };
  window.fetch = (url, init = {}) =>
    real(url, { ...init, signal: AbortSignal.any([line.signal, init.signal ?? line.signal]) });
}"""
"""Makes connections that `cut()` breaks."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def there() -> AsyncIterator[Vendor]:
    async with vendor() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site() -> AsyncIterator[Site]:
    async with web_site.serving() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def thinking(
    browser: Browser, application: Path, there: Vendor, site: Site, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Live]:
    """Yield a platform that thinks with this vendor, and may read this site."""
    model = {"SUMA_MODEL": "openai:toy", "SUMA_MODEL_URL": there.url}
    web = {"SUMA_TOOL_EXECUTOR__WEB__ALLOW_HOSTS": f'["{PRIVATE}:{site.port}"]'}
    async with live_at(tmp_path_factory.mktemp("model"), application, **model, **web) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def reader(browser: Browser, thinking: Live) -> AsyncIterator[Visitor]:
    async with Visitor(browser, thinking.url, service_workers=True) as visitor:
        await visitor.sign_in(thinking.key)
        yield visitor


async def test_hostile_answer_runs_and_fetches_nothing(reader: Visitor, thinking: Live, there: Vendor) -> None:
    there.play(LIST, said(HOSTILE[:80], HOSTILE[80:]))
    page = await reader.open("/chat")
    await ask(page, "list my files", thinking.folder("hostile", {"<img src=x onerror=alert(1)>.txt": "a"}))
    await ended(page)
    answer = page.locator(".prose").last
    await expect(answer.get_by_role("heading", name="Result")).to_be_visible()
    assert await answer.locator(HARMFUL).count() == 0
    for text in ("press me", "and me"):
        await answer.get_by_text(text).click()
    assert await page.evaluate("window.caught") is None
    away = answer.get_by_role("link", name="away")
    assert "noopener" in str(await away.get_attribute("rel")), "a page that is opened must not reach this one"
    await page.set_viewport_size({"width": 360, "height": 740})
    assert await page.evaluate(OVERFLOWING) == []


@pytest.mark.requirement("S2-09")
async def test_step_shows_the_page_that_it_read(reader: Visitor, thinking: Live, there: Vendor, site: Site) -> None:
    site.paths["/news"] = web_site.page("<title>Tea news</title><h1>Tea</h1><p>Tea is <b>cheap</b> today.</p>")
    url = site.url("/news", host=PRIVATE)
    # After the contents of a file, which others may have written, a person sees each address.
    there.play(planned(("parse-content.parse", {"path": "a.csv"})), said("It is read."))
    there.play(planned(("web.fetch", {"url": url})), APPROVED, said("Tea is cheap."))
    page = await reader.open("/chat")
    await ask(page, "read a.csv", thinking.folder("pages", {"a.csv": "a,b"}))
    await ended(page)
    await page.get_by_label("Message").fill("what does the page say about tea?")
    await page.get_by_role("button", name="Send").click()
    await expect(page.get_by_text(f"Its arguments are sent to {PRIVATE}.")).to_be_visible()
    await expect(page.get_by_label("Arguments")).to_contain_text(url)
    await approval(page).click()
    await ended(page)
    await expect(page.get_by_text(f"Read “Tea news” at {url} (HTTP status 200).")).to_be_visible()
    assert "Tea is **cheap** today." in str(there.asked[-1].body)
    assert f"said by the page {url}" in str(there.asked[-1].body)


@pytest.mark.requirement("S2-26", "S2-28")
async def test_model_plans_by_a_remembered_place(reader: Visitor, thinking: Live, there: Vendor) -> None:
    folder = thinking.folder("invoices", {"invoice-1.pdf": "1"})
    there.play(planned(("memory.remember", {"text": "invoices go to Finance/2026"})), APPROVED, said("Noted."))
    page = await reader.open("/chat")
    await ask(page, "remember that invoices go to Finance/2026", folder)
    await ended(page)
    await known(thinking, "Finance/2026")
    move = ("manage-files.move", {"source": "invoice-1.pdf", "target": "Finance/2026"})
    there.play(planned(move), APPROVED, said("Moved."))
    page = await reader.open("/chat")
    await ask(page, "put away the invoices", folder)
    await approval(page).click()
    await ended(page, "Done")
    assert ["- invoices go to: Finance/2026" in each.text for each in there.asked[-3:]] == [True] * 3
    assert contents(folder).keys() == {"Finance/2026/invoice-1.pdf"}


@pytest.mark.requirement("A22b")
async def test_new_tab_shows_the_answer_that_a_closed_one_began(reader: Visitor, thinking: Live, there: Vendor) -> None:
    rest = asyncio.Event()
    there.play(LIST, said("There ", "is ", "one ", "file ", "in ", "it.", held=rest))
    page = await reader.open("/chat")
    await ask(page, "list my files", thinking.folder("closing", {"a.txt": "a"}))
    await expect(page.locator(".prose")).to_contain_text("There is one")
    address = page.url
    await page.close()
    rest.set()
    async with thinking.installation.api() as api:
        await seen(api, address.rpartition("/")[2], "message.completed")
    page = await reader.open(address)
    await ended(page)
    await expect(page.locator(".prose")).to_have_text("There is one file in it.")
    await expect(page.get_by_role("article")).to_have_count(1)


@pytest.mark.requirement("A22b")
async def test_page_that_reconnects_shows_the_answer_once(reader: Visitor, thinking: Live, there: Vendor) -> None:
    reader.failures_expected = True
    rest = asyncio.Event()
    there.play(LIST, said("There ", "is ", "one ", "file ", "in ", "it.", held=rest))
    page = await reader.open("/chat")
    await page.add_init_script(CUTTABLE)
    await page.reload()
    await ask(page, "list my files", thinking.folder("cut", {"a.txt": "a"}))
    await expect(page.locator(".prose")).to_have_text("There is one file")
    await page.evaluate("cut()")
    await expect(page.get_by_text("Reconnecting…")).to_be_visible()
    await expect(page.get_by_text("Reconnecting…")).to_be_hidden()
    await expect(page.locator(".prose")).to_have_text("There is one file")
    rest.set()
    await ended(page)
    await expect(page.locator(".prose")).to_have_text("There is one file in it.")


@pytest.mark.requirement("A23")
async def test_stop_ends_the_turn_and_the_call_of_the_model(reader: Visitor, thinking: Live, there: Vendor) -> None:
    there.play(LIST, said("There is ", "a", hangs=True))
    there.went.clear()
    page = await reader.open("/chat")
    await ask(page, "list my files", thinking.folder("stopping", {"a.txt": "a"}))
    await expect(page.locator(".prose")).to_contain_text("There is")
    await page.get_by_role("button", name="Stop").click()
    await ended(page, "Stopped")
    await there.gone()


@pytest.mark.requirement("A10")
async def test_page_reconnects_to_a_killed_platform_and_shows_the_end(
    reader: Visitor, thinking: Live, there: Vendor
) -> None:
    reader.failures_expected = True
    there.play(LIST, said("There is ", "a", hangs=True), said("There is ", "one file."))
    page = await reader.open("/chat")
    await ask(page, "list my files", thinking.folder("restarting", {"a.txt": "a"}))
    await expect(page.locator(".prose")).to_contain_text("There is")
    fresh = await reader.open("/approvals")
    await _stored(fresh)
    kept: list[str] = await fresh.evaluate(KEPT)
    assert {path for path in kept if not path.startswith("/assets/")} == SHELL, "an answer of the API is stored"
    await thinking.installation.end(signal.SIGKILL)
    await expect(page.get_by_text("Reconnecting…")).to_be_visible()
    await fresh.reload()
    await expect(fresh.get_by_role("alert")).to_contain_text("No connection to Suma")
    await thinking.installation.start()
    await ended(page)
    await expect(page.locator(".prose")).to_have_text("There is one file.")
    await expect(page.get_by_role("article")).to_have_count(1)
    await expect(fresh.get_by_role("heading", name="Approvals")).to_be_visible()


async def _stored(page: Page) -> None:
    """Wait until the service worker can open the application without a server."""
    await page.wait_for_function(
        "() => navigator.serviceWorker.ready.then(({ active }) => active.state === 'activated')"
    )
    await page.reload()
    await expect(page.get_by_role("heading", name="Approvals")).to_be_visible()
