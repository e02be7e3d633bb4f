"""A client of the public API: plain calls, and event streams that survive a server restart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

import httpx

from libs import ids
from services.cli import certificates
from services.cli.address import Address
from services.cli.errors import NotRunning, Refused
from services.cli.streams import PartialText, SessionEvent, TextDelta, read

Json = Any
TextCallback = Callable[[str, str], None]
"""Receives a turn's ID and the answer text that its model has written so far."""
OutputCallback = Callable[[str, str, str], None]
"""Receives a turn's ID, a step's, and the output that its command has written so far."""
CALL_SECONDS = 30.0
READ_SECONDS = 45.0
"""The server sends something at least every 15 s; after three misses the connection counts as dead."""
STORE_SECONDS = 300.0
"""The longest time in which the server stores the last bytes of a large file."""
RECONNECT_SECONDS = 30.0
"""How long to retry a server that answered before, or that asks for it: it may be restarting."""
RETRY_SECONDS = 0.3
TUS = {"Tus-Resumable": "1.0.0"}
LOCAL = ("127.0.0.1", "localhost", "::1")


class _RetryLater(httpx.TransportError):
    """The server asked for a later retry, as while it stops. It counts as a lost connection."""

    def __init__(self, refusal: Refused) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def _ignore_text(turn: str, text: str) -> None:
    """Ignore partial text, for callers that want only events."""


def _ignore_output(turn: str, step: str, output: str) -> None:
    """Ignore the output of commands, for callers that want only events."""


class Client:
    """A context manager around an HTTP client. Each call raises `NotRunning` or `Refused` with a readable message."""

    def __init__(
        self,
        address: Address,
        *,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
        seconds: float = CALL_SECONDS,
    ) -> None:
        self.address = address
        self._pause = pause
        self._reached = False
        self._lost_at: float | None = None
        self._http = httpx.Client(
            base_url=address.url,
            headers={"Authorization": f"Bearer {address.key}"},
            timeout=seconds,
            transport=transport,
            verify=certificates.verification(address.url),
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
        return str(self.post("/v1/sessions", body)["session_id"])

    def say(
        self,
        session: str,
        text: str,
        *,
        hitl: str | None = None,
        skill: str | None = None,
        agent: str | None = None,
        attachments: Sequence[str] = (),
    ) -> Json:
        """Send a message. Return {session_id, message_id, turn_id, after}; the message is durable by then."""
        asked = {"text": text, "hitl": hitl, "skill": skill, "agent": agent, "attachments": list(attachments) or None}
        body = {name: value for name, value in asked.items() if value is not None}
        return self.post(f"/v1/sessions/{session}/messages", body)

    def answer(self, approval: str, answer: Mapping[str, Json]) -> Json:
        return self.post(f"/v1/approvals/{approval}", answer)

    def prepared(self, approval: str) -> Json:
        """Return the draft of an open approval's answer; None if there is none."""
        return self.get(f"/v1/approvals/{approval}")["draft"]

    def prepare(self, approval: str, digest: str, exclude: Sequence[str]) -> Json:
        """Keep a draft of the answer; return it with the number of changes that it makes and leaves out."""
        draft = {"digest": digest, "exclude": list(exclude)}
        return self._call("PUT", f"/v1/approvals/{approval}/draft", json=draft).json()

    def staged(self, session: str) -> Json:
        """Return the whole staged diff."""
        path = f"/v1/sessions/{session}/diff"
        page = found = self.get(path)
        # Pages of another version are of another diff.
        while page["next"] is not None and page["version"] == found["version"]:
            page = self.get(path, after=page["next"])
            found["entries"] += page["entries"]
        return found

    def resolve(self, effect: str, finding: Mapping[str, Json]) -> Json:
        return self.post(f"/v1/effects/{effect}", finding)

    def cancel(self, turn: str) -> Json:
        return self.post(f"/v1/turns/{turn}/cancel", {})

    def commit(self, session: str, *, exclude: Sequence[str] = ()) -> Json:
        return self.post(f"/v1/sessions/{session}/commit", {"exclude": list(exclude)})

    def rollback(self, session: str, *, target: Mapping[str, Json], exclude: Sequence[str] = ()) -> Json:
        return self.post(f"/v1/sessions/{session}/rollback", {**target, "exclude": list(exclude)})

    def post(self, path: str, body: Mapping[str, Json]) -> Json:
        # Each call has its own idempotency key, so it can be repeated safely after a lost answer.
        return _content(self._call("POST", path, json=body, headers={"Idempotency-Key": ids.new()}))

    def put(self, path: str, body: Mapping[str, Json]) -> Json:
        return self._call("PUT", path, json=body).json()

    def get(self, path: str, **params: str | int) -> Json:
        return self._call("GET", path, params=params).json()

    def delete(self, path: str, **params: str | int) -> Json:
        return _content(self._call("DELETE", path, params=params))

    def events(
        self,
        session: str,
        *,
        after: int = 0,
        until: str | None = None,
        on_text: TextCallback = _ignore_text,
        on_output: OutputCallback = _ignore_output,
    ) -> Iterator[SessionEvent]:
        """Yield the session's events as they happen, each once; with `until`, stop when that turn ends.

        Between events, `on_text` receives a turn's ID and the text that its model has written so far, and `on_output`
        the output of a command.
        """
        while True:
            partial = PartialText()
            try:
                for item in self._stream(session, after, until):
                    if isinstance(item, TextDelta):
                        text = partial.append(item)
                        if item.step_id is None:
                            on_text(item.turn_id, text)
                        else:
                            on_output(item.turn_id, item.step_id, text)
                        continue
                    # Before it is passed on: after a reconnection the server goes on behind it.
                    after = item.seq
                    yield item
                    if until is not None and item.type == "turn.ended" and item.turn_id == until:
                        return
            except httpx.TransportError as error:
                self._check_retry_period(error)
            self._pause(RETRY_SECONDS)

    def page(self, session: str, *, after: int, most: int = 500) -> list[SessionEvent]:
        found = self.get(f"/v1/sessions/{session}/events", stream="false", after=after, limit=most)
        return [SessionEvent.of(event) for event in found["events"]]

    def past_events(self, session: str, *, after: int = 0) -> Iterator[SessionEvent]:
        while page := self.page(session, after=after):
            yield from page
            after = page[-1].seq

    def download(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a file, following redirects. httpx does not send the API key to another host."""
        try:
            with self._http.stream("GET", quote(path), follow_redirects=True) as answer:
                _check(answer, self.address)
                yield from answer.iter_bytes()
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def begin_upload(self, size: int, *, metadata: str) -> str:
        """Announce a file; return the path that takes its bytes."""
        headers = {**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata}
        # Without an idempotency key: after a lost answer a second upload is opened, and the first one expires.
        return str(self._call("POST", "/v1/uploads", headers=headers).headers["Location"])

    def send_bytes(self, place: str, at: int, content: bytes) -> int:
        """Send bytes of a file from an offset on; return the offset from which to go on, also after a lost answer."""
        headers = {**TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": str(at)}
        limits = httpx.Timeout(CALL_SECONDS, read=STORE_SECONDS)
        try:
            answer = self._http.request("PATCH", place, content=content, headers=headers, timeout=limits)
            self._check_available(answer)
        except httpx.TransportError as error:
            self._check_retry_period(error)
            self._pause(RETRY_SECONDS)
        else:
            self._mark_reachable()
            if answer.status_code != httpx.codes.CONFLICT:
                _check(answer, self.address)
                return int(answer.headers["Upload-Offset"])
        # After a lost answer, or a conflict, only the server knows how much has arrived.
        return int(self._call("HEAD", place, headers=TUS).headers["Upload-Offset"])

    def newest_session(self) -> str | None:
        found = self.get("/v1/sessions", limit=1)["sessions"]
        return str(found[0]["session_id"]) if found else None

    def _stream(self, session: str, after: int, until: str | None) -> Iterator[SessionEvent | TextDelta]:
        params = {"until": until} if until is not None else {}
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        limits = httpx.Timeout(CALL_SECONDS, read=READ_SECONDS)
        path = f"/v1/sessions/{session}/events"
        with self._http.stream("GET", path, params=params, headers=headers, timeout=limits) as answer:
            self._check_available(answer)
            self._mark_reachable()
            _check(answer, self.address)
            yield from read(answer.iter_lines())

    def _call(self, method: str, path: str, **request: Any) -> httpx.Response:
        answer = self._answered(method, path, **request)
        self._mark_reachable()
        _check(answer, self.address)
        return answer

    def _answered(self, method: str, path: str, **request: Any) -> httpx.Response:
        while True:
            try:
                answer = self._http.request(method, path, **request)
                self._check_available(answer)
            except httpx.TransportError as error:
                self._check_retry_period(error)
                self._pause(RETRY_SECONDS)
            else:
                return answer

    def _check_available(self, answer: httpx.Response) -> None:
        if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE and "Retry-After" in answer.headers:
            answer.read()
            raise _RetryLater(_refusal(answer, self.address))

    def _mark_reachable(self) -> None:
        self._reached, self._lost_at = True, None

    def _check_retry_period(self, error: httpx.TransportError) -> None:
        """Start or check the retry period. Raises NotRunning or the server's refusal if the server never answered or
        the period is over.
        """
        if self._lost_at is None:
            self._lost_at = time.monotonic()
        if not self._reached or time.monotonic() - self._lost_at > RECONNECT_SECONDS:
            raise self._unreachable(error) from error

    def _unreachable(self, error: httpx.TransportError) -> NotRunning | Refused:
        if isinstance(error, _RetryLater):
            return error.refusal
        if certificates.is_untrusted(error):
            return NotRunning(f"cannot call {self.address.url}: {certificates.UNTRUSTED}")
        return NotRunning(f"Suma does not answer at {self.address.url}: start it with `suma up`")


def _content(answer: httpx.Response) -> Json:
    return answer.json() if answer.content else None


def _check(answer: httpx.Response, address: Address) -> None:
    """Raise `Refused` with the server's own message if the response is an error."""
    if answer.is_success:
        return
    answer.read()
    raise _refusal(answer, address)


def _refusal(answer: httpx.Response, address: Address) -> Refused:
    if answer.status_code == 401:
        return Refused(f"{address.url} does not know the key from {address.key_from}", code="BAD_KEY", status=401)
    try:
        body = answer.json()
    except ValueError:
        body = None
    problem = body if isinstance(body, dict) else {}
    detail = problem.get("detail") or f"{answer.request.method} {answer.request.url.path}: {answer.status_code}"
    errors = "".join(f"; {error['pointer']}: {error['detail']}" for error in problem.get("errors", ()))
    return Refused(f"{detail}{errors}", code=str(problem.get("code", "REFUSED")), status=answer.status_code)
