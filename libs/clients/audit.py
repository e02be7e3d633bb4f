"""The audit worker's export, as a stream: a whole chain may be larger than memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx

from libs.clients.calls import Caller, ServiceDown, heading

SERVICE = "audit_worker"
EXPORT_SECONDS = 3600.0
"""For a whole chain; each of its reads has a bound of its own."""


async def export(caller: Caller, tenant: str) -> AsyncIterator[bytes]:
    """The tenant's record, as JSON Lines that prove themselves. Without its last line it proves nothing, and says so.

    Raises:
        ServiceDown: before the first byte, or in the middle; what was read so far then does not verify.
    """
    try:
        async with (
            caller.doors.to(SERVICE).passing(EXPORT_SECONDS),
            caller.clients[SERVICE]() as client,
            client.stream("GET", "/internal/v1/audit/export", headers=heading(caller, SERVICE, tenant)) as answer,
        ):
            if not answer.is_success:
                raise ServiceDown(f"{SERVICE} answered {answer.status_code}")
            async for chunk in answer.aiter_bytes():
                yield chunk
    except httpx.HTTPError as error:
        raise ServiceDown(f"{SERVICE}: {type(error).__name__}") from error
