"""Calls of tools: as hosts without forms make them, by the SDK's own client, and resumed after a broken stream."""

from __future__ import annotations

from typing import Any

import httpx
import orjson
import pytest

from libs.database import Dsns
from libs.keys.file import FileKeys
from libs.policy import Policy
from tests.services.gateway.running import running_gateway, served
from tests.services.gateway.surfaces.a2a.agent import Worker
from tests.services.gateway.surfaces.mcp.test_limits import REVISIONS, connected
from tests.support.surfaces import ACCEPT


@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_answer_returns_the_result_of_the_asking_turn(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, revision: str
) -> None:
    given: dict[str, Any] = {"policy": rules, "keys": keys}
    async with (
        running_gateway(gateway_where, owner, Worker().subscriptions, **given) as made,
        connected(made, revision) as client,
    ):
        asked = (await client.call_tool("suma_run", {"text": "which one"})).structured_content
        answer = {"text": "the red one", "session_id": asked["session_id"]}
        done = (await client.call_tool("suma_run", answer)).structured_content
    assert (asked["state"], asked["question"]["text"]) == ("awaiting_clarification", "Which folder?")
    assert (done["turn_id"], done["state"], done["answer"]) == (asked["turn_id"], "completed", "THE RED ONE")


@pytest.mark.parametrize("tool", ["suma_follow", "suma_run"])
async def test_broken_call_is_resumed_by_its_turn(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, tool: str
) -> None:
    given: dict[str, Any] = {"policy": rules, "keys": keys}
    async with (
        running_gateway(gateway_where, owner, Worker().subscriptions, **given) as made,
        served(made) as url,
        httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {owner}"}, timeout=60) as http,
    ):
        session = await _handshake(http)
        if tool == "suma_follow":
            turn = (await http.post("/v1/sessions/message", json={"text": "wait"})).json()["turn_id"]
            place = await _broken(http, session, tool, {"turn_id": turn})
        else:
            place = await _broken(http, {**session, "Idempotency-Key": "mine"}, tool, {"text": "wait"})
            ((turn,),) = await made.rows("select turn_id from gateway.turns")
        await http.post(f"/v1/turns/{turn}/cancel")
        rest = await http.get("/mcp", headers={**session, "Last-Event-ID": place, "Accept": "text/event-stream"})
    result = orjson.loads(rest.text.rpartition("data: ")[2])["result"]["structuredContent"]
    assert (result["turn_id"], result["state"]) == (turn, "cancelled")


async def _handshake(http: httpx.AsyncClient) -> dict[str, str]:
    """Return the headers of a session of 2025-11-25."""
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about}
    answer = await http.post("/mcp", json=body, headers={"Accept": ACCEPT})
    return {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}


async def _broken(http: httpx.AsyncClient, headers: dict[str, str], tool: str, args: Any) -> str:
    """Call a tool, and leave at its first progress; return the id of that event."""
    params = {"name": tool, "arguments": args, "_meta": {"progressToken": 1}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    place = ""
    async with http.stream("POST", "/mcp", json=body, headers={**headers, "Accept": ACCEPT}) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("id: "):
                place = line.removeprefix("id: ")
            if "notifications/progress" in line:
                return place
    raise AssertionError("the call ended")
