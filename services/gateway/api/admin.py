"""What those who answer for the platform ask for: the tenant's whole signed record."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from libs.clients import audit
from services.gateway.api import writes
from services.gateway.api.errors import PROBLEMS
from services.gateway.api.gateway import Here
from services.gateway.api.security import Caller

router = APIRouter(tags=["admin"], responses=PROBLEMS)


@router.get("/v1/admin/audit/export", response_class=StreamingResponse)
async def export(here: Here, who: Caller) -> StreamingResponse:
    """The record as JSON Lines that end in a checkpoint; `suma audit verify` checks it without any server (A36)."""
    await writes.looked(here, who, "admin.audit")
    lines = audit.export(here.platform, who.tenant)
    # The first bytes now, so that an audit worker that is away is an error and not half an answer.
    first = await anext(lines, b"")

    async def whole() -> AsyncIterator[bytes]:
        yield first
        async for chunk in lines:
            yield chunk

    headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
    return StreamingResponse(whole(), media_type="application/jsonl", headers=headers)
