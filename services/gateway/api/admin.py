"""Administration: export of the tenant's whole signed audit log."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from libs.clients import audit
from services.gateway.api import commands
from services.gateway.api.context import Here
from services.gateway.api.errors import PROBLEMS
from services.gateway.api.security import Authenticated

router = APIRouter(tags=["admin"], responses=PROBLEMS)


@router.get("/v1/admin/audit/export", response_class=StreamingResponse)
async def export(here: Here, who: Authenticated) -> StreamingResponse:
    """Export the audit log as JSON Lines that end in a checkpoint; `suma audit verify` checks it offline (A36)."""
    await commands.record_access(here, who, "admin.audit")
    lines = audit.export(here.platform, who.tenant)
    # Read the first bytes now, so that an unavailable audit worker is an error and not a truncated response.
    first = await anext(lines, b"")

    async def whole() -> AsyncIterator[bytes]:
        yield first
        async for chunk in lines:
            yield chunk

    headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
    return StreamingResponse(whole(), media_type="application/jsonl", headers=headers)
