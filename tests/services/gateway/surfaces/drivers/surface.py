"""A client of a protocol as the matrix drives it: it begins a turn that asks, answers, and reads the turn in all views.

The clients are the protocols' own where they exist in Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from tests.services.gateway.surfaces.a2a.agent import Agent
from tests.services.gateway.uploading import BYTES, PLACE, metadata

Json = Any
REFUSED = "refused by the protocol"
APPROVAL, CLARIFICATION = "awaiting_approval", "awaiting_clarification"
FILE = b"three bikes"


@dataclass(frozen=True)
class Said:
    """A person's answer: to a clarification if it has a text."""

    text: str = ""
    approve: bool = True
    exclude: tuple[str, ...] = ()
    reason: str = ""
    file: bool = False

    def words(self, digest: str = "") -> str:
        if self.text:
            return self.text
        verb = f"{'approve' if self.approve else 'deny'}{digest and f' {digest[:16]}'}"
        left_out = ", ".join("2" if part == "taxes.pdf" else part for part in self.exclude)
        return f"{verb}{left_out and f' except {left_out}'}{self.reason and f': {self.reason}'}"

    @property
    def fields(self) -> dict[str, Json]:
        about = {"exclude": list(self.exclude), "reason": self.reason}
        return {"approve": self.approve, **{name: value for name, value in about.items() if value}}


class Surface(ABC):
    """One client, and the turn that it began. States are those of turns."""

    sure: str
    """The way that answers whatever is open."""
    turn: str
    session: str

    def __init__(self, agent: Agent, http: httpx.AsyncClient) -> None:
        self.agent, self.http = agent, http

    @abstractmethod
    async def ask(self, text: str, way: str) -> str:
        """Begin a turn whose question will be answered in this way; return its state."""

    @abstractmethod
    async def answer(self, way: str, said: Said) -> str:
        """Answer; return the state of the turn that the answer's own stream or result shows, or REFUSED."""

    @abstractmethod
    async def more(self, text: str) -> str:
        """Send one more message; return its answer."""

    async def dismiss(self) -> str:
        """Leave the question unanswered, in the protocol's own way; return the state."""
        raise NotImplementedError

    async def views(self) -> Mapping[str, str]:
        """Return the state of the turn in each further view of the protocol."""
        return {}

    async def turns(self) -> list[Json]:
        """Return the turns of the client's only session."""
        (session,) = (await self.get("sessions"))["sessions"]
        return list((await self.get(f"sessions/{session['session_id']}/history"))["turns"])

    async def get(self, path: str, **params: str) -> Json:
        """Return what the REST API shows at a path."""
        return (await self.http.get(f"/v1/{path}", params=params)).json()

    async def question(self) -> Json:
        """Return the open approval of the turn; None if there is none."""
        found = (await self.get("approvals", session=self.session))["approvals"]
        return found[0] if found else None

    async def upload(self) -> str:
        headers = {**BYTES, "Upload-Length": str(len(FILE)), "Upload-Metadata": metadata(filename="notes.md")}
        return str((await self.http.post(PLACE, headers=headers, content=FILE)).json()["upload_id"])


def state_after(kind: str, data: Mapping[str, Json]) -> str:
    """Return the state to which an event brings its turn, if it pauses there."""
    asked = {"approval.requested": APPROVAL, "clarification.requested": CLARIFICATION}
    return str(data["state"]) if kind == "turn.ended" else asked.get(kind, "")
