"""What a person asks to be remembered in one session changes the next, and what they have put away is found again: by
command and over HTTP, with a model and without.
"""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from tests.infrastructure.vendor import APPROVED, Vendor, planned, said
from tests.infrastructure.wish import answered, files, post
from tests.journeys.installation import Installation, installation
from tests.libs.documents import samples

TEXT = "remember that invoices go to Finance/2026"


def invoices(folder: Path) -> Path:
    folder.mkdir()
    for name in ("invoice-1.pdf", "notes.txt"):
        (folder / name).write_text(name)
    return folder


async def known(live: Installation, folder: Path) -> None:
    """Wait until the facts are there: they are kept just after the answer."""
    async with asyncio.timeout(60):
        while "Finance/2026" not in (await live.suma("run", "where do invoices go?", "--in", str(folder))).out:
            pass


@pytest.mark.requirement("S2-26", "S2-28")
async def test_a_remembered_place_changes_the_next_plan(live: Installation) -> None:
    remembered = await live.suma("run", TEXT, "--in", str(invoices(live.folder / "one")))
    assert (remembered.code, "I will remember" in remembered.out) == (0, True), remembered.err
    await known(live, live.folder / "one")

    done = await live.suma("run", "put away the invoices", "--in", str(invoices(live.folder / "two")), "--yes")
    assert done.code == 0, done.err
    assert files(live.folder / "two") == ["Finance/2026/invoice-1.pdf", "notes.txt"]

    folder = invoices(live.folder / "three")
    async with live.api() as api:
        session = (await post(api, "/v1/sessions", {"root": str(folder)}))["session_id"]
        turn = (await post(api, f"/v1/sessions/{session}/messages", {"text": "put away the invoices"}))["turn_id"]
        await answered(api, session, turn)
    assert files(folder) == ["Finance/2026/invoice-1.pdf", "notes.txt"]

    forgotten = await live.suma("run", "forget where invoices go", "--in", str(folder))
    assert "Forgot 1 fact." in forgotten.out, forgotten.err


@pytest.mark.requirement("S4-22", "S4-27")
async def test_lost_letter_is_found_with_its_file_and_passage(live: Installation) -> None:
    folder = live.folder / "papers"
    (folder / "2024").mkdir(parents=True)
    (folder / "2024" / "scan-0417.txt").write_text("Dear Ann,\n\nthis letter is from your dentist: come on 12 May.\n")
    (folder / "scan-0418.pdf").write_bytes(samples.pdf("Contents", "The dentist's letter: a crown costs 80 euros."))
    (folder / "recipe.txt").write_text("Write a letter to Ann about the soup.\n")
    found = await live.suma("run", "where did I put the dentist letter?", "--in", str(folder))
    assert found.code == 0, found.err
    assert "2024/scan-0417.txt, lines 1–3: Dear Ann, this letter is from your dentist: come on 12 May." in found.out
    assert "scan-0418.pdf, lines 1–2: Contents The dentist’s letter: a crown costs 80 euros." in found.out
    assert "recipe.txt, line" not in found.out


@pytest.mark.requirement("S2-27")
async def test_a_models_prompts_have_the_remembered_facts(there: Vendor, tmp_path: Path) -> None:
    model = {"SUMA_MODEL": "openai:toy", "SUMA_MODEL_URL": there.url, "SUMA_MODEL_KEY": "k"}
    async with installation(tmp_path / "installation", **model) as own:
        await own.start()
        folder = str(invoices(own.folder / "one"))
        remember = planned(("memory.remember", {"text": "invoices go to Finance/2026"}))
        there.play(remember, APPROVED, said("Noted."))
        assert (await own.suma("run", TEXT, "--in", folder)).code == 0
        async with asyncio.timeout(60):
            while "<memory>" not in there.asked[-1].text.replace("between <memory>", ""):
                there.play(planned(("manage-files.list", {"path": "."})), said("Two files."))
                assert (await own.suma("run", "list the files", "--in", folder)).code == 0
        await own.end(signal.SIGKILL)
        await own.start()
        asked = len(there.asked)
        there.play(
            planned(("manage-files.move", {"source": "invoice-1.pdf", "target": "Finance/2026"})),
            APPROVED,
            said("Moved."),
        )
        done = await own.suma("run", "put away the invoices", "--in", folder, "--yes")
        assert done.code == 0, done.err
        assert ["- invoices go to: Finance/2026" in each.text for each in there.asked[asked:]] == [True] * 3
        assert files(own.folder / "one") == ["Finance/2026/invoice-1.pdf", "notes.txt"]
