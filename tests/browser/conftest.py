"""One platform and one browser for all tests of this folder; each test has tabs of its own.

A test fails if a page reports an error on its console or asks another host for anything. A page that is made to fail
reports failed requests, which such a test allows.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from deploy.local.cache import Unprovided
from deploy.local.web import web
from tests.browser.visitor import NO_CHROMIUM, Live, Visitor, chromium, launched, live_at
from tests.conformance.sandbox.conftest import docker_engine, rig  # noqa: F401 -- fixtures


@pytest.fixture(scope="session")
def application() -> Path:
    """Return the built web application."""
    try:
        return web()
    except Unprovided as reason:
        pytest.skip(f"SKIPPED in a browser: {reason}")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    if (program := chromium()) is None:
        pytest.skip(f"SKIPPED in a browser: {NO_CHROMIUM}")
    async with async_playwright() as playwright:
        yield await launched(playwright, program)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def live(browser: Browser, application: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Live]:
    """Yield a running platform with the offline model."""
    async with live_at(tmp_path_factory.mktemp("browser"), application) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(browser: Browser, live: Live) -> AsyncIterator[Visitor]:
    """Yield a visitor that is not signed in."""
    async with Visitor(browser, live.url) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def person(visitor: Visitor, live: Live) -> Visitor:
    """Return a visitor that is signed in with the machine's own key."""
    await visitor.sign_in(live.key)
    return visitor
