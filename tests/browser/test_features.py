"""What a person does on each page besides the main journeys, each as short as it can be."""

from __future__ import annotations

import asyncio
import json
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, Locator, Page, expect

from services.catalog import NAMES
from tests.browser.rows import insert_dead_letters
from tests.browser.states import screenshot
from tests.browser.visitor import OPTIONS, Live, Visitor, approval, ask, chromium, contents, ended, known, undo
from tests.journeys.test_start_and_stop import approve_all, seen
from tests.libs.skills.folders import skill

TWINS = {"a.txt": "same", "b.txt": "same"}
DOWN: dict[str, Any] = {"service": "memory_service", "state": "down", "problems": []}
ICONS = """async () => {
  const { icons } = await (await fetch("/manifest.webmanifest")).json();
  const sizes = await Promise.all(icons.map(async ({ src, sizes }) => {
    const image = new Image();
    image.src = src;
    await image.decode();
    return [sizes, `${image.naturalWidth}x${image.naturalHeight}`];
  }));
  return Object.fromEntries(sizes);
}"""
"""The real size of each icon of the manifest, by the size that it states."""


async def test_question_is_answered_in_the_conversation(person: Visitor, live: Live) -> None:
    folder = live.folder("typo", {"a.tmp": "a", "notes.txt": "b"})
    page = await person.open("/chat")
    await ask(page, "delte the tmp files", folder)
    question = page.get_by_label("Question")
    await expect(question).to_contain_text("delete the tmp files")
    await page.get_by_label("Message").fill("yes")
    await page.get_by_role("button", name="Send").click()
    await expect(question).to_contain_text("You answered: “yes”")
    await approval(page).click()
    await ended(page)
    assert contents(folder) == {"notes.txt": b"b"}


async def test_opened_step_shows_rule_verdict_and_duration(person: Visitor, live: Live) -> None:
    session, _ = await _done(live, live.folder("steps", TWINS))
    page = await person.open(f"/chat/{session}")
    step = page.get_by_role("button", name=re.compile("^Step 1,"))
    await expect(step).to_contain_text(re.compile(r"\d+ ms|\d+(\.\d+)? s"))
    await step.click()
    await expect(page.get_by_text("Allowed by")).to_contain_text("tool.execute.")


async def test_inbox_refuses_with_a_reason(person: Visitor, live: Live) -> None:
    session, turn = await _asked(live, "create a folder called Unwanted", live.folder("refusing", TWINS), hitl="all")
    page = await person.open("/approvals")
    card = _of_session(page, session)
    await card.get_by_role("button", name="Refuse").click()
    await card.get_by_label("Why not?").fill("it has a folder already")
    await card.get_by_role("button", name="Refuse").click()
    await expect(card).to_have_count(0)
    async with live.installation.api() as api:
        closed = await seen(api, session, "approval.closed")
    assert (closed["turn_id"], closed["data"]["outcome"]) == (turn, "denied")
    assert closed["data"]["reason"] == "it has a folder already"


async def test_inbox_approves_edited_arguments(person: Visitor, live: Live) -> None:
    folder = live.folder("editing", TWINS)
    session, _ = await _asked(live, "create a folder called Papers", folder, hitl="all")
    page = await person.open("/approvals")
    card = _of_session(page, session)
    await card.get_by_role("button", name="Edit arguments").click()
    args = json.loads(await card.get_by_label("Arguments").input_value())
    await card.get_by_label("Arguments").fill(json.dumps({**args, "name": "Letters"}))
    await card.get_by_role("button", name="Approve with these").click()
    await expect(card.get_by_text("Letters")).to_be_visible()
    await card.get_by_role("button", name="Approve").click()
    await expect(card).to_have_count(0)
    async with asyncio.timeout(30):
        # The inbox does not wait for the commit.
        while not (folder / "Letters").is_dir():
            await asyncio.sleep(0.05)


async def test_images_are_compared_before_and_after(person: Visitor, live: Live) -> None:
    folder = live.folder("images", {})
    folder.mkdir()
    for name in ("holiday.png", "holiday copy.png"):
        (folder / name).write_bytes(_png(3, 2))
    session, _ = await _asked(live, "remove duplicates", folder)
    page = await person.open(f"/workspace/{session}")
    await page.get_by_role("button", name="Compare").click()
    before = page.get_by_role("img", name="before")
    await expect(before).to_have_js_property("naturalWidth", 3)
    await expect(page.get_by_text("Not there.")).to_have_count(1)


@pytest.mark.requirement("S4-53")
async def test_graph_follows_the_session(person: Visitor, live: Live) -> None:
    session, _ = await _asked(live, "sort by type", live.folder("graph", {"a.mp3": "a", "b.pdf": "b"}), hitl="key")
    page = await person.open(f"/workspace/{session}")
    await page.get_by_role("tab", name="graph").click()
    graph = page.get_by_role("img", name="Graph of 2 files")
    await expect(graph).to_have_accessible_name(re.compile("with 0 proposed changes"))
    async with live.installation.api() as api:
        (question,) = (await api.get("/v1/approvals", params={"session": session})).json()["approvals"]
        answer = {"verdict": "approve", "digest": question["digest"]}
        await api.post(f"/v1/approvals/{question['approval_id']}", json=answer)
    await expect(graph).to_have_accessible_name(re.compile("with [1-9] proposed changes"))


async def test_history_rolls_back_and_undoes(person: Visitor, live: Live) -> None:
    folder = live.folder("history", TWINS)
    before = contents(folder)
    await _done(live, folder)
    session, _ = await _asked(live, "create a folder called Papers", folder)
    page = await person.open(f"/workspace/{session}")
    await page.get_by_role("tab", name="history").click()
    await page.get_by_role("button", name="Roll back to here").first.click()
    await page.get_by_role("dialog").get_by_role("button", name="Go back").click()
    await page.get_by_role("tab", name="changes").click()
    await expect(page.get_by_text("No changes are proposed")).to_be_visible()
    await page.get_by_role("tab", name="history").click()
    await undo(page)
    await expect(page.get_by_label("Undo", exact=True)).to_contain_text("undone")
    assert contents(folder) == before
    await page.goto(f"/workspace/{session}")
    await page.get_by_role("tab", name="history").click()
    await undo(page, "Redo")
    await expect(page.get_by_label("Redo", exact=True)).to_contain_text("made again")
    assert contents(folder) != before


async def test_approval_in_the_workspace_leads_to_its_outcome(person: Visitor, live: Live) -> None:
    session, _ = await _asked(live, "sort by type", live.folder("approved there", {"a.mp3": "a", "b.pdf": "b"}))
    page = await person.open(f"/workspace/{session}")
    await page.get_by_label("Include Audio/a.mp3").uncheck()
    await page.get_by_role("button", name="Approve without 1 change").click()
    await ended(page, "Done")
    await expect(page.get_by_role("heading", name="Changes made")).to_be_visible()


async def test_session_is_found_and_shared(person: Visitor, browser: Browser, live: Live) -> None:
    async with live.installation.api() as api:
        await api.post("/v1/sessions", json={"title": "Quarterly reports"})
        guest = (await api.post("/v1/admin/keys", json={"principal": "guest", "roles": ["user"]})).json()["key"]
    page = await person.open("/sessions")
    await page.get_by_label("Search sessions").fill("quarterly")
    rows = page.get_by_role("region", name="Sessions").get_by_role("listitem")
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="Share Quarterly reports").click()
    await page.get_by_role("button", name="Everyone may read").click()
    await expect(rows).to_contain_text("can read")
    async with Visitor(browser, live.url) as other:
        await other.sign_in(guest)
        theirs = await other.open("/sessions")
        await expect(theirs.get_by_role("link", name=re.compile("^Quarterly reports"))).to_be_visible()


@pytest.mark.requirement("S2-26", "S2-28", "S4-22")
async def test_remembered_place_changes_the_next_plan(person: Visitor, live: Live) -> None:
    folder = live.folder(
        "invoices", {"invoice-1.pdf": "1", "old/scan.txt": "A letter.\n\nYour dentist asks for 80 euros."}
    )
    page = await person.open("/chat")
    await ask(page, "remember that invoices go to Finance/2026", folder)
    await ended(page)
    await known(live, "Finance/2026")
    page = await person.open("/chat")
    await ask(page, "put away the invoices", folder)
    await expect(page.get_by_label(re.compile("^Plan for: "))).to_contain_text("Finance/2026")
    await approval(page).click()
    await ended(page, "Done")
    assert contents(folder).keys() == {"Finance/2026/invoice-1.pdf", "old/scan.txt"}
    page = await person.open("/chat")
    await ask(page, "where did I put the dentist letter?", folder)
    await ended(page)
    await expect(page.locator(".prose").last).to_contain_text("old/scan.txt, lines 1–3: A letter. Your dentist asks")
    page = await person.open("/memory")
    await page.get_by_role("button", name="Forget invoices go to").click()
    await expect(page.get_by_role("button", name="Forget invoices go to")).to_have_count(0)


async def test_fact_is_corrected_and_forgotten(person: Visitor, live: Live) -> None:
    async with live.installation.api() as api:
        await api.put("/v1/memory/facts", json={"key": "club", "value": "Chess"})
    page = await person.open("/memory")
    await page.get_by_role("button", name="Correct club").click()
    await page.get_by_label("club", exact=True).fill("Go")
    await page.get_by_role("button", name="Save").click()
    facts = page.get_by_role("region", name="Facts")
    await expect(facts).to_contain_text("club Go")
    await expect(facts).not_to_contain_text("Chess")
    await page.get_by_label("Show history").check()
    await expect(facts).to_contain_text("club Chess")
    await page.get_by_role("button", name="Forget club").click()
    await expect(facts).not_to_contain_text("club")


async def test_recall_explains_why_a_memory_fits_a_task(person: Visitor, live: Live) -> None:
    session, _ = await _done(live, live.folder("recalled", TWINS))
    page = await person.open("/memory")
    recall = page.get_by_role("region", name="Recall")
    await recall.get_by_label("Session").select_option(session)
    await recall.get_by_label("Task").select_option(index=1)
    await expect(recall.get_by_role("listitem").first).to_contain_text(re.compile(r"score \d\.\d\d: \w+ no\. \d"))
    await expect(recall).to_contain_text("No memory of its session fitted when it was planned.")
    await screenshot(page, "recall")


@pytest.mark.requirement("S3-06", "S3-12")
async def test_answer_is_rated_and_its_memories_slept_on(person: Visitor, live: Live) -> None:
    session, _ = await _done(live, live.folder("rated", TWINS))
    page = await person.open(f"/chat/{session}")
    await page.get_by_role("button", name="Good answer").click()
    await page.get_by_label("Why?").fill("Exactly these two.")
    await page.get_by_label("Why?").press("Enter")
    await expect(page.get_by_label("Why?")).to_have_count(0)
    await expect(page.get_by_role("button", name="Good answer", pressed=True)).to_be_enabled()
    page = await person.open("/memory")
    await expect(page.get_by_role("region", name="Ratings")).to_contain_text("Exactly these two.")
    sleep = page.get_by_role("region", name="Sleep")
    await sleep.get_by_role("button", name="Sleep now").click()
    await sleep.get_by_role("button", name="Undo").first.click()
    await expect(sleep).to_contain_text("undone")


@pytest.mark.requirement("S3-06")
async def test_mood_and_manner_are_set(person: Visitor, live: Live) -> None:
    page = await person.open("/memory")
    level = page.get_by_label("noradrenaline")
    await level.press("End")
    await expect(page.get_by_role("region", name="Mood")).to_contain_text("recent memories first")
    await level.press("Home")
    await page.get_by_label("Manner of answers").fill("Answer in one line.")
    await page.get_by_role("region", name="Manner").get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved.")).to_be_visible()
    async with live.installation.api() as api:
        shown = await api.get("/v1/memory/personas/default")
        assert shown.json()["text"] == "Answer in one line."
        await api.delete("/v1/memory/personas/default")


async def test_skill_is_tried_on_an_example(person: Visitor) -> None:
    page = await person.open("/skills/remove-duplicates")
    await page.get_by_label("What should it do?").fill("remove the duplicates")
    await page.get_by_role("button", name="Try").click()
    await expect(approval(page)).to_be_enabled()


@pytest.mark.requirement("S2-22", "S2-24")
async def test_programs_of_a_folder_skill_are_shown_before_approval(person: Visitor, live: Live) -> None:
    folder = live.folder("brought", TWINS)
    skill(folder / ".suma" / "skills", "brought", scripts__hi_dot_py="print('<b>hi</b>')")
    page = await person.open("/skills")
    await page.get_by_label("Include the skills of a folder").fill(str(folder))
    await page.get_by_role("link", name=re.compile("brought")).click()
    await expect(page.get_by_text("print('<b>hi</b>')")).to_be_visible()
    await page.get_by_role("button", name="Turn on this version").click()
    await expect(page.get_by_role("button", name="Turn off")).to_be_visible()


async def test_dead_letters_are_shown_and_replayed(person: Visitor, live: Live) -> None:
    await insert_dead_letters(live, "local", "MENDED", 250)
    page = await person.open("/dead-letters")
    group = page.get_by_role("region", name="MENDED")
    await expect(group.get_by_role("heading")).to_contain_text("250 letters")
    await group.get_by_role("button", name=re.compile("remember.requested")).first.click()
    await expect(group.get_by_label("Original event")).to_contain_text("I removed 3 duplicates")
    await group.get_by_role("button", name="Replay all").click()
    await page.get_by_role("dialog").get_by_role("button", name="Replay").click()
    await expect(page.get_by_text("Replayed: 250 letters.")).to_be_visible()
    await expect(group).to_have_count(0)


@pytest.mark.requirement("S3-59")
async def test_key_is_created_rotated_and_revoked(person: Visitor, live: Live) -> None:
    page = await person.open("/keys")
    await page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("nightly")
    await dialog.get_by_label("Principal").fill("robot")
    await dialog.get_by_label("Role").select_option(label="none: only the scopes below")
    await dialog.get_by_label("files:read").check()
    await dialog.get_by_role("button", name="Create").click()
    first = await _shown_key(page)
    assert (await _me(live, first))["scopes"] == ["files:read"]
    await page.get_by_role("button", name="Rotate nightly").click()
    second = await _shown_key(page)
    assert (await _me(live, second))["principal"] == "robot"
    revokes = page.get_by_role("button", name="Revoke nightly")
    for left in (1, 0):
        await revokes.first.click()
        await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        # The list is read again after the dialog is gone.
        await expect(revokes).to_have_count(left)
    assert [(await _me(live, key))["status"] for key in (first, second)] == [401, 401]


async def test_disabled_principal_is_refused(person: Visitor, live: Live) -> None:
    async with live.installation.api() as api:
        key = (await api.post("/v1/admin/keys", json={"principal": "mallory", "roles": ["user"]})).json()["key"]
    page = await person.open("/keys")
    await page.get_by_role("button", name="Disable mallory").click()
    await page.get_by_role("button", name="Disable", exact=True).click()
    await expect(page.get_by_role("button", name="Enable mallory")).to_be_visible()
    assert (await _me(live, key))["status"] == 401


async def test_operations_show_a_service_that_is_down(person: Visitor) -> None:
    page = await person.open("/operations")
    services = page.get_by_role("list", name="Services").get_by_role("listitem")
    await expect(services).to_have_count(len(NAMES))
    await expect(services.filter(has_text="in this process")).to_have_count(len(NAMES))
    answer = await person.context.request.get("/v1/health/services")
    down = {**(await answer.json()), "services": [DOWN]}
    await page.route("**/v1/health/services", lambda route: route.fulfill(json=down))
    await expect(services).to_have_count(1)
    await expect(services).to_have_text("memory servicedoes not answerdown")


@pytest.mark.requirement("S4-54")
async def test_application_can_be_installed(browser: Browser, live: Live, tmp_path: Path) -> None:
    program = chromium()
    assert program is not None
    # Other profiles of these tests are private ones, into which nothing can be installed.
    profile = await browser.browser_type.launch_persistent_context(
        tmp_path, executable_path=program, args=list(OPTIONS), base_url=live.url
    )
    page = await profile.new_page()
    await page.goto("/chat")
    inspector = await profile.new_cdp_session(page)
    assert await inspector.send("Page.getInstallabilityErrors") == {"installabilityErrors": []}
    assert (await inspector.send("Page.getAppManifest"))["errors"] == []
    sizes = await page.evaluate(ICONS)
    await profile.close()
    assert sizes == {"any": sizes["any"], "192x192": "192x192", "512x512": "512x512"}


async def _asked(live: Live, text: str, folder: Path, hitl: str = "bypass") -> tuple[str, str]:
    """Start a task, and wait until it asks."""
    async with live.installation.api() as api:
        body = {"text": text, "root": str(folder), "hitl": hitl}
        said = (await api.post("/v1/sessions/message", json=body)).json()
        await seen(api, said["session_id"], "approval.requested")
    return said["session_id"], said["turn_id"]


async def _done(live: Live, folder: Path) -> tuple[str, str]:
    """Remove a folder's duplicates."""
    session, turn = await _asked(live, "remove duplicates", folder)
    async with live.installation.api() as api:
        await approve_all(api, session, turn)
    return session, turn


def _of_session(page: Page, session: str) -> Locator:
    """The card of a session's question in the inbox."""
    cards = page.get_by_role("region", name=re.compile("^Approval:"))
    return cards.filter(has=page.locator(f"a[href='/chat/{session}']"))


async def _shown_key(page: Page) -> str:
    """Read the new key, which is shown once, and close its dialog."""
    dialog = page.get_by_role("dialog", name="The key nightly")
    key = await dialog.locator("code").inner_text()
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    return key


async def _me(live: Live, key: str) -> dict[str, Any]:
    """Ask as the holder of a key."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=live.url, headers=headers, trust_env=False) as http:
        return dict((await http.get("/v1/me")).json())


def _png(width: int, height: int) -> bytes:
    """Return a black picture."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    pixels = zlib.compress((b"\0" + bytes(3 * width)) * height)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
