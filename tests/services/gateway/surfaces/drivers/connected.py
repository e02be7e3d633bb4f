"""The driver of each protocol, by its name in the matrix."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from tests.services.gateway.surfaces.a2a.agent import Agent
from tests.services.gateway.surfaces.a2a.test_before import connected as connected_of_0_3
from tests.services.gateway.surfaces.clients import client_of
from tests.services.gateway.surfaces.drivers.a2a import A2a
from tests.services.gateway.surfaces.drivers.agui import AgUi
from tests.services.gateway.surfaces.drivers.mcp import Mcp
from tests.services.gateway.surfaces.drivers.openai import Chat, Responses
from tests.services.gateway.surfaces.drivers.rest import Rest
from tests.services.gateway.surfaces.drivers.surface import Surface


@asynccontextmanager
async def surface(agent: Agent, protocol: str) -> AsyncIterator[Surface]:
    """Yield a client of a protocol."""
    name, _, how = protocol.partition(", ")
    streams = how == "streams"
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(agent.http())
        match name:
            case "A2A 1.0" | "A2A 1.0 REST":
                binding = "HTTP+JSON" if name.endswith("REST") else "JSONRPC"
                a2a = await stack.enter_async_context(agent.client(binding, streaming=streams))
                yield A2a(agent, http, a2a)
            case "A2A 0.3":
                a2a = await stack.enter_async_context(connected_of_0_3(agent, streaming=streams))
                yield A2a(agent, http, a2a, lists=False)
            case "MCP 2025-11-25" | "MCP 2026-07-28":
                yield Mcp(agent, http, stack, name.removeprefix("MCP "))
            case "chat completions" | "responses":
                client = await stack.enter_async_context(client_of(agent))
                yield (Chat if name.startswith("chat") else Responses)(agent, http, client, streams=streams)
            case "AG-UI":
                yield AgUi(agent, http)
            case "REST":
                yield Rest(agent, http)
            case _:
                raise NotImplementedError(protocol)
