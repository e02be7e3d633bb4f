"""A gateway in a few lines, in memory: plays a session's events, keeps the answers, and can be cut off anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx

from services.cli.address import Address
from services.cli.client import Client

SESSION, TURN = "s1", "t1"
Event = dict[str, Any]


def event(seq: int, type: str, turn: str = TURN, **data: Any) -> Event:
    return {
        "seq": seq,
        "type": type,
        "turn_id": turn,
        "time": "2026-01-01T00:00:00Z",
        "data": {"turn_id": turn, **data},
    }


def asked(seq: int, approval: str, **data: Any) -> Event:
    about: dict[str, Any] = {
        "kind": "step",
        "digest": f"of {approval}",
        "title": "?",
        "items": [],
        "args": {},
        "diff": None,
        "undo": "",
    }
    return event(seq, "approval.requested", approval_id=approval, **{**about, **data})


def delta(text: str, *, attempt: int = 1, turn: str = TURN) -> Event:
    """Words on their way: without a number, and sent to whoever looks."""
    return {"type": "delta", "turn_id": turn, "call": "c1", "attempt": attempt, "text": text}


class Gateway:
    """`cuts` are byte counts: each stream in turn breaks after so many, and the last goes on to its end."""

    def __init__(
        self, events: list[Event], *, cuts: list[int] | None = None, closed: frozenset[str] = frozenset()
    ) -> None:
        self.events, self.closed = events, closed
        self.posts: list[tuple[str, Any]] = []
        self.read_from: list[int] = []
        self.refusal: httpx.Response | None = None
        self.refusals: dict[str, httpx.Response] = {}
        """By path."""
        self.refused_streams: list[httpx.Response] = []
        """Answers in place of the streams after the first."""
        self._cuts = list(cuts or [])

    def client(self) -> Client:
        there = Address("http://127.0.0.1:1", "suma_key", "the key file", None)
        return Client(there, transport=httpx.MockTransport(self._answer), pause=lambda seconds: None)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if request.method == "POST":
            self.posts.append((path, json.loads(request.content)))
            return self.refusals.get(path) or self.refusal or httpx.Response(202, json={"turn_id": TURN, "after": 0})
        if path.startswith(("/v1/approvals/", "/v1/effects/")):
            return httpx.Response(200, json={"outcome": "approved" if path.split("/")[-1] in self.closed else None})
        if path.endswith("/events"):
            if self.read_from and self.refused_streams:
                return self.refused_streams.pop()
            after = int(request.headers["Last-Event-ID"])
            self.read_from.append(after)
            return httpx.Response(200, content=self._stream(after))
        return httpx.Response(404, json={"detail": "There is no such thing.", "code": "NOT_FOUND"})

    def _stream(self, after: int) -> Iterator[bytes]:
        text = "".join(_written(one) for one in self.events if one.get("seq", after + 1) > after).encode()
        if not self._cuts:
            yield text
            return
        yield text[: self._cuts.pop(0)]
        raise httpx.ReadError("cut off")


def _written(one: Event) -> str:
    number = f"id: {one['seq']}\n" if "seq" in one else ""
    return f"{number}event: {one['type']}\ndata: {json.dumps(one)}\n\n"


Answer = Callable[[httpx.Request], httpx.Response]


def refusing(answer: Answer) -> Client:
    """A client of a server that answers every request thus."""
    there = Address("http://127.0.0.1:1", "suma_key", "the key file", None)
    return Client(there, transport=httpx.MockTransport(answer), pause=lambda seconds: None)
