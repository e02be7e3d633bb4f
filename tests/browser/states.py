"""The states of a page, made with the real platform where it can make them, else by answering for it."""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import BrowserContext, Page, Route, ViewportSize, expect

from tests.browser.visitor import WITHIN, Visitor

Action = Callable[[Page], Awaitable[object]]
View = tuple[str, Action | None]
"""An address, and what is done there first."""
Change = Callable[[BrowserContext], Awaitable[None]]
"""How the answers of a browser profile differ from the platform's."""

AXE = Axe().axe_script
RULES: dict[Literal["light", "dark"], Mapping[str, Any]] = {
    "light": {},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast"]}},
}
"""axe's rules by theme. Only contrast depends on the theme; all others read the same document."""
OPTIONS = {"resultTypes": ["violations"], "preload": False}
WIDE, NARROW = ViewportSize(width=1280, height=800), ViewportSize(width=360, height=740)
WINDOWS = 2
"""A failed read is tried for three seconds, so two pages wait together; in windows, as a hidden tab draws nothing."""
SERIOUS = ("serious", "critical")
SCREENSHOTS = os.environ.get("SUMA_SCREENSHOTS")
"""A folder for screenshots of each page, wide and narrow, light and dark; none are taken without it."""

FOLLOW = """to => {
  document.querySelector("#content > *").dataset.left = "true";
  history.pushState({}, "", to);
}"""
FOLLOWED = """() => !document.querySelector("[data-left]")"""
DRESSED = """dark => document.documentElement.classList.contains("dark") === dark
  && !document.getAnimations().some((each) => each instanceof CSSTransition)"""
SETTLED = """() => document.querySelector("h1") && !document.querySelector(".animate-breathe, [aria-busy=true]")"""
WAITING = """() => document.querySelector("h1") && document.querySelector("#content .animate-breathe")"""
OVERFLOWING = """() => {
  const named = (at) => `${at.tagName.toLowerCase()}.${at.className} ${at.getAttribute("aria-label") ?? ""}`;
  const wide = [...document.querySelectorAll("*")].filter((at) => {
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(at).overflowY);
    const meant = /overflow-(x-)?auto/.test(at.className) || at.closest("pre, table");
    return scrolls && !meant && at.scrollWidth > at.clientWidth + 1;
  });
  const page = document.scrollingElement;
  return [...(page.scrollWidth > page.clientWidth ? ["the page"] : []), ...wide.map(named)];
}"""


@dataclass
class Looks:
    """What was looked at, and what axe and a narrow window found."""

    findings: list[str] = field(default_factory=list)
    views: int = 0
    axe_runs: int = 0


async def unchanged(_: BrowserContext) -> None:
    """Let the platform answer."""


def refused(status: int) -> Change:
    """Answer every read but the person's own with a problem."""
    problem = {"type": "about:blank", "title": "No", "status": status, "code": "NO", "detail": "It did not work."}
    return _instead(
        lambda route: route.fulfill(status=status, content_type="application/problem+json", body=json.dumps(problem))
    )


async def cut_off(context: BrowserContext) -> None:
    """Leave every read but the person's own without an answer."""
    await _instead(lambda route: route.abort("connectionrefused"))(context)


async def silent(context: BrowserContext) -> None:
    """Never end a read but the person's own."""
    await _instead(_ignored)(context)


async def _ignored(_: Route) -> None:
    """Neither answer nor abort."""


def answering(answers: Mapping[str, Any]) -> Change:
    """Answer reads of these addresses with these bodies."""

    async def change(context: BrowserContext) -> None:
        for path, body in answers.items():
            await context.route(f"**{path}*", partial(_fulfil, body))

    return change


async def _fulfil(body: Any, route: Route) -> None:
    await route.fulfill(json=body)


def _instead(answer: Callable[[Route], Awaitable[None]]) -> Change:
    async def change(context: BrowserContext) -> None:
        await context.route("**/v1/**", answer)
        await context.route("**/v1/me", lambda route: route.continue_())

    return change


async def in_state(
    visitor: Visitor,
    state: str,
    views: Iterable[View],
    showing: Action,
    made: Change = unchanged,
    *,
    once: str = SETTLED,
) -> Looks:
    """Show each view, wait until it is in its state, and return what axe and a narrow window find in both themes."""
    waiting, looks = deque(views), Looks()

    async def window() -> None:
        async with visitor.another() as other:
            await made(other.context)
            page = await other.context.new_page()
            await page.emulate_media(color_scheme="light")
            while waiting:
                path, action = waiting.popleft()
                await _go(page, path)
                await page.wait_for_function(once)
                await showing(page)
                if action is not None:
                    await action(page)
                    await page.wait_for_function(once)
                await _look(page, f"{path} {state}", looks)

    await asyncio.gather(*(window() for _ in range(1 if SCREENSHOTS else WINDOWS)))
    return looks


async def _go(page: Page, path: str) -> None:
    """Go to a page as a link does; load the application for the first, and for the parts of a page."""
    await page.set_viewport_size(WIDE)
    if page.url == "about:blank" or path.count("/") > 1 or "?" in path:
        await page.goto(path)
    else:
        await page.evaluate(FOLLOW, path)
        await page.wait_for_function(FOLLOWED)


async def _look(page: Page, where: str, looks: Looks) -> None:
    looks.views += 1
    for theme, rules in RULES.items():
        await _dress(page, theme)
        looks.axe_runs += 1
        looks.findings += [f"{where} {theme}: {finding}" for finding in await axe(page, rules)]
        await screenshot(page, f"{where} {theme} wide")
    await page.set_viewport_size(NARROW)
    looks.findings += [f"{where} at 360 px: scrolls sideways: {wide}" for wide in await page.evaluate(OVERFLOWING)]
    for theme in reversed(RULES) if SCREENSHOTS else ():
        await _dress(page, theme)
        await screenshot(page, f"{where} {theme} narrow")


async def _dress(page: Page, theme: Literal["light", "dark"]) -> None:
    """Choose the system's theme, and wait until no colour is between two."""
    await page.emulate_media(color_scheme=theme)
    await page.wait_for_function(DRESSED, arg=theme == "dark")


async def axe(page: Page, rules: Mapping[str, Any]) -> list[str]:
    """Return axe's serious and critical findings, each with the first element that has it."""
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(AXE)
    results = await page.evaluate(
        "options => axe.run(document, options)", {**rules, "resultTypes": ["violations"], "preload": False}
    )
    serious = [found for found in results["violations"] if found["impact"] in SERIOUS]
    return [
        f"{found['id']}: {found['nodes'][0]['html'][:200]} {found['nodes'][0]['failureSummary']}" for found in serious
    ]


async def screenshot(page: Page, name: str) -> None:
    """Take a screenshot, if there is a folder for them."""
    if SCREENSHOTS:
        file = "_".join(name.strip("/").replace("/", "-").split())
        await page.screenshot(path=Path(SCREENSHOTS) / f"{file}.png")


async def pages_of(context: BrowserContext) -> list[str]:
    """Return the addresses that the application's navigation offers."""
    page = await context.new_page()
    await page.goto("/")
    links = page.get_by_role("navigation", name="Main").get_by_role("link")
    await expect(links.first).to_be_visible(timeout=WITHIN)
    found = [str(await link.get_attribute("href")) for link in await links.all()]
    await page.close()
    return found
