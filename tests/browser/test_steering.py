"""What a person may want beside yes and no: an own folder, a changed plan, a queue, a page that outlives its server."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from playwright.async_api import Page, expect

from tests.browser.visitor import Live, Visitor, approval, ask, contents, ended, undo

FILES = {"a.txt": "text", "b.mp3": "la", "c.pdf": "pages"}


async def test_task_waits_for_the_permission_of_its_folder(person: Visitor, live: Live, tmp_path: Path) -> None:
    folder = tmp_path / "own folder"
    folder.mkdir()
    (folder / "song.mp3").write_text("la")
    page = await person.open("/chat")
    await page.get_by_label("Folder", exact=True).fill(str(folder))
    await expect(page.get_by_text("Needs permission")).to_be_visible()
    await page.get_by_label("Message").fill("sort by type")
    await page.get_by_role("button", name="Send").click()
    card = page.get_by_label("Permission for a folder")
    await expect(card.locator("code")).to_have_text(f"suma roots add '{folder}'")
    await expect(page.get_by_label("Message")).to_have_value("sort by type")
    await expect(page.get_by_role("button", name="Send")).to_be_disabled()
    allowed = await live.installation.suma("roots", "add", str(folder))
    assert allowed.code == 0, allowed
    await approval(page).click()
    await ended(page, "Done")
    await expect(page.get_by_label("Message")).to_have_value("")
    assert set(contents(folder)) == {"Audio/song.mp3"}
    await undo(page)
    await expect(page.get_by_text("undone since")).to_be_visible()
    assert set(contents(folder)) == {"song.mp3"}


async def test_unusable_folder_is_named_and_keeps_the_message(person: Visitor, tmp_path: Path) -> None:
    page = await person.open("/chat")
    await ask(page, "sort by type", tmp_path / "absent")
    await expect(page.get_by_text("No such folder")).to_be_visible()
    await expect(page.get_by_label("Message")).to_have_value("sort by type")
    await page.reload()
    await expect(page.get_by_label("Message")).to_have_value("sort by type")


async def test_words_at_a_proposal_change_it(person: Visitor, live: Live) -> None:
    folder = live.folder("steered", FILES)
    page = await _proposed(person, folder)
    await expect(page.get_by_label("Change this plan")).to_be_checked()
    await page.get_by_label("Message").fill("leave the pdf where it is")
    await page.keyboard.press("Enter")
    second = page.get_by_role("article").nth(1)
    await expect(second.get_by_role("heading").first).to_have_text("sort by type, but leave the pdf where it is")
    await expect(page.get_by_role("article").first.locator("footer")).to_contain_text("Declined")
    assert set(contents(folder)) == set(FILES)


async def test_task_for_later_is_queued_edited_and_removed(person: Visitor, live: Live) -> None:
    page = await _proposed(person, live.folder("queued", FILES))
    field = page.get_by_label("Message")
    await page.get_by_text("Do afterwards").click()
    await field.fill("how many files are there?")
    await page.keyboard.press("Enter")
    waiting = page.get_by_role("article").nth(1)
    await expect(waiting.locator("footer")).to_contain_text("number 1 in the queue")
    await waiting.get_by_role("button", name="Edit").click()
    await expect(field).to_have_value("how many files are there?")
    await expect(waiting.locator("footer")).to_contain_text("Stopped")
    await expect(approval(page)).to_be_enabled()


async def test_unclear_request_offers_answers_and_a_new_start(person: Visitor, live: Live) -> None:
    page = await person.open("/chat")
    await ask(page, "frobnicate the whatsits", live.folder("unclear", FILES))
    card = page.get_by_label("Question")
    await expect(card).to_contain_text("“frobnicate the whatsits”")
    await card.get_by_role("button", name="Start over").click()
    await expect(page.get_by_label("Message")).to_have_value("frobnicate the whatsits")
    await expect(page.get_by_label("Message")).to_be_focused()
    await page.keyboard.press("Enter")
    offer = card.last.get_by_role("button").first
    said = await offer.inner_text()
    assert said in await card.last.inner_text()
    await offer.click()
    await expect(card.last).to_contain_text(f"You answered: “{said}”")
    await expect(card.last.get_by_role("button")).to_have_count(0)


async def test_refusal_with_a_reason_plans_again(person: Visitor, live: Live) -> None:
    page = await _proposed(person, live.folder("refused", FILES))
    await page.get_by_role("button", name="Refuse").click()
    await expect(page.get_by_label("Why not?")).to_be_focused()
    await expect(page.get_by_role("button", name="Refuse and plan again")).to_be_disabled()
    await page.get_by_label("Why not?").fill("only the songs")
    await page.get_by_role("button", name="Refuse and plan again").click()
    await expect(page.get_by_role("article").nth(1).get_by_role("heading").first).to_have_text(
        "sort by type, but only the songs"
    )


async def test_pages_open_without_a_server_and_keep_typed_text(person: Visitor, live: Live) -> None:
    page = await person.open("/chat")
    await page.get_by_label("Message").fill("an unsent task")
    person.failures_expected = True
    await live.installation.end(signal.SIGTERM)
    try:
        await page.get_by_role("link", name="Operations").click()
        await expect(page.get_by_role("main").get_by_text("No connection to Suma").first).to_be_visible()
        await page.get_by_role("link", name="Chat", exact=True).click()
        await expect(page.get_by_label("Message")).to_have_value("an unsent task")
    finally:
        await live.installation.start()
    await page.get_by_role("link", name="Operations").click()
    await expect(page.get_by_role("heading", name="Operations")).to_be_visible()


async def test_tab_title_names_its_session_and_counts_open_questions(person: Visitor, live: Live) -> None:
    page = await _proposed(person, live.folder("named", FILES))
    await expect(page).to_have_title(re.compile(r"^\(\d+\) sort by type · Suma$"))


async def _proposed(person: Visitor, folder: Path) -> Page:
    page = await person.open("/chat")
    await ask(page, "sort by type", folder)
    await expect(approval(page)).to_be_enabled()
    return page
