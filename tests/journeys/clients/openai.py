"""OpenAI's client: chat completions, and responses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai

from tests.journeys.clients.conversation import APPROVAL, CLARIFICATION
from tests.journeys.installation import Installation
from tests.services.gateway.surfaces.clients import Chat, client_of

Json = Any
RETRIES = 20
ASKS = {"awaiting_clarification": CLARIFICATION, "awaiting_approval": APPROVAL}


@asynccontextmanager
async def chat(suma: Installation, folder: Path) -> AsyncIterator[ChatConversation]:
    async with client_of(suma, retries=RETRIES) as client:
        yield ChatConversation(client, folder)


@asynccontextmanager
async def responses(suma: Installation, folder: Path) -> AsyncIterator[ResponsesConversation]:
    async with client_of(suma, retries=RETRIES) as client:
        yield ResponsesConversation(client, folder)


class ChatConversation:
    """A chat: the answer to a question is the next message."""

    def __init__(self, client: openai.AsyncOpenAI, folder: Path) -> None:
        self._client, self._chat = client, Chat(client, metadata={"root": str(folder)})
        self._open: asyncio.Task[str] | None = None

    async def say(self, text: str) -> str:
        await self._chat.say(text)
        return _state(self._chat.last)

    async def approve(self, *, without: str | None = None) -> str:
        return await self.say(f"approve except {without}" if without else "approve")

    async def cancel(self) -> str:
        response = "resp_" + self._chat.last.id.removeprefix("chatcmpl-")
        return _state(await self._client.responses.cancel(response))

    async def begin(self, text: str) -> None:
        self._open = asyncio.create_task(self._chat.say(text))

    async def rejoin(self) -> None:
        """The client sends the request again by itself."""

    async def end(self) -> str:
        assert self._open is not None
        return await self._open


class ResponsesConversation:
    """Responses, each continued from the one before."""

    def __init__(self, client: openai.AsyncOpenAI, folder: Path) -> None:
        self._client, self._folder = client, folder
        self._last: Json = None
        self._events: Json = None

    async def say(self, text: str) -> str:
        return await self._sent(text)

    async def approve(self, *, without: str | None = None) -> str:
        request = self._last.output[-1]
        left_out = [item["id"] for item in json.loads(request.arguments).get("items", ()) if item["id"] == without]
        assert bool(left_out) == bool(without)
        answer = {"type": "mcp_approval_response", "approval_request_id": request.id, "approve": True}
        return await self._sent([{**answer, "exclude": left_out}])

    async def cancel(self) -> str:
        return _state(await self._client.responses.cancel(self._last.id))

    async def begin(self, text: str) -> None:
        self._events = await self._create(text, stream=True)
        self._last = (await anext(self._events)).response

    async def rejoin(self) -> None:
        try:
            async for _ in self._events:
                pass
        except openai.APIConnectionError:
            pass
        self._events = await self._client.responses.retrieve(self._last.id, stream=True)

    async def end(self) -> str:
        async for event in self._events:
            self._last = getattr(event, "response", self._last)
        return str(self._last.output_text)

    async def _sent(self, said: Json) -> str:
        self._last = await self._create(said)
        return _state(self._last)

    async def _create(self, said: Json, **more: Json) -> Json:
        place = {"previous_response_id": self._last.id} if self._last else {"metadata": {"root": str(self._folder)}}
        return await self._client.responses.create(model="suma", input=said, **place, **more)


def _state(answer: Json) -> str:
    state = str(answer.suma["state"])
    return ASKS.get(state, state)
