"""MCP hosts, by the SDK's own client over a socket: both revisions, on one platform."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from libs.identity.keys import mint
from libs.runtime.embedded.postgres import Postgres
from services import http_server
from tests import infrastructure
from tests.support import platform
from tests.support.platform import SERVICES, RunningPlatform

REVISIONS = {"2026-07-28": "auto", "2025-11-25": "legacy"}
"""How the client connects to each."""


@dataclass(frozen=True)
class Served:
    """A platform behind a socket, and its owner's key."""

    at: RunningPlatform
    url: str
    key: str

    @asynccontextmanager
    async def client(self, revision: str, key: str | None = None, **callbacks: Any) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
            transport = streamable_http_client(f"{self.url}/mcp", http_client=http)
            async with Client(transport, mode=REVISIONS[revision], **callbacks) as client:
                assert client.protocol_version == revision
                yield client


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    key = mint("local", "owner", scopes=["*"])[0]
    settings: dict[str, Any] = {"gateway": {"local_key": key}}
    names = (*SERVICES, "audit_worker", "gateway")
    async with (
        infrastructure.fresh_database(server, await platform.template(server)) as where,
        platform.run_platform(where, tmp_path_factory.mktemp("mcp"), names=names, settings=settings) as at,
    ):
        app = at.platform.clients["gateway"]()._transport.app  # type: ignore[attr-defined]
        with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as door:
            async with http_server.serving(app, door):
                yield Served(at, http_server.url_of(door), key)


@pytest.mark.parametrize("revision", sorted(REVISIONS))
async def test_primitive_returns_its_result(served: Served, revision: str) -> None:
    folder = served.at.folder("a.txt", "b.txt", at=f"look-{revision}")
    seen: list[str] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append(message or "")

    async with served.client(revision) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"suma_run", "suma_follow", "suma_cancel", "manage-files__list"} <= names
        args = {"path": ".", "root": str(folder)}
        found = await client.call_tool("manage-files__list", args, progress_callback=progress)
    assert not found.is_error, found
    assert found.structured_content["data"]["count"] == 2
    assert any("succeeded" in message for message in seen), seen
