"""What a person does in the browser, from the printed link to a task that was done and undone."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Locator, Page, Request, expect

from tests.browser.visitor import Live, Visitor, approval, ask, contents, ended, grown, undo, weight

WISH = "remove duplicates and sort by type"
MESSY = {"a.txt": "same", "b.txt": "same", "song.mp3": "la", "notes/todo.txt": "milk"}
FIRST_PAGE_MOST = 250_000
"""Bytes of the application, compressed, with its font."""


@pytest.mark.requirement("S4-54", "P5")
async def test_printed_link_leads_to_a_task_done_and_undone(visitor: Visitor, live: Live) -> None:
    page = await visitor.open(live.link)
    await expect(page.get_by_role("heading", name="What should be done?")).to_be_visible()
    assert "code" not in page.url
    await page.get_by_role("button", name="Make an example folder").click()
    folder = Path(str(await page.get_by_text("Example folder", exact=True).get_attribute("title")))
    before = contents(folder)
    await page.get_by_role("button", name=re.compile("Clean up this folder")).click()
    await expect(page.get_by_label(re.compile("^Plan for: "))).to_contain_text("steps")
    await approval(page).click()
    await ended(page)
    await expect(page.get_by_role("heading", name="Changes made")).to_be_visible()
    await expect(page.locator(".prose").last).to_contain_text(re.compile(r"\d+"))
    assert contents(folder) != before
    await undo(page)
    await expect(page.get_by_label("Changes made").get_by_text("undone since")).to_be_visible()
    assert contents(folder) == before


async def test_first_page_has_at_most_250_kilobytes(person: Visitor) -> None:
    page = await person.context.new_page()
    finished = list[Request]()
    page.on("requestfinished", lambda request: finished.append(request))
    await page.goto("/chat")
    await page.get_by_label("Message").wait_for()
    assert 100_000 < await weight(finished) <= FIRST_PAGE_MOST


async def test_used_link_shows_the_sign_in_form(visitor: Visitor, live: Live) -> None:
    page = await visitor.open(live.link)
    visitor.failures_expected = True
    await page.goto(live.link)
    await visitor.context.clear_cookies()
    await page.goto(live.link)
    await expect(page.get_by_role("heading", name="Sign in to Suma")).to_be_visible()
    await expect(page.get_by_role("alert")).to_be_visible()


@pytest.mark.requirement("P5")
async def test_excluded_file_stays_and_undo_restores_every_byte(person: Visitor, live: Live) -> None:
    folder = live.folder("excluding", MESSY)
    before = contents(folder)
    page = await person.open("/chat")
    await ask(page, WISH, folder)
    await page.get_by_label(re.compile(r"Include .*song\.mp3")).uncheck()
    await page.get_by_role("button", name="Approve without 1 change").click()
    await ended(page)
    after = contents(folder)
    assert after["song.mp3"] == b"la"
    assert after != before
    assert sorted(after.values()) == sorted([b"same", b"la", b"milk"])
    await undo(page)
    await expect(page.get_by_label("Changes made").get_by_text("undone since")).to_be_visible()
    await expect(page.get_by_text("undone since")).to_have_count(1)
    assert contents(folder) == before
    await undo(page, "Redo")
    await expect(page.get_by_label("Redo")).to_contain_text("changes made again")
    assert contents(folder) == after
    await undo(page)
    await expect(page.get_by_text("undone since")).to_have_count(1)
    assert contents(folder) == before


MESS = {
    **dict.fromkeys(("IMG_2041.jpg", "IMG_2041 (1).jpg"), "beach"),
    "invoice March.pdf": "pdf",
    "setup-3.2.exe": "exe",
    "holiday/rome.jpg": "rome",
    f"tickets {'very_long_' * 9}.pdf": "pages",
}
WAYS = [(1280, 800, False), (360, 740, False), (1280, 800, True)]


@pytest.mark.requirement("S4-54", "P5", "A26")
@pytest.mark.parametrize(("width", "height", "keys"), WAYS, ids=["wide", "narrow", "keys"])
async def test_stranger_tidies_an_own_folder(
    person: Visitor, live: Live, tmp_path: Path, width: int, height: int, keys: bool
) -> None:
    own = grown(tmp_path / "Downloads", MESS)
    before = contents(own)
    page = await person.open("/chat")
    await page.set_viewport_size({"width": width, "height": height})

    async def press(name: str | re.Pattern[str], within: Locator | Page = page) -> None:
        button = within.get_by_role("button", name=name)
        await (_press(page, button) if keys else button.click())

    await page.get_by_label("Message").fill(WISH)
    await page.get_by_label("Folder", exact=True).fill(str(own))
    await press("Send")
    await expect(page.get_by_label("Permission for a folder")).to_be_visible()
    assert (await live.installation.suma("roots", "add", str(own))).code == 0
    await page.get_by_label("Include Programs", exact=True).uncheck()
    await page.get_by_label("Why are these left out?").fill("I still need it")
    await press("Approve without 2 changes")
    await ended(page, "Done")
    await expect(page.get_by_label("Message")).to_be_focused()
    after = contents(own)
    assert (after["setup-3.2.exe"], len(after)) == (b"exe", len(before) - 1)
    await page.locator("summary", has_text="Approved with changes").click()
    await expect(page.get_by_text("I still need it")).to_be_visible()
    await expect(page.get_by_text("Would move")).to_be_visible()
    for what, files in (("Undo", before), ("Redo", after)):
        await press(what)
        await press(what, page.get_by_role("dialog"))
        await expect(page.get_by_label("Message")).to_be_focused()
        await expect(page.get_by_role("article", name=what)).to_contain_text("changes")
        assert contents(own) == files
        assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_the_last_of_many_changes_can_be_excluded(person: Visitor, live: Live) -> None:
    folder = live.folder("many", {f"n{number:03}.txt": str(number) for number in range(250)})
    page = await person.open("/chat")
    await ask(page, "sort by type", folder)
    card = page.get_by_role("region", name="Approval: Make 251 changes?")
    await card.get_by_text("Move 250").click()
    more, last = (
        card.get_by_role("button", name=re.compile("^Show ")).first,
        card.get_by_label("Include Documents/n249.txt"),
    )
    while not await last.is_visible():
        await expect(more.or_(last).first).to_be_visible()
        await more.click(timeout=3000) if await more.is_visible() and await more.is_enabled() else None
    await card.get_by_label("Include Documents/n249.txt").uncheck()
    await page.get_by_role("button", name="Approve without 1 change").click()
    await ended(page)
    assert contents(folder).keys() == {"n249.txt", *(f"Documents/n{number:03}.txt" for number in range(249))}


async def test_draft_of_an_answer_survives_a_reload_and_shows_elsewhere(person: Visitor, live: Live) -> None:
    folder = live.folder("drafted", {"a.zip": "1", "b.zip": "2", "song.mp3": "la"})
    page = await person.open("/chat")
    await ask(page, "sort by type", folder)
    await page.get_by_label("Include Archives", exact=True).uncheck()
    await expect(page.get_by_role("button", name="Approve without 3 changes")).to_be_visible()
    other = await person.open(page.url)
    for one in (page, other):
        await one.reload()
        await expect(one.get_by_role("button", name="Approve without 3 changes")).to_be_visible()
        await expect(one.get_by_label("Include Archives/a.zip")).to_be_disabled()
    await page.get_by_role("button", name="Approve without 3 changes").click()
    await ended(page)
    assert contents(folder).keys() == {"a.zip", "b.zip", "Audio/song.mp3"}


async def test_deletions_of_a_large_change_are_seen_before_approval(person: Visitor, live: Live) -> None:
    files = {f"n{number:03}.pdf": f"{number}" for number in range(300)}
    page = await person.open("/chat")
    await ask(page, WISH, live.folder("hidden", {**files, "z1.txt": "same", "z2.txt": "same"}))
    await expect(page.get_by_text("Delete 1", exact=True)).to_be_visible()
    await expect(page.get_by_text("identical to")).to_be_visible()
    await expect(page.get_by_text("Would move 301 files")).to_be_visible()


async def test_attached_file_is_saved_into_the_folder(person: Visitor, live: Live) -> None:
    folder = live.folder("attaching", {"a.txt": "a"})
    page = await person.open("/chat")
    await page.get_by_label("Files to attach").set_input_files(
        {"name": "naïve report.txt", "mimeType": "text/plain", "buffer": b"figures"}
    )
    await expect(page.get_by_role("list", name="Attached files")).to_contain_text("7 B")
    await ask(page, "save the attachments to Papers", folder)
    await approval(page).click()
    await ended(page)
    assert contents(folder) == {"a.txt": b"a", "Papers/naïve report.txt": b"figures"}
    async with page.expect_download() as downloaded:
        await page.get_by_role("link", name="naïve report.txt").click()
    assert (await (await downloaded.value).path()).read_bytes() == b"figures"


async def test_reload_in_the_middle_changes_nothing(person: Visitor, live: Live) -> None:
    page = await person.open("/chat")
    await ask(page, WISH, live.folder("reloading", MESSY))
    await expect(approval(page)).to_be_enabled()
    shown = await page.get_by_role("article").inner_text()
    await page.reload()
    await expect(approval(page)).to_be_enabled()
    assert _without_times(await page.get_by_role("article").inner_text()) == _without_times(shown)
    await approval(page).click()
    await ended(page)


async def test_approval_in_one_tab_ends_the_question_in_another(person: Visitor, live: Live) -> None:
    first = await person.open("/chat")
    await ask(first, WISH, live.folder("twice", MESSY))
    await expect(approval(first)).to_be_enabled()
    second = await person.open(first.url)
    await approval(second).click()
    for page in (first, second):
        await ended(page)
        await expect(approval(page)).to_have_count(0)
        await expect(page.get_by_role("heading", name="Changes made")).to_have_count(1)


@pytest.mark.requirement("S3-59")
async def test_revoked_key_brings_the_sign_in_form(visitor: Visitor, live: Live) -> None:
    async with live.installation.api() as api:
        made = (await api.post("/v1/admin/keys", json={"name": "lent", "principal": "guest", "roles": ["user"]})).json()
        visitor.failures_expected = True
        page = await visitor.open("/sessions")
        await _type_key(page, made["key"])
        await expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
        await _revoke(api, made["key_id"])
    await page.get_by_role("link", name="Skills").click()
    await expect(page.get_by_role("heading", name="Sign in to Suma")).to_be_visible()


@pytest.mark.requirement("S3-59")
async def test_link_of_another_person_asks_before_it_signs_in(person: Visitor, live: Live) -> None:
    async with live.installation.api() as api:
        made = (await api.post("/v1/admin/keys", json={"name": "m", "principal": "mallory", "roles": ["user"]})).json()
    as_mallory = {"Authorization": f"Bearer {made['key']}", "Content-Type": "application/json"}
    async with httpx.AsyncClient(base_url=live.url, headers=as_mallory) as api:
        code = (await api.post("/v1/signin/code")).json()["code"]
    page = await person.open(f"/?code={code}")
    await expect(page.get_by_role("heading", name="Sign in as mallory instead of owner?")).to_be_visible()
    assert "code" not in page.url
    await page.get_by_role("button", name="Stay owner").click()
    await expect(page.get_by_role("heading", name="What should be done?")).to_be_visible()
    await page.goto(f"/?code={code}")
    await page.get_by_role("button", name="Sign in as mallory").click()
    await expect(page.get_by_role("heading", name="What should be done?")).to_be_visible()
    assert (await (await person.context.request.get("/v1/me")).json())["principal"] == "mallory"


async def test_keyboard_alone_signs_in_sends_and_approves(visitor: Visitor, live: Live) -> None:
    folder = live.folder("typing", MESSY)
    visitor.failures_expected = True
    page = await visitor.open("/chat")
    await page.get_by_label("API key").wait_for()
    await _tab_to(page, "API key")
    await page.keyboard.type(live.key)
    await page.keyboard.press("Enter")
    await page.get_by_label("Message").wait_for()
    visitor.failures_expected = False
    await _tab_to(page, "Message")
    await page.keyboard.type(WISH)
    await _tab_to(page, "Folder")
    await page.keyboard.type(str(folder))
    await page.keyboard.press("Enter")
    await approval(page).wait_for()
    await _tab_to(page, "Include Audio/song.mp3")
    await page.keyboard.press("Space")
    await _tab_to(page, "Approve without 1 change")
    await page.keyboard.press("Enter")
    await ended(page)
    assert contents(folder)["song.mp3"] == b"la"


async def _type_key(page: Page, key: str) -> None:
    await page.get_by_label("API key").fill(key)
    await page.get_by_role("button", name="Sign in").click()


async def _press(page: Page, button: Locator) -> None:
    """Press Tab until this button has the focus, then Enter."""
    await button.wait_for()
    for _ in range(80):
        if await button.evaluate("it => it === document.activeElement"):
            return await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
    raise AssertionError(f"no key press reaches {button}")


async def _revoke(api: httpx.AsyncClient, key_id: str) -> None:
    assert (await api.post(f"/v1/admin/keys/{key_id}/revoke")).is_success


NAME = """() => {
  const at = document.activeElement;
  return at.getAttribute("aria-label") ?? at.labels?.[0]?.innerText ?? at.innerText ?? "";
}"""


async def _tab_to(page: Page, name: str) -> None:
    """Press Tab until the control of this name has the focus."""
    for _ in range(80):
        if (await page.evaluate(NAME)).strip() == name:
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"no key press reaches {name}")


def _without_times(text: str) -> str:
    return re.sub(r"(\d+ \w+ ago|just now|now|in \d+ \w+|\d+(\.\d+)? m?s)", "", text)
