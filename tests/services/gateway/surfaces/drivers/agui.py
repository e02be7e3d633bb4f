"""AG-UI. Its client is JavaScript: here its rules are written out, and the protocol's models parse its events."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import httpx
from ag_ui.core import (
    Event,
    Interrupt,
    ResumeEntry,
    RunAgentInput,
    RunFinishedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    TextMessageContentEvent,
)
from pydantic import TypeAdapter
from typing_extensions import override

from libs import ids
from tests.services.gateway.surfaces.a2a.agent import Agent
from tests.services.gateway.surfaces.drivers.surface import (
    FILE,
    REFUSED,
    Json,
    Said,
    Surface,
)

EVENTS: TypeAdapter[Any] = TypeAdapter(Event)


class AgUi(Surface):
    """A thread with the rules of `@ag-ui/client`: a run that finishes ends its interrupts, and an open one admits no
    message.
    """

    sure = "form"

    def __init__(self, agent: Agent, http: httpx.AsyncClient) -> None:
        super().__init__(agent, http)
        self._thread, self._messages = ids.new(), list[Json]()
        self._pending: list[Interrupt] = []
        self._last: Json = None
        self.text = ""

    @override
    async def ask(self, text: str, way: str) -> str:
        return await self._say(text)

    @override
    async def answer(self, way: str, said: Said) -> str:
        if way == "thread":
            # As a page does that was loaded anew.
            self._pending = []
            words: Json = said.words()
            if said.file:
                source = {"type": "data", "mimeType": "text/markdown", "value": b64encode(FILE).decode()}
                file = {"type": "document", "source": source, "metadata": {"filename": "notes.md"}}
                words = [{"type": "text", "text": words}, file]
            return await self._say(words)
        return await self._resume({"text": said.words()} if way == "words" or said.text else said.fields)

    @override
    async def dismiss(self) -> str:
        return await self._resume(status="cancelled")

    @override
    async def views(self) -> Mapping[str, str]:
        """Return what the last run shows when it is sent again."""
        return {"again": await self._run(self._last)}

    @override
    async def more(self, text: str) -> str:
        assert not self._pending, "the client refuses to send a message while an interrupt is pending"
        await self._say(text)
        return self.text

    async def _say(self, content: Json) -> str:
        self._messages.append({"id": ids.new(), "role": "user", "content": content})
        return await self._run(self._input())

    async def _resume(self, payload: Json = None, status: str = "resolved") -> str:
        (asked,) = self._pending
        entry = ResumeEntry(interrupt_id=asked.id, status=status, payload=payload)
        return await self._run(self._input(resume=[entry]))

    def _input(self, **more: Json) -> Json:
        given = RunAgentInput(
            thread_id=self._thread,
            run_id=ids.new(),
            protocol_version="1.0",
            messages=self._messages,
            **more,
        )
        return given.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def _run(self, given: Json) -> str:
        state: dict[str, Json] = {}
        self._last, self.text = given, ""
        ran = await self.http.post("/agui", json=given)
        if ran.is_error:
            return REFUSED
        for line in ran.text.splitlines():
            if not line.startswith("data: "):
                continue
            event: Json = EVENTS.validate_json(line.removeprefix("data: "))
            match event:
                case StateSnapshotEvent(snapshot=state):
                    self.session, self.turn = state["session_id"], state["turn_id"]
                case StateDeltaEvent():
                    changes = event.model_dump()["delta"]
                    state |= {change["path"].removeprefix("/"): change["value"] for change in changes}
                case TextMessageContentEvent(delta=text):
                    self.text += text
                case RunFinishedEvent(outcome=outcome):
                    self._pending = list(getattr(outcome, "interrupts", ()))
        return str(state["status"])
