"""The executor's internal API of assets: an asset's row, and its content or a part of it."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from services.tool_executor.api import ROOT, Here, Tenant

router = APIRouter(prefix=f"{ROOT}/multimodal/assets")


@router.get("/{asset_id}")
async def asset(tenant: Tenant, state: Here, asset_id: str) -> dict[str, Any]:
    """Return an asset's row with its provenance, and whether its anchor holds."""
    found = await state.assets.find(tenant, asset_id)
    return {**found.shown(), "anchored": state.assets.anchored(found)}


@router.get("/{asset_id}/content")
async def content(
    tenant: Tenant,
    state: Here,
    asset_id: str,
    start: Annotated[int, Query(ge=0)] = 0,
    end: Annotated[int | None, Query(ge=0)] = None,
) -> StreamingResponse:
    """Stream the bytes from `start` to before `end`."""
    found = await state.assets.find(tenant, asset_id)
    return StreamingResponse(state.assets.open(tenant, found, start=start, end=end), media_type=found.media_type)
