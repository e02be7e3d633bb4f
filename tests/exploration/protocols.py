"""Exploration of the routes outside the document: valid requests with ids of both tenants, and broken ones.

Half of the requests are broken at random places. An answer is no 5xx and no unexplained internal error, its refusals
are JSON, and it holds nothing of the other tenant.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

import httpx

from tests.exploration.explorer import Findings
from tests.exploration.steering import FOREIGN
from tests.exploration.undocumented import MODERN, UNDOCUMENTED, Outside
from tests.exploration.world import Party

Json = Any
AT_ONCE = 8
ANSWER_SECONDS, STREAM_SECONDS = 30.0, 3.0
"""A call may wait for its turn, and that for a person. A stream is judged by what has arrived so far."""
BROKEN, NO_JSON = 0.5, 0.05
"""The share of requests that are broken, and of bodies that are no JSON."""
PLACES = {"id": "{turn_id}", "response": "resp_{turn_id}_0", "model": "suma"}
"""Path parameters that hold another id."""
UNREADABLE = (b"{", b"[]", b"\xff\xfe", b"null", b'"x"', b"", b"[" * 500)
JUNK: Sequence[Json] = (
    *(None, True, 0, -1, 2**63, 1e308, "", "\x00", "\ud800", "x" * 5_000, "../../etc/passwd", "resp_", "_", "{}"),
    *("2026-13-45T99:00:00Z", "WyIyMDI2LTAxLTAxVDAwOjAwOjAwIiwgMV0=", "data:;base64,%", [], {}, [[]], [None], {"": {}}),
    *({"type": "text"}, {"id": 1}, [{"role": "user"}], "'; drop table turns; --", "urn:\u202e", "ROLE_AGENT"),
)
INTERNAL_ERROR = -32603
"""JSON-RPC's own 500. Ours explain themselves in `data`."""


@dataclass(frozen=True)
class Drawn:
    """A request to send as a party."""

    label: str
    me: Party
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    content: bytes | None


class Protocols:
    """Asks the routes of other protocols as each party. Equal arguments ask the same."""

    def __init__(self, url: str, parties: Sequence[Party], found: Findings, seed: int = 1) -> None:
        self._url, self._parties, self._found, self._random = url, parties, found, Random(seed)

    async def each(self, cases: int) -> None:
        """Send each request of each route `cases` times as each party."""
        wishes = [
            self._drawn(label, outside, me, body)
            for label, outside in explored().items()
            for body in outside.bodies
            for me in self._parties
            for _ in range(cases)
        ]
        free = asyncio.Semaphore(AT_ONCE)
        # A kept connection may be closed by the server just as it is used again.
        single = httpx.Limits(max_keepalive_connections=0)
        async with httpx.AsyncClient(base_url=self._url, timeout=None, limits=single, trust_env=False) as http:

            async def ask(drawn: Drawn) -> None:
                async with free:
                    await self._ask(http, drawn)

            await asyncio.gather(*map(ask, wishes))

    def _drawn(self, label: str, outside: Outside, me: Party, body: Json) -> Drawn:
        method, path = label.split(" ")
        path = re.sub(r"\{(\w+)\}", lambda found: PLACES.get(found[1], found[0]), path)
        path, query, body = (self._filled(value, me) for value in (path, dict(outside.query), body))
        if self._random.random() < BROKEN:
            query, body = self._broken(query), self._broken(body)
        headers = dict(self._random.choice((outside.headers, MODERN)) if path == "/mcp" else outside.headers)
        if isinstance(body, dict) and "MCP-Protocol-Version" in headers:
            headers |= _repeated(body)
        query = {name: str(value) for name, value in query.items()} if isinstance(query, dict) else {}
        return Drawn(label, me, method, path, _sendable(query), headers, self._content(method, body))

    def _content(self, method: str, body: Json) -> bytes | None:
        if body is None or method == "GET":
            return None
        if self._random.random() < NO_JSON:
            return self._random.choice(UNREADABLE)
        return json.dumps(body).encode()

    def _filled(self, value: Json, me: Party) -> Json:
        """Return the value with ids for its placeholders."""
        match value:
            case str():
                return re.sub(r"\{(\w+)\}", lambda found: self._known(found[1], me), value)
            case dict():
                return {name: self._filled(part, me) for name, part in value.items()}
            case list():
                return [self._filled(part, me) for part in value]
            case _:
                return value

    def _known(self, name: str, me: Party) -> str:
        foreign = [id for other in self._parties if other is not me for id in other.known[name]]
        return self._random.choice(foreign if self._random.random() < FOREIGN else me.known[name])

    def _broken(self, value: Json) -> Json:
        """Return the value with one to three of its parts replaced, removed or added."""
        for _ in range(self._random.randint(1, 3)):
            value = self._broken_once(value)
        return value

    def _broken_once(self, value: Json) -> Json:
        places = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        if not places or self._random.random() < 0.1:
            return self._random.choice(JUNK)
        place, draw = self._random.choice(list(places)), self._random.random()
        copy = dict(value) if isinstance(value, dict) else list(value)
        if draw < 0.6:
            copy[place] = self._broken_once(copy[place])
        elif draw < 0.8:
            del copy[place]
        elif isinstance(copy, dict):
            copy["unknown"] = self._random.choice(JUNK)
        else:
            copy.append(self._random.choice(JUNK))
        return copy

    async def _ask(self, http: httpx.AsyncClient, drawn: Drawn) -> None:
        me, others = drawn.me, [party for party in self._parties if party is not drawn.me]
        sent = f"{drawn.path} {drawn.query} {(drawn.content or b'').decode('utf-8', 'replace')}"
        me.echoed |= {word for other in others for word in other.own if word in sent}
        hidden = [word for other in others for word in other.own - me.echoed]
        headers = {**drawn.headers, "Authorization": f"Bearer {me.key}"}
        if drawn.content is not None:
            headers["Content-Type"] = "application/json"
        began = time.monotonic()
        try:
            answer = await _answer(http, drawn, headers)
            wrongs = [*_wrongs(answer, hidden)]
        except httpx.TransportError as error:
            answer, wrongs = Answer(0, "", ""), [f"no answer: {type(error).__name__}"]
        shown = f"{sent[:700]} {drawn.headers}\n    → {answer.status} {answer.text[:400]}"
        self._found.note(drawn.label, answer.status, time.monotonic() - began, wrongs, shown)


@dataclass(frozen=True)
class Answer:
    """What arrived of an answer; status 0 if nothing did in time."""

    status: int
    kind: str
    text: str


async def _answer(http: httpx.AsyncClient, drawn: Drawn, headers: dict[str, str]) -> Answer:
    pieces = bytearray()
    status, kind = 0, ""
    with suppress(TimeoutError):
        async with (
            asyncio.timeout(ANSWER_SECONDS) as limit,
            http.stream(
                drawn.method, drawn.path, params=drawn.query, headers=headers, content=drawn.content
            ) as response,
        ):
            status, kind = response.status_code, response.headers.get("content-type", "")
            if "event-stream" in kind:
                limit.reschedule(asyncio.get_running_loop().time() + STREAM_SECONDS)
            async for piece in response.aiter_bytes():
                pieces += piece
    return Answer(status, kind, pieces.decode("utf-8", "replace"))


def explored() -> dict[str, Outside]:
    """Return the routes that are explored here: those of other protocols that need a key. Streams are elsewhere."""
    return {
        label: outside for label, outside in UNDOCUMENTED.items() if not outside.public and not label.startswith("WS ")
    }


def _wrongs(answer: Answer, hidden: Collection[str]) -> Iterator[str]:
    if answer.status >= 500:
        yield f"status {answer.status}"
    if answer.status >= 400 and answer.text and "json" not in answer.kind:
        yield f"status {answer.status} is {answer.kind}, not JSON"
    yield from (f"internal error: {error}" for error in _errors(answer.text) if not error.get("data"))
    if leaked := [word for word in hidden if word in answer.text]:
        yield f"shows what is another tenant's: {leaked[0]}"


def _errors(text: str) -> Iterator[dict[str, Json]]:
    """Yield JSON-RPC's internal errors of an answer, or of a stream's events."""
    for line in text.splitlines():
        with suppress(ValueError):
            said = json.loads(line.removeprefix("data: "))
            error = said.get("error") if isinstance(said, dict) else None
            if isinstance(error, dict) and error.get("code") in (0, INTERNAL_ERROR):
                yield error


def _repeated(body: dict[str, Json]) -> dict[str, str]:
    """Return the headers that repeat a message of MCP, from 2026-07-28 on."""
    params = body.get("params")
    given = params if isinstance(params, dict) else {}
    repeated = {"Mcp-Method": body.get("method"), "Mcp-Name": given.get("name", given.get("uri"))}
    return {name: _header(value) for name, value in repeated.items() if value is not None}


def _header(value: Json) -> str:
    """Return a value as a header that HTTP allows."""
    return re.sub(r"[^\x21-\x7e]", "", str(value))[:100] or "none"


def _sendable(query: dict[str, str]) -> dict[str, str]:
    """Return a query without lone surrogates, which no URL can hold."""
    return {name: value.encode("utf-8", "replace").decode() for name, value in query.items()}
