"""Erasure and export of a person's data at the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import pytest_asyncio

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.events import EraseRequested, TurnEnded
from libs.identity.roles import BUNDLES
from libs.keys import Keys
from libs.objects.filesystem import FilesystemObjects
from libs.policy import Policy
from libs.runtime import Subscription
from services.gateway.memory.erasure import ERASURE
from tests.services.gateway.running import RunningGateway, running_gateway
from tests.services.gateway.uploading import BYTES, PLACE

pytestmark = pytest.mark.requirement("S2-28", "P1", "P8")

KEPT: dict[str, list[dict[str, Any]]] = {"rows": []}


class Worker:
    """A conversation worker that notes which sessions it is to erase."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []

    async def erase(self, cause: Cause, event: Any) -> Changeset:
        self.asked.append(cause.session)
        return Changeset(cause)


def empty() -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.MockTransport(lambda _: httpx.Response(200, json=KEPT)), base_url="http://x"
    )


@pytest.fixture
def worker() -> Worker:
    return Worker()


@pytest_asyncio.fixture(loop_scope="session")
async def home(
    gateway_where: Dsns, owner: str, rules: Policy, keys: Keys, worker: Worker, tmp_path: Path
) -> AsyncIterator[RunningGateway]:
    clients = {"tool_executor": empty, "memory_service": empty}
    objects = FilesystemObjects(tmp_path / "objects", max_bytes=1 << 20)
    ports: dict[str, Any] = {"policy": rules, "keys": keys, "clients": clients, "objects": objects}
    heard = [Subscription(EraseRequested, worker.erase)]
    async with running_gateway(gateway_where, owner, heard, **ports) as made:
        yield replace(made, tenant=ids.new())


async def ended_turn(home: RunningGateway, http: httpx.AsyncClient, text: str) -> str:
    """Return a session whose only turn has ended."""
    said = (await http.post("/v1/sessions/message", json={"text": text})).json()
    await home.worker_says(said["session_id"], TurnEnded(turn_id=said["turn_id"], state="completed"))
    return str(said["session_id"])


async def gone(http: httpx.AsyncClient) -> None:
    async with asyncio.timeout(60):
        while (await http.get("/v1/memory/held")).json()["tables"]:
            await asyncio.sleep(0.05)


async def test_erasure_leaves_nothing_of_a_person_but_others(home: RunningGateway, worker: Worker) -> None:
    ada, bob = await home.key(*BUNDLES["user"], principal="ada"), await home.key("*", principal="bob")
    async with home.client(ada) as http, home.client(bob) as other:
        erased = [await ended_turn(home, http, f"ada's {n}") for n in range(2)]
        left = await ended_turn(home, other, "bob's")
        stored = await http.post(PLACE, headers={**BYTES, "Upload-Length": "3"}, content=b"abc")
        assert stored.status_code == 201
        exported = [orjson.loads(line) for line in (await http.get("/v1/memory/export")).text.splitlines()]
        answer = await http.post("/v1/memory/erase", headers={"Idempotency-Key": "once"})
        assert answer.status_code == 202, answer.text
        await gone(http)
        assert (await http.get("/v1/sessions")).json()["sessions"] == []
        assert (await other.get(f"/v1/sessions/{left}/history")).json()["turns"][0]["text"] == "bob's"
    assert sorted(name or "" for name in worker.asked) == ["", *sorted(erased)]
    assert {line["table"] for line in exported[1:]} >= {
        "gateway.session_events",
        "gateway.turns",
        "gateway.attachments",
    }
    assert "bob's" not in str(exported)


async def test_erasure_waits_for_open_turns(home: RunningGateway) -> None:
    async with home.client(await home.key("*", principal="ada")) as http:
        await http.post("/v1/sessions/message", json={"text": "wait"})
        answer = await http.post("/v1/memory/erase")
        assert (answer.status_code, answer.json()["code"]) == (422, "TURNS_OPEN")


async def test_erasure_needs_the_scope_memory(home: RunningGateway) -> None:
    async with home.client(await home.key("chat", principal="ada")) as http:
        assert (await http.post("/v1/memory/erase")).status_code == 403
        assert (await http.get("/v1/memory/export")).status_code == 403


async def test_repeated_erasure_changes_nothing_twice(home: RunningGateway, worker: Worker) -> None:
    async with home.client(await home.key("*", principal="ada")) as http:
        session = await ended_turn(home, http, "once")
        for _ in range(2):
            assert (await http.post("/v1/memory/erase")).status_code == 202
        await gone(http)
        async with asyncio.timeout(60):
            while worker.asked.count(None) < 2:
                await asyncio.sleep(0.05)
    assert worker.asked.count(session) == 1
    assert ERASURE not in str([lease async for lease in leases(home)])


async def leases(home: RunningGateway) -> AsyncIterator[str]:
    for count in await home.platform.leases.counts(home.tenant):
        yield count.kind
