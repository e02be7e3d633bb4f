"""Limits as MCP clients see them: the SDK's own client, in both revisions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from libs.database import Dsns
from libs.keys.file import FileKeys
from libs.policy import Policy
from services.gateway.surfaces.mcp.errors import PROBLEM
from tests.services.gateway.running import RunningGateway, running_gateway, served

REVISIONS = {"2026-07-28": "auto", "2025-11-25": "legacy"}
"""How the client connects to each."""


@asynccontextmanager
async def connected(made: RunningGateway, revision: str, **callbacks: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {made.owner}"}
    async with served(made) as url, httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=REVISIONS[revision], **callbacks) as client:
            assert client.protocol_version == revision
            yield client


@pytest.mark.requirement("A20")
@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_rate_limit_is_an_error_of_the_request(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, revision: str
) -> None:
    given: dict[str, Any] = {"policy": rules, "keys": keys}
    settings = {"requests_per_minute_by_route": {"POST /mcp": 10}}

    async def ask(client: Client) -> None:
        for _ in range(11):
            await client.list_tools(cache_mode="bypass")

    async with (
        running_gateway(gateway_where, owner, settings=settings, **given) as made,
        connected(made, revision) as client,
    ):
        with pytest.raises(MCPError, match="ROUTE_RATE_LIMITED"):
            await ask(client)


@pytest.mark.requirement("A20")
@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_full_session_fails_the_call(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, revision: str
) -> None:
    given: dict[str, Any] = {"policy": rules, "keys": keys}
    settings = {"turns_open_each_session": 1}
    async with (
        running_gateway(gateway_where, owner, settings=settings, **given) as made,
        connected(made, revision) as client,
    ):
        async with made.client() as http:
            session = (await http.post("/v1/sessions/message", json={"text": "first"})).json()["session_id"]
        refused = await client.call_tool("suma_run", {"text": "second", "session_id": session})
    assert refused.structured_content is None
    error = (refused.meta or {})[PROBLEM]
    assert (refused.is_error, error["code"], error["status"]) == (True, "SESSION_FULL", 429)
    assert error["retry_after"] >= 1
