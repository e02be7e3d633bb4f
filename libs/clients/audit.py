"""The audit worker's export, as a stream: a whole chain may exceed memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx

from libs.clients.calls import Caller, ServiceDown, failed, heading

SERVICE = "audit_worker"
EXPORT_SECONDS = 3600.0
"""Seconds for a whole chain; each read has its own timeout."""


async def export(caller: Caller, tenant: str) -> AsyncIterator[bytes]:
    """Stream the tenant's audit log as self-verifying JSON Lines. Without its last line it does not verify.

    Raises:
        ServiceDown: before the first byte, or in the middle; what was read so far does not verify.
    """
    try:
        async with (
            caller.guarded_calls.to(SERVICE).call_scope(EXPORT_SECONDS),
            caller.clients[SERVICE]() as client,
            client.stream("GET", "/internal/v1/audit/export", headers=heading(caller, SERVICE, tenant)) as answer,
        ):
            if not answer.is_success:
                raise failed(SERVICE, answer.status_code)
            async for chunk in answer.aiter_bytes():
                yield chunk
    except httpx.HTTPError as error:
        raise ServiceDown(f"{SERVICE}: {type(error).__name__}") from error
