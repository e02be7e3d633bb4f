"""MCP of both kinds of revision, by the SDK's client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace

import httpx
from mcp_types import ElicitResult
from typing_extensions import override

from tests.services.gateway.surfaces.a2a.agent import Agent
from tests.services.gateway.surfaces.drivers.surface import (
    REFUSED,
    Json,
    Said,
    Surface,
)
from tests.services.gateway.surfaces.mcp.test_limits import connected


class Mcp(Surface):
    """A call, by the SDK's client: its forms are answered while it waits."""

    sure = "form"

    def __init__(self, agent: Agent, http: httpx.AsyncClient, host: AsyncExitStack, revision: str) -> None:
        super().__init__(agent, http)
        self._host, self._revision = host, revision
        self._forms: asyncio.Queue[asyncio.Future[ElicitResult]] = asyncio.Queue()
        self._call: asyncio.Task[Json] | None = None
        self._form: asyncio.Future[ElicitResult] | None = None

    @override
    async def ask(self, text: str, way: str) -> str:
        self._elicits = way != "context"
        given = {"elicitation_callback": self._shown} if self._elicits else {}
        made = replace(self.agent.gateway, owner=self.agent.key)
        self._client = await self._host.enter_async_context(connected(made, self._revision, **given))
        return await self._called("suma_run", text=text)

    @override
    async def answer(self, way: str, said: Said) -> str:
        if way == "context":
            files = {"attachments": [await self.upload()]} if said.file else {}
            return await self._called("suma_run", text=said.words(), session_id=self.session, **files)
        content = (
            {"decision": "approve" if said.approve else "deny", **said.fields}
            if not said.text
            else {"answer": said.text}
        )
        content.pop("approve", None)
        return await self._filled(ElicitResult(action="accept", content=content))

    @override
    async def dismiss(self) -> str:
        return await self._filled(ElicitResult(action="cancel"))

    @override
    async def views(self) -> Mapping[str, str]:
        session: Json = await self._client.read_resource(f"suma://sessions/{self.session}")
        turn: Json = await self._client.read_resource(f"suma://turns/{self.turn}")
        (listed,) = [one for one in json.loads(session.contents[0].text)["turns"] if one["turn_id"] == self.turn]
        return {"get": json.loads(turn.contents[0].text)["state"], "list": listed["state"]}

    @override
    async def more(self, text: str) -> str:
        await self._called("suma_run", text=text, session_id=self.session)
        return str(self.result.structured_content["answer"])

    async def _filled(self, form: ElicitResult) -> str:
        if self._form is None:
            # The call ended with its question: the next one asks anew, if its host has forms.
            if not self._elicits:
                await self.http.post(
                    f"/v1/approvals/{(asked := await self.question())['approval_id']}",
                    json={"verdict": "approve", "digest": asked["digest"]},
                )
            state = await self._called("suma_follow", turn_id=self.turn)
            if not self._elicits:
                return state
        assert self._form is not None
        self._form.set_result(form)
        self._form = None
        return await self._until()

    async def _called(self, tool: str, **args: Json) -> str:
        self._call = asyncio.create_task(self._client.call_tool(tool, args))
        return await self._until()

    async def _until(self) -> str:
        """Wait for the call's next form, or its end; return the state."""
        assert self._call is not None
        form = asyncio.create_task(self._forms.get())
        await asyncio.wait((form, self._call), return_when=asyncio.FIRST_COMPLETED)
        if form.done():
            self._form = form.result()
            (found,) = [turn for turn in await self.turns() if turn["state"].startswith("awaiting")]
            return self._at(found)
        form.cancel()
        self.result = await self._call
        about = self.result.structured_content
        if about is None:
            return REFUSED
        return self._at(about)

    def _at(self, turn: Json) -> str:
        self.session, self.turn = turn["session_id"], turn["turn_id"]
        return str(turn["state"])

    async def _shown(self, context: Json, params: Json) -> ElicitResult:
        form: asyncio.Future[ElicitResult] = asyncio.get_running_loop().create_future()
        await self._forms.put(form)
        return await form
