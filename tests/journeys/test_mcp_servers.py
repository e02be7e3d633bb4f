"""Suma uses an MCP server, by the commands of its page; and a kill in the middle of a call leaves one call."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import signal
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest_asyncio
from mcp_types import CallToolResult

from tests.infrastructure.vendor import APPROVED, KEY, Vendor, planned, said, vendor
from tests.infrastructure.wish import get
from tests.journeys.installation import ROOT, SECONDS, Installation, installation
from tests.support import mcp_server
from tests.support.mcp_server import TOKEN, ToolServer

PAGE = (ROOT / "docs" / "connect" / "mcp-servers.md").read_text()
CREATE = planned(("tickets.create", {"text": "the build is broken"}))


@pytest_asyncio.fixture
async def tickets() -> AsyncIterator[ToolServer]:
    async with mcp_server.serving() as server:
        server.reset(mcp_server.tool("create", "Create a ticket."))
        yield server


@pytest_asyncio.fixture
async def model() -> AsyncIterator[Vendor]:
    async with vendor() as running:
        yield running


@pytest_asyncio.fixture
async def own(tickets: ToolServer, model: Vendor, tmp_path: Path) -> AsyncIterator[Installation]:
    """A platform with the page's setting, whose address and token are those of a real server."""
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "token").write_text(TOKEN)
    server = json.loads(re.findall(r"MCP_SERVERS='(.*)'", PAGE)[0])["tickets"]
    own = {**server, "url": tickets.url, "token_file": str(tmp_path / "token"), "private": True}
    extra = {
        "SUMA_MODEL": "openai-compatible:toy",
        "SUMA_MODEL_URL": model.url,
        "SUMA_MODEL_KEY_FILE": str(tmp_path / "key"),
        "SUMA_TOOL_EXECUTOR__MCP_SERVERS": json.dumps({"tickets": own}),
    }
    async with installation(tmp_path / "installation", **extra) as made:
        yield made


def commands(page: str) -> Sequence[list[str]]:
    """Return the arguments of each `suma` command on the page, but for the start."""
    found = (shlex.split(line)[1:] for line in re.findall(r"^ *(suma .*)$", page, re.MULTILINE))
    return [words for words in found if words != ["up"]]


async def test_the_page_works_as_written_and_a_kill_repeats_nothing(
    own: Installation, tickets: ToolServer, model: Vendor
) -> None:
    model.play(CREATE, APPROVED, said("The ticket is open."), CREATE, APPROVED)
    await own.start()
    for words in commands(PAGE):
        asks = [*words, "--yes"] if "approve" in words or words[0] == "run" else words
        done = await own.suma(*asks, at=own.folder)
        assert done.code == 0, (words, done)
    assert tickets.calls == [("create", {"text": "the build is broken"})]
    assert tickets.tokens == {f"Bearer {TOKEN}"}

    tickets.arrived.clear()
    tickets.answer = never
    async with own.api() as client:
        sent = (await client.post("/v1/sessions/message", json={"text": "once more"})).raise_for_status()
        assert sent.status_code == 202
        asked = await first(client, "approvals")
        yes = {"verdict": "approve", "digest": asked["digest"]}
        (await client.post(f"/v1/approvals/{asked['approval_id']}", json=yes)).raise_for_status()
    async with asyncio.timeout(SECONDS):
        await tickets.arrived.wait()
    await own.end(signal.SIGKILL)
    await own.start()
    async with own.api() as client:
        assert (await first(client, "effects"))["data"]["tool"] == "tickets.create"
    assert len(tickets.calls) == 2


async def never(args: dict[str, Any]) -> CallToolResult:
    await asyncio.Event().wait()
    raise AssertionError


async def first(client: httpx.AsyncClient, name: str) -> dict[str, Any]:
    """Wait for the first entry of a list."""
    async with asyncio.timeout(SECONDS):
        while not (found := (await get(client, f"/v1/{name}"))[name]):
            await asyncio.sleep(0.1)
    return dict(found[0])
