"""The tool executor's queries about multimodal jobs: executions, assets and capabilities (docs/decisions/0130)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from libs.clients.calls import Caller, call, stream

SERVICE = "tool_executor"
ROOT = "/internal/v1/multimodal"
Json = Any


async def executions(caller: Caller, tenant: str, turn: str) -> list[Json]:
    """Return the attempts of a turn's steps, oldest first. Raises what `call` raises."""
    found = await call(caller, SERVICE, "GET", f"{ROOT}/turns/{turn}/executions", tenant=tenant)
    return list(found["executions"])


async def asset(caller: Caller, tenant: str, asset: str) -> Json:
    """Return an asset's row with its provenance. Raises what `call` raises."""
    return await call(caller, SERVICE, "GET", f"{ROOT}/assets/{asset}", tenant=tenant)


async def capabilities(caller: Caller, tenant: str) -> list[Json]:
    """Return the capabilities of the registry with their health. Raises what `call` raises."""
    found = await call(caller, SERVICE, "GET", f"{ROOT}/capabilities", tenant=tenant)
    return list(found["capabilities"])


def content(caller: Caller, tenant: str, asset: str, *, start: int, end: int) -> AsyncIterator[bytes]:
    """Yield the bytes from `start` to before `end` of an asset. Raises what `call` raises."""
    return stream(caller, SERVICE, f"{ROOT}/assets/{asset}/content", tenant=tenant, start=start, end=end)
