"""What the tests of several protocols share: clients, and folders to work in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import openai

from tests.infrastructure import agui

Json = Any
DUPLICATES = {"a_txt": "same", "b_txt": "same", "c_txt": "other", "d_txt": "other", "kept_txt": "alone"}
"""Two groups of duplicates, and a file of its own."""


class Reached(Protocol):
    """A platform that clients reach."""

    @property
    def url(self) -> str: ...

    @property
    def key(self) -> str: ...


def client_of(at: Reached, key: str | None = None, *, retries: int = 0) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{at.url}/v1", api_key=key or at.key, max_retries=retries, timeout=60)


def names(folder: Path) -> list[str]:
    """Return the names of a folder's files, without Suma's own."""
    return sorted(path.name for path in folder.iterdir() if path.name != ".suma")


def user(content: Json) -> Json:
    return {"role": "user", "content": content}


class Chat:
    """A chat as any client keeps it: the whole list of messages, sent with each call."""

    def __init__(self, client: openai.AsyncOpenAI, **fixed: Json) -> None:
        self._client, self._fixed = client, fixed
        self.messages: list[Json] = []
        self.last: Json = None

    async def say(self, text: str) -> str:
        return await self._sent(user(text))

    async def result(self, content: str) -> str:
        (call,) = self.last.choices[0].message.tool_calls
        return await self._sent({"role": "tool", "tool_call_id": call.id, "content": content})

    async def _sent(self, message: Json) -> str:
        self.messages.append(message)
        self.last = await self._client.chat.completions.create(model="suma", messages=self.messages, **self._fixed)
        self.messages.append(self.last.choices[0].message)
        return str(self.last.choices[0].message.content)


class Thread:
    """A front end's thread, by name."""

    def __init__(self, client: agui.Client, at: Reached, name: str, key: str | None = None, **props: Json) -> None:
        self._client, self._url, self._name, self._key = client, at.url, name, key or at.key
        self._props = props

    async def say(self, message: Json, **params: Json) -> agui.Seen:
        return await self._run(message, forwardedProps=self._props, **params)

    async def resume(self, seen: agui.Seen, payload: Json = None, *, status: str = "resolved") -> agui.Seen:
        (interrupt,) = seen.interrupts
        return await self._run(resume=[{"interruptId": interrupt["id"], "status": status, "payload": payload}])

    async def _run(self, message: Json = None, **params: Json) -> agui.Seen:
        return await self._client.run(self._url, self._key, self._name, message, **params)
