"""A person's mind over the API: a rating, neuromodulators, a persona and a sleep reach recall and answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.infrastructure.vendor import KEY, Vendor, planned, said
from tests.infrastructure.wish import get
from tests.journeys.installation import Installation, installation

LIST = planned(("manage-files.list", {"path": "."}))
PERSONA = "Answer like a pirate."


@pytest_asyncio.fixture
async def own(there: Vendor, tmp_path: Path) -> AsyncIterator[Installation]:
    (tmp_path / "secret").write_text(f"{KEY}\n")
    extra = {
        "SUMA_MODEL": "openai:toy",
        "SUMA_MODEL_URL": there.url,
        "SUMA_MODEL_KEY_FILE": str(tmp_path / "secret"),
        "SUMA_MEMORY_SERVICE__MIND_SECONDS": "0",
    }
    async with installation(tmp_path / "installation", **extra) as made:
        (made.folder / "a.txt").write_text("a")
        yield made


async def sent(client: httpx.AsyncClient, method: str, path: str, body: Any = None) -> Any:
    answer = await client.request(method, path, json=body)
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


async def turn_of(client: httpx.AsyncClient, own: Installation, session: str = "") -> tuple[str, str]:
    """Run a turn in this session, or a new one, and return the ids of both."""
    session = session or (await sent(client, "POST", "/v1/sessions", {"root": str(own.folder)}))["session_id"]
    turn = (await sent(client, "POST", f"/v1/sessions/{session}/messages", {"text": "list my files"}))["turn_id"]
    async with asyncio.timeout(60):
        while (shown := await get(client, f"/v1/turns/{turn}"))["ended_at"] is None:
            await asyncio.sleep(0.05)
    assert shown["state"] == "completed", shown
    return session, turn


def instructions(there: Vendor) -> str:
    """Return the system prompt of the last request."""
    return str(there.asked[-1].body["messages"][0]["content"])


@pytest.mark.requirement("S3-06", "S3-12")
async def test_mind_reaches_answers_and_recall(own: Installation, there: Vendor) -> None:
    there.play(LIST, said("One file."), LIST, said("One file, arr."))
    await own.start()
    async with own.api() as client:
        await turn_of(client, own)
        assert PERSONA not in instructions(there)
        await sent(client, "PUT", "/v1/memory/personas/default", {"text": PERSONA})
        await sent(client, "PUT", "/v1/memory/modulators", {"serotonin": 0.9})
        session, turn = await turn_of(client, own)
        assert PERSONA in instructions(there)
        assert "how the person seems to feel" in instructions(there)
        await sent(client, "PUT", f"/v1/turns/{turn}/rating", {"score": -1})
        await sent(client, "PUT", f"/v1/turns/{turn}/rating", {"score": 1})
        found = (await get(client, "/v1/memory/search", query="files", session=session))["memories"]
        assert {"feedback"} <= {source["name"] for memory in found for source in memory["sources"]}
        memory = found[-1]["id"]
        assert found[-1]["turn_id"] == turn
        await sent(client, "PUT", f"/v1/memory/memories/{memory}/rating", {"score": 0.5, "comment": "Useful."})
        again = (await get(client, "/v1/memory/search", query="files", session=session))["memories"]
        assert {one["id"]: one["score"] for one in again}[memory] > found[-1]["score"]
        ratings = (await get(client, "/v1/memory/ratings"))["ratings"]
        assert [(one["subject"], one["score"]) for one in ratings] == [(memory, 0.5), (turn, 1.0)]
        missing = await client.put(f"/v1/memory/memories/{session}/rating", json={"score": 1})
        assert (missing.status_code, missing.json()["code"]) == (404, "NO_SUCH_MEMORY")
        weights = (await get(client, "/v1/memory/adaptation"))["weights"]
        assert min(weight["weight"] for weight in weights) > 1
        await sent(client, "DELETE", "/v1/memory/adaptation")
        assert (await get(client, "/v1/memory/adaptation"))["weights"] == []


@pytest.mark.requirement("S3-06")
async def test_sleep_is_run_and_undone_over_the_api(own: Installation, there: Vendor) -> None:
    there.play(LIST, said("One file."))
    await own.start()
    async with own.api() as client:
        await turn_of(client, own)
        begun = await sent(client, "POST", "/v1/memory/sleeps", {"nrem": True, "rem": True})
        async with asyncio.timeout(60):
            while (state := await get(client, "/v1/memory/sleeps"))["sleeps"][0]["state"] == "running":
                await asyncio.sleep(0.05)
        [report] = state["sleeps"]
        assert (report["id"], report["state"]) == (begun["id"], "done")
        await sent(client, "POST", f"/v1/memory/sleeps/{begun['id']}/undo")
        again = await client.post(f"/v1/memory/sleeps/{begun['id']}/undo")
        assert (again.status_code, again.json()["code"]) == (409, "CONFLICT")
        await sent(client, "DELETE", "/v1/memory/personas/default")
        assert (await get(client, "/v1/memory/personas/default"))["text"] == ""


@pytest.mark.requirement("S0-04")
async def test_turn_shows_the_memories_that_it_was_planned_with(own: Installation, there: Vendor) -> None:
    there.play(LIST, said("One file."), LIST, said("The same file."))
    await own.start()
    async with own.api() as client:
        session, first = await turn_of(client, own)
        assert (await get(client, f"/v1/turns/{first}/memories"))["memories"] == []
        async with asyncio.timeout(60):
            while not (await get(client, "/v1/memory/search", query="files", session=session))["memories"]:
                await asyncio.sleep(0.05)
        asked = len(there.asked)
        _, turn = await turn_of(client, own, session)
        given = (await get(client, f"/v1/turns/{turn}/memories"))["memories"]
        assert given
        assert all(one["text"] in there.asked[asked].text and one["sources"] for one in given)
        await sent(client, "DELETE", f"/v1/memory/memories/{given[0]['id']}")
        again = (await get(client, f"/v1/turns/{turn}/memories"))["memories"]
        assert again == [{**given[0], "text": None}, *given[1:]]
        shown = await own.suma("memory", "recalled", turn)
        assert (shown.code, "(forgotten)" in shown.out) == (0, True), shown.err


GUIDE = {
    "rate up that was right": "rated up",
    "ratings": "that was right",
    "ratings --reset": "that was right",
    "sleep": "done",
    "sleeps": "Memories that wait for sleep:",
    "wake": "undid the sleep",
    "mood --noradrenaline 0.4": "recent memories come first",
    "mood --noradrenaline 0": "focus 0.50",
    "persona Answer in one line.": "Answer in one line.",
    "persona --clear": "No manner is asked for",
    "search files": "words #1",
}
"""The commands of docs/memory.md, and a part of the answer to each."""


@pytest.mark.requirement("S3-06", "S3-12")
async def test_commands_of_the_guide_answer_as_it_says(live: Installation) -> None:
    folder = live.folder / "guided"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    assert (await live.suma("run", "list my files", "--in", str(folder))).code == 0
    for command, part in GUIDE.items():
        answer = await live.suma("memory", *command.split())
        assert part in answer.out, (command, answer)
