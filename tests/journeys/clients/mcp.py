"""The MCP SDK's client: a host whose user answers forms."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult
from typing_extensions import override

from libs import ids
from tests.journeys.clients.conversation import APPROVAL, CLARIFICATION, WITHIN
from tests.journeys.installation import Installation

BEFORE, NOW = "2025-11-25", "2026-07-28"
REVISIONS = {NOW: "auto", BEFORE: "legacy"}
"""How the client connects to each."""


@asynccontextmanager
async def connected(
    url: str, key: str, revision: str, *, headers: Mapping[str, str] | None = None, **callbacks: Any
) -> AsyncIterator[Client]:
    """Yield a client that speaks this revision."""
    sent = {"Authorization": f"Bearer {key}", **(headers or {})}
    async with httpx2.AsyncClient(headers=sent, timeout=WITHIN, trust_env=False) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=REVISIONS[revision], **callbacks) as client:
            assert client.protocol_version == revision
            yield client


@asynccontextmanager
async def before(suma: Installation, folder: Path) -> AsyncIterator[CallConversation]:
    """Hold a conversation in 2025-11-25, whose lost call is followed."""
    made = CallConversation(folder)
    async with connected(suma.url, suma.key, BEFORE, elicitation_callback=made.asked) as made.client:
        yield made


@asynccontextmanager
async def now(suma: Installation, folder: Path) -> AsyncIterator[CallConversation]:
    """Hold a conversation in 2026-07-28, whose lost call is sent again."""
    made = RepeatedCall(folder)
    once = {"Idempotency-Key": ids.new()}
    async with connected(suma.url, suma.key, NOW, headers=once, elicitation_callback=made.asked) as made.client:
        yield made


class CallConversation:
    """One call of `suma_run`, which asks its user until it ends."""

    client: Client

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._call: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._questions: asyncio.Queue[Any] = asyncio.Queue()
        self._answers: asyncio.Queue[ElicitResult] = asyncio.Queue()
        self._began = asyncio.Event()
        self.text = self.turn = ""

    async def asked(self, context: Any, params: Any) -> ElicitResult:
        await self._questions.put(params)
        return await self._answers.get()

    async def say(self, text: str) -> str:
        if not self.text:
            await self.begin(text)
            return await self._heard()
        return await self._answered(answer=text)

    async def approve(self, *, without: str | None = None) -> str:
        return await self._answered(decision="approve", **({"exclude": [without]} if without else {}))

    async def cancel(self) -> str:
        done = await self.client.call_tool("suma_cancel", {"turn_id": self.turn})
        self._answers.put_nowait(ElicitResult(action="cancel"))
        await self._call
        return str(done.structured_content["state"])

    async def begin(self, text: str) -> None:
        self.text = text
        self._call = asyncio.create_task(self.run())
        await self._began.wait()

    async def run(self) -> Any:
        args = {"text": self.text, "root": str(self._folder)}
        return await self.client.call_tool("suma_run", args, progress_callback=self._progress)

    async def rejoin(self) -> None:
        """The SDK resumes the stream by itself, for as long as it tries."""

    async def end(self) -> str:
        try:
            done = await self._call
        except MCPError:
            done = await self.again()
        return str(done.structured_content["answer"])

    async def again(self) -> Any:
        return await self.client.call_tool("suma_follow", {"turn_id": self.turn})

    async def _answered(self, **content: Any) -> str:
        self._answers.put_nowait(ElicitResult(action="accept", content=content))
        return await self._heard()

    async def _heard(self) -> str:
        """Return the kind of the next question, or the state of the call's result."""
        question = asyncio.create_task(self._questions.get())
        await asyncio.wait({self._call, question}, return_when=asyncio.FIRST_COMPLETED)
        if question.done():
            return CLARIFICATION if "answer" in question.result().requested_schema["properties"] else APPROVAL
        question.cancel()
        return str(self._call.result().structured_content["state"])

    async def _progress(self, progress: float, total: float | None, message: str | None) -> None:
        if not self.turn:
            assert message is not None
            self.turn = message.split()[1]
        self._began.set()


class RepeatedCall(CallConversation):
    """A call that is sent again, by the same key, after its stream broke."""

    @override
    async def again(self) -> Any:
        return await self.run()
