"""Chat completions and responses, by OpenAI's client."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping

import httpx
import openai
from openai.resources.chat import AsyncChat
from openai.resources.responses import AsyncResponses
from typing_extensions import override

from tests.services.gateway.surfaces.a2a.agent import Agent
from tests.services.gateway.surfaces.clients import user
from tests.services.gateway.surfaces.drivers.surface import (
    FILE,
    REFUSED,
    Json,
    Said,
    Surface,
)

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("suma_approval", "suma_clarification")
]


async def cancelled(responses: AsyncResponses, response: str) -> str:
    """Cancel a response; return the state of its turn, or REFUSED."""
    try:
        done: Json = await responses.cancel(response)
    except openai.APIStatusError:
        return REFUSED
    return str(done.suma["state"])


class Chat(Surface):
    """A chat completion, by OpenAI's client."""

    sure = "thread"

    def __init__(self, agent: Agent, http: httpx.AsyncClient, client: openai.AsyncOpenAI, *, streams: bool) -> None:
        super().__init__(agent, http)
        self._chat: AsyncChat = client.chat
        self._responses: AsyncResponses = client.responses
        self._streams = streams
        self._list: list[Json] = []
        self._fixed: Json = {}

    @override
    async def ask(self, text: str, way: str) -> str:
        self._fixed = {"tools": TOOLS} if way in ("form", "words") else {}
        return await self._said(user(text))

    @override
    async def answer(self, way: str, said: Said) -> str:
        words: Json = said.words()
        if said.file:
            data = f"data:text/markdown;base64,{b64encode(FILE).decode()}"
            words = [
                {"type": "text", "text": words},
                {"type": "file", "file": {"file_data": data, "filename": "notes.md"}},
            ]
        calls = self._list[-1].get("tool_calls")
        if calls and way != "context":
            content = words if way == "words" or said.text else json.dumps(said.fields)
            return await self._said({"role": "tool", "tool_call_id": calls[0]["id"], "content": content})
        if way == "context":
            self._list = []
        about = {"metadata": {"suma_session_id": self.session}} if way == "context" else {}
        return await self._said(user(words), **about)

    @override
    async def dismiss(self) -> str:
        return await cancelled(self._responses, self._response)

    @override
    async def views(self) -> Mapping[str, str]:
        got: Json = await self._responses.retrieve(self._response)
        return {"get": got.suma["state"]}

    @override
    async def more(self, text: str) -> str:
        await self._said(user(text))
        return str(self._list[-1]["content"])

    async def _said(self, sent: Json, **about: Json) -> str:
        """Add a message to the list, and send the list; return the state that the answer shows."""
        self._list.append(sent)
        given: Json = {"model": "suma", "messages": self._list, **self._fixed, **about}
        try:
            if self._streams:
                async with self._chat.completions.stream(**given) as stream:
                    last: Json = [event async for event in stream if event.type == "chunk"][-1]
                    done: Json = await stream.get_final_completion()
                shown = last.chunk.suma
            else:
                done = await self._chat.completions.create(**given)
                shown = done.suma
        except openai.APIStatusError:
            return REFUSED
        self._response = "resp_" + done.id.removeprefix("chatcmpl-")
        self._list.append(done.choices[0].message.model_dump(exclude_none=True))
        self.session, self.turn = shown["session_id"], shown["turn_id"]
        return str(shown["state"])


class Responses(Surface):
    """A response, by OpenAI's client."""

    sure = "task"

    def __init__(self, agent: Agent, http: httpx.AsyncClient, client: openai.AsyncOpenAI, *, streams: bool) -> None:
        super().__init__(agent, http)
        self._responses: AsyncResponses = client.responses
        self._streams = streams
        self._items: list[Json] = []
        self.last: Json = None

    @override
    async def ask(self, text: str, way: str) -> str:
        return await self._said([user(text)])

    @override
    async def answer(self, way: str, said: Said) -> str:
        request = self.last.output[-1]
        if said.text or way in ("words", "thread"):
            part = {"type": "input_file", "file_data": f"data:text/markdown;base64,{b64encode(FILE).decode()}"}
            files = [{**part, "filename": "notes.md"}] if said.file else []
            item: Json = user([{"type": "input_text", "text": said.words()}, *files])
        else:
            about = {"type": "mcp_approval_response", "approval_request_id": request.id}
            item = {**about, **said.fields}
        match way:
            case "task" | "words":
                return await self._said([item], previous_response_id=self.last.id)
            case "context":
                return await self._said([item], conversation=self.session)
            case "thread":
                return await self._said([*self._items, item])
            case _:
                return await self._said([item])

    @override
    async def dismiss(self) -> str:
        return await cancelled(self._responses, self.last.id)

    @override
    async def views(self) -> Mapping[str, str]:
        got: Json = await self._responses.retrieve(self.last.id)
        return {"get": got.suma["state"]}

    @override
    async def more(self, text: str) -> str:
        await self._said([user(text)], previous_response_id=self.last.id)
        return str(self.last.output_text)

    async def _said(self, items: list[Json], **place: Json) -> str:
        given: Json = {"model": "suma", "input": items, **place}
        try:
            if self._streams:
                events: list[Json] = [event async for event in await self._responses.create(**given, stream=True)]
                done = events[-1].response
            else:
                done = await self._responses.create(**given)
        except openai.APIStatusError:
            return REFUSED
        self.last, self._items = done, [*items, *done.model_dump(mode="json", exclude_none=True)["output"]]
        self.session, self.turn = done.suma["session_id"], done.suma["turn_id"]
        return str(done.suma["state"])
