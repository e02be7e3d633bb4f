"""Each page in each of its states, in both themes and at 360 px: no serious finding of axe, and no overflow.

The list of pages is the application's own navigation, so a new page is tested as soon as it is there.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser.states import WAITING, Action, Looks, View, answering, cut_off, in_state, pages_of, refused, silent
from tests.browser.visitor import Live, Visitor, approval
from tests.journeys.test_start_and_stop import approve_all, seen

PAGES = 10
"""The pages of the first version; there may be more."""
LONG = "a-very-long-name-without-any-space-in-it-" * 4
WISH = "remove duplicates and sort by type"


@dataclass(frozen=True)
class Seeded:
    """What the platform holds when a page is full."""

    waiting: str
    done: str
    examples: Mapping[str, Any]
    """Answers of routes that a fresh platform has nothing for."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def seeded(live: Live) -> Seeded:
    """Leave one task that waits for approval and one that is done, with long names, and a key of another person."""
    async with live.installation.api() as api:
        waiting, _ = await _task(api, live, "waiting")
        done, turn = await _task(api, live, "done")
        await approve_all(api, done, turn)
        await api.post("/v1/admin/keys", json={"name": LONG[:60], "principal": "ada", "roles": ["user", "auditor"]})
        for key, value in (("employer", "Acme Labs"), ("employer", LONG), ("allergic to", "nuts")):
            await api.put("/v1/memory/facts", json={"key": key, "value": value})
        paths = (await api.get("/openapi.json")).json()["paths"]
    return Seeded(waiting, done, {path: _example(paths[path]) for path in ("/v1/admin/dlq", "/v1/admin/tools")})


async def _task(api: httpx.AsyncClient, live: Live, name: str) -> tuple[str, str]:
    files = {"a.txt": "same", "b.txt": "same", "song.mp3": "la", f"{LONG}.pdf": "pdf", "deep/er/note.txt": "milk"}
    folder = live.folder(f"{name}-{LONG[:60]}", files)
    body = {"text": f"{WISH}", "root": str(folder), "hitl": "bypass"}
    said = (await api.post("/v1/sessions/message", json=body)).json()
    await seen(api, said["session_id"], "approval.requested")
    return said["session_id"], said["turn_id"]


@pytest_asyncio.fixture(loop_scope="session")
async def stranger(browser: Browser, live: Live) -> AsyncIterator[Visitor]:
    """Yield an administrator of a tenant that has nothing."""
    async with live.installation.api() as api:
        await api.post("/v1/admin/tenants", json={"tenant": "empty"})
        key = {"tenant": "empty", "principal": "eve", "roles": ["admin"]}
        made = (await api.post("/v1/admin/keys", json=key)).json()
    async with Visitor(browser, live.url) as visitor:
        await visitor.sign_in(made["key"])
        yield visitor


def _example(path: Mapping[str, Any]) -> Any:
    return path["get"]["responses"]["200"]["content"]["application/json"]["example"]


@pytest.fixture
def passes(record_property: Callable[[str, object], None]) -> Callable[[Looks], None]:
    """Return a check that nothing was found, which counts what was looked at for the summary of the run."""

    def check(looks: Looks) -> None:
        record_property("views", looks.views)
        record_property("axe runs", looks.axe_runs)
        assert looks.findings == []

    return check


Check = Callable[[Looks], None]


async def test_full_pages_are_accessible_and_fit(
    person: Visitor, seeded: Seeded, passes: Check, record_property: Callable[[str, object], None]
) -> None:
    pages = await pages_of(person.context)
    assert len(pages) >= PAGES
    record_property("pages", len(pages))
    views = [*_plain(pages), *_deeper(seeded)]
    passes(await in_state(person, "full", views, _no_notice, answering(seeded.examples)))


async def test_empty_pages_are_accessible_and_fit(stranger: Visitor, passes: Check) -> None:
    # Operations and Settings belong to the machine's own tenant; they tell the stranger so.
    stranger.failures_expected = True
    pages = await pages_of(stranger.context)
    passes(await in_state(stranger, "empty", _plain(pages), _no_notice))


async def test_failing_pages_report_it_accessibly(person: Visitor, seeded: Seeded, passes: Check) -> None:
    person.failures_expected = True
    says = _saying("alert", "This did not work")
    passes(await in_state(person, "failing", await _addressed(person, seeded), says, refused(500)))


async def test_pages_of_a_dead_gateway_report_it_accessibly(person: Visitor, seeded: Seeded, passes: Check) -> None:
    person.failures_expected = True
    says = _saying("alert", "No connection to Suma")
    passes(await in_state(person, "dead", await _addressed(person, seeded), says, cut_off))


async def test_pages_without_permission_report_it_accessibly(person: Visitor, seeded: Seeded, passes: Check) -> None:
    person.failures_expected = True
    says = _saying("alert", "You may not see this")
    passes(await in_state(person, "forbidden", await _addressed(person, seeded), says, refused(403)))


async def test_loading_pages_report_it_accessibly(person: Visitor, seeded: Seeded, passes: Check) -> None:
    says = _saying("status", "Loading")
    passes(await in_state(person, "loading", await _addressed(person, seeded), says, silent, once=WAITING))


async def test_sign_in_and_missing_page_are_accessible_and_fit(visitor: Visitor, live: Live, passes: Check) -> None:
    visitor.failures_expected = True
    passes(await in_state(visitor, "signed-out", [("/chat", None)], _no_notice))
    await visitor.sign_in(live.key)
    passes(await in_state(visitor, "missing", [("/nowhere", None)], _no_notice))


async def _addressed(person: Visitor, seeded: Seeded) -> list[View]:
    """All pages, and the views of one thing that have an address."""
    deeper = (f"/chat/{seeded.done}", f"/workspace/{seeded.waiting}", "/skills/remove-duplicates")
    return _plain([*await pages_of(person.context), *deeper])


def _saying(role: Literal["alert", "status"], text: str) -> Action:
    async def says(page: Page) -> None:
        await expect(page.locator("#content").get_by_role(role).get_by_text(text).first).to_be_visible()

    return says


def _plain(pages: list[str]) -> list[View]:
    return [(page, None) for page in pages]


def _deeper(seeded: Seeded) -> list[View]:
    """Parts of pages that are behind a click."""

    def press(role: Any, name: str) -> Any:
        return lambda page: page.get_by_role(role, name=re.compile(name)).first.click()

    workspace = f"/workspace/{seeded.waiting}"
    return [
        (f"/chat/{seeded.waiting}", lambda page: expect(approval(page)).to_be_enabled()),
        (f"/chat/{seeded.done}", press("tab", "^graph")),
        (f"/chat/{seeded.done}?step", press("button", "^Step 1")),
        (workspace, lambda page: page.get_by_role("button", name=re.compile("^Compare")).first.click()),
        *((f"{workspace}?{tab}", press("tab", tab)) for tab in ("files", "graph", "history")),
        ("/skills/remove-duplicates", None),
        ("/keys?new", press("button", "New key")),
        ("/sessions?palette", lambda page: page.keyboard.press("Control+k")),
        ("/sessions?help", lambda page: page.keyboard.press("?")),
    ]


async def _no_notice(page: Page) -> None:
    """The page shows neither an error nor that it has no connection."""
    await expect(page.get_by_text("No connection to Suma")).to_have_count(0)
