"""Hostile requests over real HTTP: whatever they hold, the event loop of the platform soon serves others again.

A callback is measured by the processor time of the loop's thread, which other programs of the machine do not change.
"""

from __future__ import annotations

import asyncio
import gc
import time
from asyncio.events import Handle
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio

from libs.embedded.postgres import Postgres
from tests import infrastructure
from tests.hostile.test_parsers import UNITS
from tests.services.gateway.uploading import TUS
from tests.support.stack import Stack, served
from tests.support.surfaces import ACCEPT, SURFACES

Json = Any
SECONDS = 0.1
"""The most that one callback may take of a processor."""
SILENT_SECONDS = 0.5
"""The most that the process may, all threads and the client of the test together, while one small request waits."""
LINE, TEXT, BODY, INLINE = 4_000, 90_000, 900_000, 9_000_000
"""Characters of a hostile header or path, of a text that is accepted, and of bodies that are read."""


@dataclass(frozen=True)
class Place:
    """A part of a request where a client may put any text, of at most so many characters; `§` stands for it."""

    method: str
    path: str
    body: Json = None
    headers: Mapping[str, str] = field(default_factory=dict)
    most: int = TEXT

    def ask(self, client: httpx.Client, unit: str) -> int:
        """Send a text of this unit; return the status, or 0 if no client can send it."""
        line = unit * (LINE // len(unit))
        body = filled(self.body, unit * (self.most // len(unit)))
        content = body.encode("utf-8", "replace") if isinstance(body, str) else None
        headers = {name: filled(text, line).encode("utf-8", "replace") for name, text in self.headers.items()}
        path = filled(self.path, quote(line, safe="")[:LINE])
        try:
            json = body if content is None else None
            return client.request(self.method, path, json=json, content=content, headers=headers).status_code
        except httpx.LocalProtocolError:
            return 0


def filled(value: Json, text: str) -> Json:
    match value:
        case str():
            return value.replace("§", text)
        case dict():
            return {name: filled(part, text) for name, part in value.items()}
        case list():
            return [filled(part, text) for part in value]
        case _:
            return value


VERDICT = {"verdict": "deny", "digest": "§", "reason": "§", "exclude": ["§"]}
JSON: Mapping[str, str] = {"Content-Type": "application/json"}
A2A, MCP = {**JSON, "A2A-Version": "1.0"}, {**JSON, "Accept": ACCEPT}
PLACES: Mapping[str, Place] = {
    **{name: Place("POST", *astuple(made("§", False))) for name, made in SURFACES.items()},
    "a message": Place("POST", "/v1/sessions/message", {"text": "§", "title": "§", "root": "§"}),
    "an answer": Place("POST", "/v1/approvals/none", VERDICT),
    "a body": Place("POST", "/v1/sessions/message", "§", JSON, BODY),
    "a list in a body": Place("POST", "/v1/sessions/message", '{"attachments": [§ 0], "text": "x"}', JSON, BODY),
    "a body of A2A": Place("POST", "/a2a", "§", A2A, BODY),
    "a list in a body of A2A": Place("POST", "/a2a", '{"params": [§ 0], "method": "GetTask"}', A2A, BODY),
    "a body of MCP": Place("POST", "/mcp", "§", MCP, BODY),
    "a list in a body of MCP": Place("POST", "/mcp", '{"params": [§ 0], "method": "tools/call", "id": 1}', MCP, BODY),
    "a list in an inline body": Place("POST", "/v1/responses", '{"input": [§ 0], "model": "suma"}', JSON, INLINE),
    "a list in a run": Place("POST", "/agui", '{"messages": [§ 0], "threadId": "x"}', JSON, INLINE),
    "a search": Place("GET", "/v1/sessions?words=§&before=§"),
    "a path": Place("GET", "/x§"),
    "an id": Place("GET", "/v1/turns/x§"),
    "the name of a response": Place("GET", "/v1/responses/x§"),
    "a key": Place("GET", "/v1/me", headers={"Authorization": "Bearer §"}),
    "a token": Place("GET", "/v1/me", headers={"Authorization": "Bearer eyJ§.§.§"}),
    "a cookie": Place("GET", "/v1/me", headers={"Authorization": "", "Cookie": "suma_session=§; §"}),
    "headers of a read": Place("GET", "/v1/sessions", None, {"If-None-Match": "§", "Range": "bytes=§", "Accept": "§"}),
    "headers of a write": Place("POST", "/v1/sessions", {}, {"Idempotency-Key": "§", "Origin": "§"}),
    "headers of a stream": Place("GET", "/v1/sessions/none/events", headers={"Last-Event-ID": "§", "Accept": "§"}),
    "a host": Place("GET", "/v1/sessions", headers={"Host": "§"}),
    "an upload": Place("POST", "/v1/uploads", "", {**TUS, "Upload-Length": "5", "Upload-Metadata": "filename §,§ §"}),
}


class Measure:
    """The processor time for which the event loop serves nobody else."""

    def __init__(self) -> None:
        self.unit = ""
        """What the hostile request consists of."""
        self.callback = (0.0, "", "")
        """Of the loop's thread, in its longest callback."""
        self.silence = (0.0, "")
        """Of the whole process, between two answers to a request that needs nothing: another thread may hold the
        interpreter.
        """

    @contextmanager
    def of_callbacks(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Measure each callback of this thread. Collections of garbage are not of any callback."""
        runs = Handle._run

        def run(handle: Handle) -> None:
            began = time.thread_time()
            runs(handle)
            if (spent := time.thread_time() - began) > self.callback[0]:
                self.callback = spent, self.unit, repr(handle)

        gc.collect()
        gc.disable()
        try:
            with monkeypatch.context() as patch:
                patch.setattr(Handle, "_run", run)
                yield
        finally:
            gc.enable()

    async def of_answers(self, stack: Stack, asking: asyncio.Future[Any]) -> None:
        """Measure the answers to `/healthz` while requests are answered."""
        async with stack.api() as api:
            while not asking.done():
                began = time.process_time()
                assert (await api.get("/healthz")).status_code == 200
                self.silence = max(self.silence, (time.process_time() - began, self.unit))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stack(server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    each: Mapping[str, Any] = {f"requests_per_minute{name}": 1_000_000 for name in ("", "_each", "_route")}
    async with infrastructure.fresh_database(server) as where:
        folder: Path = tmp_path_factory.mktemp("stack")
        async with served(where, folder, settings={**each, "requests_per_minute_by_route": {}}) as made:
            yield made


@pytest.mark.requirement("A22")
@pytest.mark.parametrize("place", PLACES)
async def test_hostile_requests_do_not_hold_the_event_loop(
    stack: Stack, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = Measure()
    with measure.of_callbacks(monkeypatch):
        asking = asyncio.ensure_future(asyncio.to_thread(send, stack, PLACES[place], measure))
        await measure.of_answers(stack, asking)
        statuses = await asking
    assert {unit: status for unit, status in statuses.items() if status >= 500} == {}
    assert measure.callback[0] < SECONDS, measure.callback
    assert measure.silence[0] < SILENT_SECONDS, measure.silence


async def test_callback_that_holds_the_event_loop_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = Measure()
    with measure.of_callbacks(monkeypatch):
        asyncio.get_running_loop().call_soon(sum, range(20_000_000))
        await asyncio.sleep(0)
    assert measure.callback[0] > SECONDS


async def test_thread_that_holds_the_interpreter_is_found(stack: Stack) -> None:
    measure = Measure()
    holding = asyncio.to_thread(sum, range(60_000_000))
    await measure.of_answers(stack, asyncio.ensure_future(holding))
    assert measure.silence[0] > SILENT_SECONDS


def send(stack: Stack, place: Place, measure: Measure) -> Mapping[str, int]:
    """Send a hostile request of each unit; return the statuses of their answers."""
    headers, found = {"Authorization": f"Bearer {stack.key}"}, dict[str, int]()
    with httpx.Client(base_url=stack.url, headers=headers, timeout=60, trust_env=False) as client:
        for measure.unit in UNITS:
            found[measure.unit] = place.ask(client, measure.unit)
    return found
