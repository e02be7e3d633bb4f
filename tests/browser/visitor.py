"""A person with a browser: signed in or not, with tabs that are watched for errors and for foreign requests."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Playwright,
    Request,
    Response,
    StorageState,
    WebError,
    expect,
)

from deploy.local.ports import free_port
from tests.journeys.installation import Installation, installation

OPTIONS = (
    # A container's root has no user namespaces and a small /dev/shm.
    *("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"),
    # Each process compiles the application again, and one is kept ready for the next tab.
    *("--process-per-site", "--renderer-process-limit=1"),
)
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WITHIN = 30_000.0
"""Milliseconds that a busy machine may take to show what is expected."""
NO_CHROMIUM = "no Chromium found; install it (apt-get install chromium) or set CHROMIUM"
FAILED_REQUEST = ("Failed to load resource", "Problem: Suma does not answer")

expect.set_options(timeout=WITHIN)


def chromium() -> str | None:
    """Return the system's browser; `CHROMIUM` names another."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)


async def launched(playwright: Playwright, program: str) -> Browser:
    """Start the system's browser."""
    return await playwright.chromium.launch(executable_path=program, args=list(OPTIONS))


@dataclass
class Live:
    """A running platform, and the sign-in link that it printed."""

    installation: Installation
    link: str

    @property
    def url(self) -> str:
        return self.installation.url

    @property
    def key(self) -> str:
        return str(self.installation.directory.key())

    def folder(self, name: str, files: Mapping[str, str]) -> Path:
        """Create a folder that may be worked in."""
        return grown(self.installation.folder / name, files)


@asynccontextmanager
async def live_at(place: Path, application: Path, **extra: str) -> AsyncIterator[Live]:
    """Run a platform that serves this build, on a port that it keeps over restarts."""
    chosen = {"SUMA_PORT": str(free_port()), "SUMA_GATEWAY__WEB": str(application), **extra}
    async with installation(place, **chosen) as made:
        await made.start()
        yield Live(made, await printed_link(made))


async def printed_link(made: Installation) -> str:
    """Return the one-time link from the lines that a start prints."""
    assert made.process is not None
    assert made.process.stdout is not None
    words = (await made.process.stdout.readline()).decode().split()
    assert words[:2] == ["sign", "in"], words
    return words[2]


@dataclass
class Visitor:
    """One browser profile. Leaving it fails if a page reported an error or asked another host."""

    browser: Browser
    url: str
    service_workers: bool = False
    failures_expected: bool = False
    """Requests may fail; the console reports each."""
    complaints: list[str] = field(default_factory=list)
    failed: list[Response] = field(default_factory=list)
    """Answers with a server's error. The console names only their status, so their bodies are printed."""
    cookies: StorageState | None = None
    context: BrowserContext = field(init=False)

    async def __aenter__(self) -> Visitor:
        self.context = await self.browser.new_context(
            base_url=self.url,
            storage_state=self.cookies,
            service_workers="allow" if self.service_workers else "block",
            reduced_motion="reduce",
            viewport={"width": 1280, "height": 800},
        )
        self.context.set_default_timeout(WITHIN)
        self.context.on("console", self._spoken)
        self.context.on("weberror", self._thrown)
        self.context.on("request", self._asked)
        self.context.on("response", self._answered)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.failures_expected:
            for response in self.failed:
                with suppress(Error):  # A page that was left has dropped it.
                    print(response.status, response.url, await response.text())
        await self.context.close()
        if error is None:
            assert not self.complaints, "\n".join(self.complaints)

    def _spoken(self, message: ConsoleMessage) -> None:
        expected = self.failures_expected and message.text.startswith(FAILED_REQUEST)
        if message.type == "error" and not expected:
            self.complaints.append(f"at {message.page and message.page.url}: {message.text}")

    def _thrown(self, thrown: WebError) -> None:
        self.complaints.append(f"uncaught: {thrown.error}")

    def _answered(self, response: Response) -> None:
        if response.status >= 500:
            self.failed.append(response)

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.complaints.append(f"asked another host: {request.url}")

    async def sign_in(self, key: str) -> None:
        """Trade a key for the cookie, as the sign-in form does."""
        answer = await self.context.request.post(
            "/v1/signin", headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        )
        assert answer.ok, await answer.text()

    @asynccontextmanager
    async def another(self) -> AsyncIterator[Visitor]:
        """Yield a window of its own for the same person."""
        cookies = await self.context.storage_state()
        async with replace(self, complaints=[], cookies=cookies) as other:
            yield other

    async def open(self, path: str) -> Page:
        """Open a tab."""
        page = await self.context.new_page()
        await page.goto(path)
        return page


async def weight(requests: Iterable[Request]) -> int:
    """Return the bytes that the application's files had on their way, compressed and with their headers."""
    sizes = [await request.sizes() for request in requests if "/v1/" not in request.url]
    return sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes)


async def ask(page: Page, text: str, folder: Path) -> None:
    """Start a task in a folder, by its path."""
    await page.get_by_label("Folder", exact=True).fill(str(folder))
    await page.get_by_label("Message").fill(text)
    await page.get_by_role("button", name="Send").click()


def approval(page: Page) -> Locator:
    """The button that approves what is shown."""
    return page.get_by_role("button", name="Approve")


ENDS = re.compile("Done|Answered|Declined|Undone")


async def ended(page: Page, how: str | re.Pattern[str] = ENDS) -> None:
    """Wait until the last turn on the page has ended."""
    await expect(page.get_by_role("article").last.locator("footer")).to_contain_text(how)


async def known(live: Live, value: str) -> None:
    """Wait until a fact is kept, which is just after the answer."""
    async with live.installation.api() as api, asyncio.timeout(60):
        while value not in (await api.get("/v1/memory/facts")).text:
            pass


async def undo(page: Page, how: str = "Undo") -> None:
    """Undo the changes of the page, or redo them, and agree to it."""
    await page.get_by_role("button", name=how).click()
    await page.get_by_role("dialog").get_by_role("button", name=how).click()


def grown(folder: Path, files: Mapping[str, str]) -> Path:
    """Create a folder with these files."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return each file of a folder by its path, without Suma's own hidden folder."""
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path): (folder / path).read_bytes() for path in files if not path.parts[0].startswith(".")}
