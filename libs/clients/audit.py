"""The audit worker's queries: search, chain status, and the export as a stream, since a chain may exceed memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

import httpx

from libs.clients.calls import Caller, ServiceDown, call, failed, heading

SERVICE = "audit_worker"
ROOT = "/internal/v1/audit"
EXPORT_SECONDS = 3600.0
"""Seconds for a whole chain; each read has its own timeout."""


async def search(caller: Caller, tenant: str, conditions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of matching records: {"records": [{"position", "link", "record"}], "next", "behind"}, newest first.
    Raises what `call` raises.
    """
    params = {name: str(value) for name, value in conditions.items()}
    found = await call(caller, SERVICE, "GET", f"{ROOT}/search", tenant=tenant, params=params)
    return cast("dict[str, Any]", found)


async def status(caller: Caller, tenant: str) -> dict[str, Any]:
    """Return the chain's length: {"count", "sealed", "sealed_at", "head", "behind"}. Raises what `call` raises."""
    return cast("dict[str, Any]", await call(caller, SERVICE, "GET", f"{ROOT}/status", tenant=tenant))


async def export(caller: Caller, tenant: str) -> AsyncIterator[bytes]:
    """Stream the tenant's audit log as self-verifying JSON Lines. Without its last line it does not verify.

    Raises:
        ServiceDown: before the first byte, or in the middle; what was read so far does not verify.
    """
    try:
        async with (
            # Never repeated: what was yielded cannot be taken back.
            caller.guarded_calls.to(SERVICE).call_scope(EXPORT_SECONDS),
            caller.clients[SERVICE]() as client,
            client.stream("GET", f"{ROOT}/export", headers=heading(caller, SERVICE, tenant)) as answer,
        ):
            if not answer.is_success:
                raise failed(SERVICE, answer.status_code)
            async for chunk in answer.aiter_bytes():
                yield chunk
    except httpx.HTTPError as error:
        raise ServiceDown(f"{SERVICE}: {type(error).__name__}") from error
