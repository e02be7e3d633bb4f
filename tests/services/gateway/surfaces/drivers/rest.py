"""The REST API, with its event stream."""

from __future__ import annotations

from typing_extensions import override

from tests.services.gateway.sse import Sse, opened
from tests.services.gateway.surfaces.drivers.surface import (
    REFUSED,
    Json,
    Said,
    Surface,
    state_after,
)


class Rest(Surface):
    """The REST API, with its event stream."""

    sure = "form"
    _asked: Json
    """The question that the client was shown."""

    @override
    async def ask(self, text: str, way: str) -> str:
        return await self._followed((await self.http.post("/v1/sessions/message", json={"text": text})).json())

    @override
    async def answer(self, way: str, said: Said) -> str:
        if way == "context":
            files = {"attachments": [await self.upload()]} if said.file else {}
            sent = await self.http.post(f"/v1/sessions/{self.session}/messages", json={"text": said.text, **files})
        else:
            verdict = "override" if said.exclude else "approve" if said.approve else "deny"
            about = {"verdict": verdict, "digest": self._asked["digest"], **said.fields}
            about.pop("approve")
            sent = await self.http.post(f"/v1/approvals/{self._asked['approval_id']}", json=about)
            if sent.is_error or sent.json()["outcome"]["data"]["outcome"] == "stale":
                self._asked = await self.question()
                return REFUSED
        return await self._followed(sent.json())

    @override
    async def dismiss(self) -> str:
        sent = await self.http.post(f"/v1/turns/{self.turn}/cancel")
        return REFUSED if sent.is_error else str(sent.json()["outcome"]["data"]["state"])

    @override
    async def more(self, text: str) -> str:
        await self._followed(
            (await self.http.post(f"/v1/sessions/{self.session}/messages", json={"text": text})).json()
        )
        return str((await self.http.get(f"/v1/turns/{self.turn}")).json()["answer"])

    async def _followed(self, sent: Json) -> str:
        """Read the stream after what was sent, until a turn asks or ends; return its state."""
        sse, self.session, self._after = Sse(), sent["session_id"], sent["after"]
        async with opened(self.http, self.session, str(self._after)) as chunks:
            async for chunk in chunks:
                sse.feed(chunk)
                for id, kind, event in sse.events:
                    data, new = event["data"], int(id or 0) > self._after
                    if new and (state := state_after(kind, data)):
                        self.turn, self._after, self._asked = event["turn_id"], int(id or 0), data
                        return state
        raise AssertionError("the stream ended")
