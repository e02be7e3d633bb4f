"""The audit log: search, chain status, and export (architecture.md 16). Each access is recorded in the log itself."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from libs.clients import audit
from libs.identity import Principal
from services.gateway.http import commands
from services.gateway.http.context import Room
from services.gateway.http.errors import Responses
from services.gateway.identity.lasting_access import Access, Download, prepended
from services.gateway.identity.security import Authenticated
from services.gateway.operators.context import Here
from services.gateway.operators.models import AuditFilter, AuditPage, AuditRecord, AuditState

router = APIRouter(tags=["admin"])

READ = "admin.audit"
EXPORT: Responses = {200: {"content": {"application/jsonl": {}}, "description": "The export"}}


@router.get("/v1/admin/audit")
async def search(here: Here, who: Authenticated, look: Annotated[AuditFilter, Query()]) -> AuditPage:
    """List the tenant's audit records, newest first. A record appears once it is chained, normally within a second."""
    await commands.record_access(here, who, READ, "audit:search")
    found = await audit.search(here.platform, who.tenant, look.model_dump(mode="json", exclude_none=True))
    return AuditPage(
        records=[AuditRecord.of(entry) for entry in found["records"]],
        next=found["next"],
        behind=found["behind"],
        as_of=here.platform.clock.now(),
    )


@router.get("/v1/admin/audit/status")
async def status(here: Here, who: Authenticated) -> AuditState:
    """Report the length of the tenant's chain, its newest link, and how much of it a checkpoint covers."""
    return await state(here, who)


async def state(here: Room, who: Principal) -> AuditState:
    """Return the state of the tenant's chain, and record the access."""
    await commands.record_access(here, who, READ, "audit:status")
    found = await audit.status(here.platform, who.tenant)
    return AuditState(**found, as_of=here.platform.clock.now())


@router.get("/v1/admin/audit/export", response_class=Download, responses=EXPORT)
async def export(request: Request, here: Here, who: Authenticated) -> Download:
    """Export the audit log as JSON Lines that end in a checkpoint; `suma audit verify` checks it offline (A36)."""
    await commands.record_access(here, who, READ, "audit:export")
    lines = audit.export(here.platform, who.tenant)
    # Read the first bytes now, so that an unavailable audit worker is an error and not a truncated response.
    first = await anext(lines, b"")
    headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"', "Content-Type": "application/jsonl"}
    return Download(prepended(first, lines), Access(here.identity, who, request), headers)
