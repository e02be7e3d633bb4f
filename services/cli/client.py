"""The public API as the command line uses it: plain calls, and event streams that survive a restart of the server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

import httpx

from libs import ids
from services.cli.address import Address
from services.cli.errors import NotRunning, Refused
from services.cli.streams import Piece, Seen, Speech, read

Json = Any
Heard = Callable[[str, str], None]
"""A turn, and what its model has said by now."""
CALL_SECONDS = 30.0
SILENCE_SECONDS = 45.0
"""The server says something at least every 15 s; after three misses the line is taken for dead."""
GONE_SECONDS = 30.0
"""A server that has answered before and then goes away is waited for this long: it restarts."""
AGAIN_SECONDS = 0.3
LOCAL = ("127.0.0.1", "localhost", "::1")


def _unheard(turn: str, said: str) -> None:
    """For who waits for events alone."""


class Client:
    """`with Client(address) as suma`. Every call raises `NotRunning` or `Refused`, in words for a person."""

    def __init__(
        self,
        address: Address,
        *,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = address
        self._pause = pause
        self._met = False
        self._lost: float | None = None
        self._http = httpx.Client(
            base_url=address.url,
            headers={"Authorization": f"Bearer {address.key}"},
            timeout=CALL_SECONDS,
            transport=transport,
            # Without https there is nothing to verify, and reading the certificates takes as long as the call.
            verify=address.url.startswith("https:"),
            # A proxy cannot reach this machine's own loopback.
            trust_env=urlsplit(address.url).hostname not in LOCAL,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def open_session(self, *, root: Path | None, hitl: str, title: str | None = None) -> str:
        asked = {"root": str(root) if root else None, "hitl": hitl, "title": title}
        body = {name: value for name, value in asked.items() if value is not None}
        return str(self._post("/v1/sessions", body)["session_id"])

    def say(self, session: str, text: str, *, hitl: str | None = None, skill: str | None = None) -> Json:
        """{session_id, message_id, turn_id, after}: durable when this returns."""
        asked = {"text": text, "hitl": hitl, "skill": skill}
        body = {name: value for name, value in asked.items() if value is not None}
        return self._post(f"/v1/sessions/{session}/messages", body)

    def answer(self, approval: str, answer: Mapping[str, Json]) -> Json:
        return self._post(f"/v1/approvals/{approval}", answer)

    def resolve(self, effect: str, finding: Mapping[str, Json]) -> Json:
        return self._post(f"/v1/effects/{effect}", finding)

    def cancel(self, turn: str) -> Json:
        return self._post(f"/v1/turns/{turn}/cancel", {})

    def commit(self, session: str, *, exclude: Sequence[str] = ()) -> Json:
        return self._post(f"/v1/sessions/{session}/commit", {"exclude": list(exclude)})

    def rollback(self, session: str, *, target: Mapping[str, str], exclude: Sequence[str] = ()) -> Json:
        return self._post(f"/v1/sessions/{session}/rollback", {**target, "exclude": list(exclude)})

    def post(self, path: str, body: Mapping[str, Json]) -> Json:
        return self._post(path, body)

    def get(self, path: str, **params: str | int) -> Json:
        return self._call("GET", path, params=params).json()

    def events(
        self, session: str, *, after: int = 0, until: str | None = None, heard: Heard = _unheard
    ) -> Iterator[Seen]:
        """The session's events as they happen, each once; with `until`, to the end of that turn. `heard` is told of a
        turn, between two events, what its model has said by then."""
        while True:
            speech = Speech()
            try:
                for item in self._stream(session, after, until):
                    if isinstance(item, Piece):
                        heard(item.turn_id, speech.hear(item))
                        continue
                    after = item.seq
                    yield item
                    if until is not None and item.type == "turn.ended" and item.turn_id == until:
                        return
            except httpx.TransportError as error:
                self._gone(error)
            self._pause(AGAIN_SECONDS)

    def page(self, session: str, *, after: int, most: int = 500) -> list[Seen]:
        found = self.get(f"/v1/sessions/{session}/events", stream="false", after=after, limit=most)
        return [Seen.of(event) for event in found["events"]]

    def download(self, path: str) -> Iterator[bytes]:
        """What is there, or where the server sends us for it: to another host httpx takes no key along."""
        try:
            with self._http.stream("GET", quote(path), follow_redirects=True) as answer:
                _check(answer, self.address)
                yield from answer.iter_bytes()
        except httpx.TransportError as error:
            raise self._unreachable() from error

    def newest_session(self) -> str | None:
        found = self.get("/v1/sessions", limit=1)["sessions"]
        return str(found[0]["session_id"]) if found else None

    def _stream(self, session: str, after: int, until: str | None) -> Iterator[Seen | Piece]:
        params = {"until": until} if until is not None else {}
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        limits = httpx.Timeout(CALL_SECONDS, read=SILENCE_SECONDS)
        path = f"/v1/sessions/{session}/events"
        with self._http.stream("GET", path, params=params, headers=headers, timeout=limits) as answer:
            self._heard()
            _check(answer, self.address)
            yield from read(answer.iter_lines())

    def _post(self, path: str, body: Mapping[str, Json]) -> Json:
        # With a key of its own it may be sent again, whatever became of it the first time.
        return self._call("POST", path, json=body, headers={"Idempotency-Key": ids.new()}).json()

    def _call(self, method: str, path: str, **request: Any) -> httpx.Response:
        answer = self._answered(method, path, **request)
        self._heard()
        _check(answer, self.address)
        return answer

    def _answered(self, method: str, path: str, **request: Any) -> httpx.Response:
        while True:
            try:
                return self._http.request(method, path, **request)
            except httpx.TransportError as error:
                self._gone(error)
            self._pause(AGAIN_SECONDS)

    def _heard(self) -> None:
        self._met, self._lost = True, None

    def _gone(self, error: httpx.TransportError) -> None:
        """Raises NotRunning where there is nobody to wait for, or was enough waiting."""
        if self._lost is None:
            self._lost = time.monotonic()
        if not self._met or time.monotonic() - self._lost > GONE_SECONDS:
            raise self._unreachable() from error

    def _unreachable(self) -> NotRunning:
        return NotRunning(f"Suma does not answer at {self.address.url}: start it with `make run` (or `suma up`)")


def _check(answer: httpx.Response, address: Address) -> None:
    """Raise what a refusal says, in its own words."""
    if answer.is_success:
        return
    answer.read()
    if answer.status_code == 401:
        raise Refused(f"{address.url} does not know the key from {address.key_from}", code="BAD_KEY", status=401)
    try:
        said = answer.json()
    except ValueError:
        said = None
    problem = said if isinstance(said, dict) else {}
    detail = problem.get("detail") or f"{answer.request.method} {answer.request.url.path}: {answer.status_code}"
    errors = "".join(f"; {error['pointer']}: {error['detail']}" for error in problem.get("errors", ()))
    raise Refused(f"{detail}{errors}", code=str(problem.get("code", "REFUSED")), status=answer.status_code)
