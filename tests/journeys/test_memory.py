"""What a person asks to be remembered in one session changes the next: by command and over HTTP, with a model and
without.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.infrastructure.vendor import APPROVED, Vendor, planned, said
from tests.infrastructure.wish import answered, files, post
from tests.journeys.installation import Installation, installation

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
