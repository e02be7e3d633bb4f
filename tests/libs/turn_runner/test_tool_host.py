"""Who may ask the ToolHost, and what a container that lies, floods or is silent gets (S1-10, S1-21, A31)."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from libs.turn_runner.messages import BODY_MOST, Calls, Thought
from libs.turn_runner.tool_host import CONNECTIONS_MOST, SOCKET, Ticket, ToolHost

TOOLS = frozenset({"edit-files.read"})
GOOD = {"calls": [{"tool": "edit-files.read", "args": {"path": "a"}}]}


@dataclass
class Served:
    """A ToolHost that answers at once, and what came through."""

    folder: Path
    ticket: Ticket
    taken: list[Calls | Thought] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.host = ToolHost(self.ticket, self._take, seconds=0.5)

    async def _take(self, asked: Calls | Thought) -> Mapping[str, Any]:
        self.taken.append(asked)
        return {"calls": []}

    async def post(self, body: object, path: str = "/tool", *, token: str | None = None) -> tuple[int, str]:
        """Return the status and the code of the refusal."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token or self.ticket.token}\r\n"
        return answer(await self.send(f"{head}Content-Length: {len(raw)}\r\n\r\n".encode() + raw))

    async def send(self, raw: bytes, *, ends: bool = False) -> bytes:
        reader, writer = await asyncio.open_unix_connection(self.folder / SOCKET)
        try:
            writer.write(raw)
            if ends:
                writer.write_eof()
            return await asyncio.wait_for(reader.read(), 10)
        except ConnectionError:
            return b""
        finally:
            writer.close()


def answer(raw: bytes) -> tuple[int, str]:
    head, _, body = raw.partition(b"\r\n\r\n")
    return (int(head.split()[1]), json.loads(body).get("code", "")) if head else (0, "")


def ticket(turn: str = "t", seconds: float = 60.0) -> Ticket:
    return Ticket(turn, "suma", TOOLS, time.monotonic() + seconds)


@pytest_asyncio.fixture
async def served() -> AsyncIterator[Served]:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        made = Served(Path(folder), ticket())
        await made.host.start(made.folder)
        yield made
        await made.host.close()


async def test_listed_tool_is_taken_with_the_turns_token(served: Served) -> None:
    assert await served.post(GOOD) == (200, "")
    assert await served.post({}, "/model") == (200, "")
    assert [type(each) for each in served.taken] == [Calls, Thought]


@pytest.mark.requirement("S1-21", "A31")
async def test_token_of_another_turn_is_refused(served: Served) -> None:
    assert await served.post(GOOD, token=ticket("other").token) == (403, "TOKEN_REFUSED")
    assert await served.post({}, "/model", token="é\udcff".encode("utf-8", "replace").decode("latin-1")) == (
        403,
        "TOKEN_REFUSED",
    )
    assert served.taken == []


@pytest.mark.requirement("S1-21", "A31")
async def test_unlisted_tool_is_refused(served: Served) -> None:
    both = {"calls": [*GOOD["calls"], {"tool": "edit-files.write"}]}
    assert await served.post(both) == (403, "TOKEN_REFUSED")
    assert served.taken == []


@pytest.mark.requirement("A31")
async def test_expired_token_is_refused() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        served = Served(Path(folder), ticket(seconds=0))
        await served.host.start(served.folder)
        assert await served.post(GOOD) == (403, "TOKEN_REFUSED")
        await served.host.close()


@pytest.mark.requirement("A31")
async def test_token_is_refused_after_the_end(served: Served) -> None:
    await served.host.close()
    with pytest.raises(ConnectionError):
        await served.post(GOOD)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\x00",
        b"[" * 50_000,
        b"{}",
        b"[]",
        b'{"calls": []}',
        b'{"calls": [{"tool": "edit-files.read", "args": {"n": NaN}}]}',
        b'{"calls": [{"tool": "edit-files.read", "args": {"n": "\\ud800"}}]}',
        b'{"calls": [{"tool": "edit-files.read", "args": {"n": "\\u0000"}}]}',
        b'{"calls": [{"tool": "edit-files.read", "args": []}]}',
        b'{"calls": [{"tool": "edit-files.read", "grant": "x"}]}',
        json.dumps({"calls": GOOD["calls"] * 51}).encode(),
        bytes(BODY_MOST + 1),
    ],
    ids=range(13),
)
async def test_body_of_no_use_is_refused(served: Served, body: bytes) -> None:
    assert await served.post(body) in ((422, "BAD_BODY"), (0, ""))
    assert served.taken == []
    assert await served.post(GOOD) == (200, "")


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01 not http\r\n\r\n",
        b"GET /tool HTTP/1.1\r\nHost: h\r\n\r\n",
        b"POST /admin HTTP/1.1\r\nHost: h\r\n\r\n",
        b"POST /tool HTTP/1.1\r\nHost: h\r\nX: " + b"x" * 100_000,
        b"POST /tool HTTP/1.1\r\nHost: h\r\nContent-Length: 99\r\n\r\n{",
        b"POST /tool HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
        b"POST /tool HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /tool HTTP/1.1\r\n",
        b"",
    ],
    ids=range(9),
)
@pytest.mark.parametrize("ends", [True, False])
async def test_garbage_and_silence_are_dropped(served: Served, raw: bytes, ends: bool) -> None:
    assert answer(await served.send(raw, ends=ends))[0] in (0, 404)
    assert await served.post(GOOD) == (200, "")
    assert len(served.taken) == 1


async def test_connections_of_a_container_are_bounded(served: Served) -> None:
    open_ones = [await asyncio.open_unix_connection(served.folder / SOCKET) for _ in range(CONNECTIONS_MOST)]
    assert await served.post(GOOD) == (0, "")
    for _, writer in open_ones:
        writer.close()
    # The silent ones are gone after half a second at the latest.
    async with asyncio.timeout(10):
        while await served.post(GOOD) == (0, ""):
            pass
