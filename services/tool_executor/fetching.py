"""`web.fetch`: reads a page of the web, from this process and never from a sandbox (S2-09, S2-21).

Each address, that of the request and of every redirect, is judged, resolved once and dialled at the address that was
judged. Policy is asked about each host. Pages are kept for a few minutes, per tenant, so that the parts of a long page
are of one version. No cookies, no credentials, no proxy of the environment; the `User-Agent` says `suma`.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import timedelta

from libs.clients import Answer, get
from libs.clock import Clock
from libs.errors import Rejected
from libs.guards import Target, check_redirect, check_url
from services.tool_executor import pages
from services.tool_executor.pages import Page
from services.tool_executor.settings import Web

FETCH = "fetch"
"""The only method of the primitive `web`."""
REDIRECTS_MOST = 5
MOVED = frozenset((301, 302, 303, 307, 308))
KEPT_MOST, ENTRY = 16 << 20, 10_000
"""Characters of all pages that are kept, and what one has beside its text, such as its addresses."""
Asked = Callable[[str], Awaitable[None]]
"""Asks whether a call may go on to another host, and raises if not."""


class NoPage(Rejected):
    """The server answered, but not with the page."""

    code = "NO_PAGE"


class TooSlow(Rejected):
    """The page did not arrive in time."""

    code = "TIMED_OUT"


def target_of(url: str, web: Web) -> Target:
    """Return the target of a URL that may be fetched. Raises UrlRefused."""
    return check_url(url, ports=web.ports, allowed=web.allow_hosts)


class Fetcher:
    def __init__(self, web: Web, clock: Clock) -> None:
        self._web, self._clock = web, clock
        self._kept: OrderedDict[tuple[str, str], Page] = OrderedDict()
        self._letters = 0

    async def page(self, tenant: str, url: str, *, ask: Asked, check: Callable[[], None]) -> tuple[Page, bool]:
        """Return the page, and whether it was kept from an earlier call of this tenant.

        Raises:
            UrlRefused: it, or a redirect, leads where nothing may be fetched.
            NoAnswer, NoPage, TooSlow: the server does not give it.
            NotReadable, CannotRead: its content is not read.
        """
        if (kept := self._find(tenant, url)) is not None:
            return kept, True
        try:
            async with asyncio.timeout(self._web.seconds):
                target, answer = await self._answer(url, ask)
        except TimeoutError:
            raise TooSlow(f"{url} did not arrive within {self._web.seconds:g} s") from None
        if answer.status not in range(200, 300):
            raise NoPage(f"{target.url} answered with HTTP status {answer.status}")
        page = await asyncio.to_thread(pages.read, target.url, answer, self._clock.now(), check=check)
        self._keep(tenant, url, page)
        return page, False

    async def _answer(self, url: str, ask: Asked) -> tuple[Target, Answer]:
        """Return the first answer that is no redirect, and where it came from."""
        web, target = self._web, target_of(url, self._web)
        asked = {target.host}
        for _ in range(REDIRECTS_MOST + 1):
            answer = await get(target, accept=pages.ACCEPT, seconds=web.seconds, most=web.bytes_most)
            if answer.status not in MOVED or answer.location is None:
                return target, answer
            after = check_redirect(target, answer.location, ports=web.ports, allowed=web.allow_hosts)
            if after.host not in asked:
                await ask(after.host)
            asked.add(after.host)
            target = after
        raise NoPage(f"{url} redirects more than {REDIRECTS_MOST} times")

    def _find(self, tenant: str, url: str) -> Page | None:
        page = self._kept.get((tenant, url))
        fresh = timedelta(seconds=self._web.cache_seconds)
        return page if page is not None and self._clock.now() - page.fetched_at < fresh else None

    def _keep(self, tenant: str, url: str, page: Page) -> None:
        """Keep a page; the oldest ones make room."""
        if (before := self._kept.pop((tenant, url), None)) is not None:
            self._letters -= ENTRY + len(before.text)
        self._kept[tenant, url] = page
        self._letters += ENTRY + len(page.text)
        while self._letters > KEPT_MOST:
            self._letters -= ENTRY + len(self._kept.popitem(last=False)[1].text)
