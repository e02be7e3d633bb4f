"""One whole job on real files, asked for as a client of the HTTP API does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx

WISH = "remove duplicates and sort by type"
MESS = {"a.txt": "same", "b.txt": "same", "song.mp3": "la", "picture.png": "x", "~$letter.docx": "lock"}
LATER = (429, 503)
TIDY = ["Audio/song.mp3", "Documents/b.txt", "Images/picture.png", "~$letter.docx"]


def messy(folder: Path) -> Path:
    folder.mkdir()
    for name, text in MESS.items():
        (folder / name).write_text(text)
    return folder


def files(folder: Path) -> list[str]:
    """What a person sees there."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(path) for path in paths if not path.parts[0].startswith("."))


async def done(api: httpx.AsyncClient, folder: Path) -> dict[str, Any]:
    """Ask for the wish, say yes to whatever is asked, and return how the turn ended: its last event."""
    session, turn = await begun(api, folder)
    return await answered(api, session, turn)


async def begun(api: httpx.AsyncClient, folder: Path) -> tuple[str, str]:
    """Ask for the wish: the session and the turn."""
    session = (await post(api, "/v1/sessions", {"root": str(folder)}))["session_id"]
    return session, (await post(api, f"/v1/sessions/{session}/messages", {"text": WISH}))["turn_id"]


async def answered(api: httpx.AsyncClient, session: str, turn: str) -> dict[str, Any]:
    """Say yes to whatever is asked in a turn, and return its last event."""
    await _approve(api, session)
    async with api.stream("GET", f"/v1/sessions/{session}/events", params={"until": turn}) as stream:
        async for line in stream.aiter_lines():
            if line == "event: approval.requested":
                await _approve(api, session)
    page = await get(api, f"/v1/sessions/{session}/events", stream="false")
    return dict(page["events"][-1])


async def asked(api: httpx.AsyncClient, session: str) -> None:
    """Until a turn waits for a person."""
    async with api.stream("GET", f"/v1/sessions/{session}/events") as stream:
        async for line in stream.aiter_lines():
            if line == "event: approval.requested":
                return


async def get(api: httpx.AsyncClient, path: str, **params: str) -> dict[str, Any]:
    """The answer, at the latest when the server is less busy."""
    answer = await _answered(partial(api.get, path, params=params))
    assert answer.is_success, answer.text
    return dict(answer.json())


async def post(api: httpx.AsyncClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer, at the latest when the server is less busy."""
    answer = await _answered(partial(api.post, path, json=body))
    assert answer.is_success or answer.json().get("code") == "APPROVAL_CLOSED", answer.text
    return dict(answer.json())


async def _answered(ask: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """An answer that says "later" is asked for again then, as a client should."""
    while (answer := await ask()).status_code in LATER:
        await asyncio.sleep(float(answer.headers.get("Retry-After", 1)))
    return answer


async def _approve(api: httpx.AsyncClient, session: str) -> None:
    for question in (await get(api, "/v1/approvals", session=session))["approvals"]:
        body = {"verdict": "approve", "digest": question["digest"]}
        await post(api, f"/v1/approvals/{question['approval_id']}", body)
