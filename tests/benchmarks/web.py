"""The web application: milliseconds until its first page takes input with a cold cache, and its bytes."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.async_api import Browser, Request, async_playwright
from rich.text import Text

from deploy.local.cache import Unprovided
from deploy.local.web import web
from tests.benchmarks.rows import Row, most
from tests.browser.visitor import NO_CHROMIUM, Live, Visitor, chromium, launched, live_at, weight

OPENINGS = 9
TYPED = "tidy up"
COMPRESSED = ".br"


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    if (program := chromium()) is None:
        return [], _skipped(NO_CHROMIUM)
    tell("building it")
    try:
        application = web()
    except Unprovided as reason:
        return [], _skipped(str(reason))
    with tempfile.TemporaryDirectory(prefix="suma-bench-") as folder:
        async with async_playwright() as playwright, live_at(Path(folder), application) as live:
            browser = await launched(playwright, program)
            opened = []
            for number in range(3 if quick else OPENINGS):
                tell(f"opening {number + 1}")
                opened.append(await _opened(browser, live))
            await browser.close()
    return [
        Row(
            "the first page takes input, cold cache: p50",
            statistics.median(took for took, _ in opened),
            "ms",
            goal=most(1500),
        ),
        Row("the first page, compressed", opened[0][1] / 1000, "kB", goal=most(250)),
        Row("the whole web application, compressed", whole(application) / 1000, "kB"),
    ], Text()


async def _opened(browser: Browser, live: Live) -> tuple[float, int]:
    """Open the chat in a browser profile of its own; return the milliseconds until it took words, and its bytes."""
    finished = list[Request]()
    async with Visitor(browser, live.url) as visitor:
        await visitor.sign_in(live.key)
        page = await visitor.context.new_page()
        page.on("requestfinished", lambda request: finished.append(request))
        began = time.perf_counter()
        await page.goto("/chat", wait_until="commit")
        await page.get_by_label("Message").fill(TYPED)
        took = time.perf_counter() - began
        await page.wait_for_load_state("networkidle")
        assert await page.get_by_label("Message").input_value() == TYPED
        return took * 1000, await weight(finished)


def whole(application: Path) -> int:
    """Return the bytes of all files as they travel: compressed where a compressed form exists."""
    files = {path for path in application.rglob("*") if path.is_file() and path.suffix not in (COMPRESSED, ".gz")}
    forms = (Path(f"{path}{COMPRESSED}") for path in files)
    return sum((form if form.exists() else form.with_suffix("")).stat().st_size for form in forms)


def _skipped(reason: str) -> Text:
    return Text(f"SKIPPED web: {reason}", style="bold red")
