"""The whole platform with a real model's vendor on a real port: words reach a viewer as they are said, a kill in the
middle of an answer says nothing twice, and the key is nowhere."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest_asyncio

from tests.infrastructure.vendor import APPROVED, KEY, Turn, Vendor, planned, refused, said
from tests.infrastructure.wish import get
from tests.journeys.installation import Installation, installation
from tests.journeys.terminal import Terminal
from tests.services.gateway.sse import Sse, opened, read

LIST = planned(("manage-files.list", {"path": "."}))


@pytest_asyncio.fixture
async def own(there: Vendor, tmp_path: Path) -> AsyncIterator[Installation]:
    """A platform that thinks with this vendor; its key is in a file, and it logs and traces all that it can."""
    (tmp_path / "secret").write_text(f"{KEY}\n")
    extra = {
        "SUMA_MODEL": "openai:toy",
        "SUMA_MODEL_URL": there.url,
        "SUMA_MODEL_KEY_FILE": str(tmp_path / "secret"),
        "SUMA_LOG": "debug",
        "SUMA_TRACES": str(tmp_path / "spans"),
    }
    async with installation(tmp_path / "installation", **extra) as made:
        (made.folder / "a.txt").write_text("a")
        yield made


async def test_models_command_prints_no_log_lines(own: Installation, there: Vendor) -> None:
    there.play(refused(503), LIST, APPROVED, said("Two", " files."))
    done = await own.run("services.cli", "models")
    assert done.code == 0, done
    assert not [word for word in ("warning", "part=", "stamina") if word in done.out + done.err], done


async def test_a_model_out_of_reach_is_reported_at_the_start(own: Installation, there: Vendor) -> None:
    await there.stop()
    await own.start()
    async with own.api() as client, asyncio.timeout(60):
        while "model" not in (ready := (await client.get("/readyz")).json())["checks"]:
            await asyncio.sleep(0.1)
    assert (ready["checks"]["model"]["ok"], ready["ready"]) == (False, True)
    told = "openai:toy does not answer at"
    offer = "To use the offline planner, unset SUMA_MODEL and restart."
    assert told in ready["checks"]["model"]["detail"]
    lines = [line for line in own.complaints.splitlines() if told in line]
    assert (len(lines), offer in lines[0]) == (1, True)


async def test_answer_streams_and_is_complete_once_after_kill(own: Installation, there: Vendor) -> None:
    there.play(LIST, said("There is ", "a", hangs=True), said("There is ", "one file."))
    await own.start()
    async with own.api() as client:
        session = await _begin(client, own)
        sse = Sse()
        async with opened(client, session) as chunks:
            await read(chunks, sse, until="delta")
        with Terminal(own, "chat", "--session", session) as person:
            await person.answer("There is", None)
    await there.heard(2)
    await own.end(signal.SIGKILL)
    await own.start()
    async with own.api() as client:
        async with opened(client, session, sse.last) as chunks:
            await read(chunks, sse, until="turn.ended")
        paid = (await get(client, "/v1/budgets", session=session))["session"]["tokens"]
    assert (paid["spent"], paid["reserved"] > 16_000) == (240, True), "what was cut off may have been paid for"
    answers = [event["data"] for _, kind, event in sse.events if kind == "message.completed"]
    assert [answer["text"] for answer in answers] == ["There is one file."]
    assert answers[0]["usage"]["model"] == "openai:toy"
    assert [asked.form for asked in there.asked] == ["propose", "", ""], "a plan that is recorded is not paid for again"


async def test_the_key_is_in_nothing_that_the_platform_wrote(own: Installation, there: Vendor, tmp_path: Path) -> None:
    there.play(LIST, Turn(status=401, error=f"Incorrect API key provided: {KEY}"))
    await own.start()
    async with own.api() as client:
        session = await _begin(client, own)
        sse = Sse()
        async with opened(client, session) as chunks:
            await read(chunks, sse, until="turn.ended")
        metrics = (await client.get("/metrics")).text
    assert sse.events[-1][2]["data"]["reason"] == "MODEL_KEY_REFUSED"
    assert 'suma_model_calls_total{model="openai:toy",result="model_key_refused"' in metrics
    told = (await own.suma("config", "--json")).out
    assert "120 " in (await own.suma("budgets")).out
    assert json.loads(told)
    await own.end(signal.SIGTERM)
    files = [file for file in tmp_path.rglob("*") if file.is_file() and file.name != "secret"]
    assert [file for file in files if KEY.encode() in file.read_bytes()] == []
    assert KEY not in metrics + told + str(sse.events)


async def _begin(client: httpx.AsyncClient, own: Installation) -> str:
    made = await client.post("/v1/sessions", json={"root": str(own.folder)})
    session = str(made.json()["session_id"])
    await client.post(f"/v1/sessions/{session}/messages", json={"text": "list my files"})
    return session
