"""A2A 1.0 and 0.3, by the SDK's client."""

from __future__ import annotations

from collections.abc import Mapping

import httpx
from a2a.client import Client
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, ListTasksRequest, Message
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict
from typing_extensions import override

from services.gateway.surfaces.a2a.tasks import STATES
from tests.services.gateway.surfaces.a2a.agent import Agent, message, request
from tests.services.gateway.surfaces.drivers.surface import (
    FILE,
    REFUSED,
    Json,
    Said,
    Surface,
)


class A2a(Surface):
    """A task, by the SDK's client."""

    sure = "task"
    task: Json
    reply = ""

    def __init__(self, agent: Agent, http: httpx.AsyncClient, client: Client, *, lists: bool = True) -> None:
        super().__init__(agent, http)
        self._client, self._lists = client, lists

    @override
    async def ask(self, text: str, way: str) -> str:
        state = await self._sent(message(text, context="mine"))
        self.turn = self.task.id
        self.session = (await self.http.get(f"/v1/turns/{self.turn}")).json()["session_id"]
        return state

    @override
    async def answer(self, way: str, said: Said) -> str:
        asked = self.task.status.message
        digest = "" if said.text else MessageToDict(asked.parts[1].data)["digest"]
        place = {"task": self.turn} if way in ("task", "words") else {"context": "mine"}
        match way:
            case "task" | "form" if not said.text:
                sent = message(data={**said.fields, "digest": digest}, **place)
            case _:
                sent = message(said.words("" if way == "words" else digest), **place)
        if said.file:
            sent.parts.add(raw=FILE, filename="notes.md", media_type="text/markdown")
        try:
            return await self._sent(sent)
        except A2AError:
            self.task = await self._client.get_task(GetTaskRequest(id=self.turn))
            return REFUSED

    @override
    async def dismiss(self) -> str:
        try:
            return _state(await self._client.cancel_task(CancelTaskRequest(id=self.turn)))
        except A2AError:
            return REFUSED

    @override
    async def views(self) -> Mapping[str, str]:
        got = await self._client.get_task(GetTaskRequest(id=self.turn))
        if not self._lists:
            return {"get": _state(got)}
        all = ListTasksRequest(context_id="mine", include_artifacts=True)
        (listed,) = [task for task in (await self._client.list_tasks(all)).tasks if task.id == self.turn]
        assert listed == got
        return {"get": _state(got), "list": _state(listed)}

    @override
    async def more(self, text: str) -> str:
        await self._sent(message(text, context="mine"))
        return self.reply

    async def _sent(self, sent: Message) -> str:
        """Send a message; return the state of the task that follows."""
        async for each in self._client.send_message(request(sent)):
            if each.HasField("task"):
                self.task = each.task
            elif each.HasField("status_update"):
                self.task.status.CopyFrom(each.status_update.status)
            elif each.HasField("artifact_update"):
                self.task.artifacts.append(each.artifact_update.artifact)
        self.reply = next((a.parts[0].text for a in self.task.artifacts if a.artifact_id == "answer"), "")
        return _state(self.task)


def _state(task: Json) -> str:
    """Return the state of a task's turn."""
    (*_, last) = (name for name, state in STATES.items() if state == task.status.state)
    if not last.startswith("awaiting"):
        return last
    return f"awaiting_{MessageToDict(task.status.message.parts[1].data)['type']}"
