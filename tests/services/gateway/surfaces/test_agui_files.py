"""Files of AG-UI messages, in the parts of each version of the protocol."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import httpx
import pytest

from tests.support.stack import Stack

Json = Any
NOTE = b64encode(b"12345").decode()
PARTS: dict[str, Json] = {
    "0.x": {"type": "binary", "mimeType": "text/plain", "data": NOTE, "filename": "note.txt"},
    "1.0": {
        "type": "document",
        "source": {"type": "data", "mimeType": "text/plain", "value": NOTE},
        "metadata": {"filename": "note.txt"},
    },
}


async def run(http: httpx.AsyncClient, thread: str, *parts: Json) -> httpx.Response:
    message = {"id": "m", "role": "user", "content": list(parts)}
    fixed: Json = {"runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {}}
    return await http.post("/agui", json={**fixed, "threadId": thread, "messages": [message]})


@pytest.mark.parametrize("version", PARTS)
async def test_file_of_each_version_is_attached(stack: Stack, version: str) -> None:
    async with stack.api() as http:
        ran = await run(http, f"file-{version}", {"type": "text", "text": "frobnicate this"}, PARTS[version])
        assert ran.status_code == 200, ran.text
        sessions = (await http.get("/v1/sessions", params={"limit": 1})).json()["sessions"]
        page = await http.get(f"/v1/sessions/{sessions[0]['session_id']}/events", params={"stream": "false"})
    accepted = next(event["data"] for event in page.json()["events"] if event["type"] == "message.accepted")
    (file,) = accepted["attachments"]
    assert (file["filename"], file["media_type"], file["size"]) == ("note.txt", "text/plain", 5)


async def test_address_in_a_binary_part_is_refused(stack: Stack) -> None:
    part = {"type": "binary", "mimeType": "text/plain", "url": "https://example.com/note.txt"}
    async with stack.api() as http:
        refused = await run(http, "remote", part)
    assert (refused.status_code, refused.json()["code"]) == (422, "REMOTE_FILE")
