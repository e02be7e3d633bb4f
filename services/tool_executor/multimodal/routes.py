"""The executor's internal API of what it makes: attempts of a turn, and capabilities with their health."""

from typing import Any

from fastapi import APIRouter

from services.tool_executor.api import ROOT, Here, Tenant

router = APIRouter(prefix=f"{ROOT}/multimodal")


@router.get("/turns/{turn}/executions")
async def executions(tenant: Tenant, state: Here, turn: str) -> dict[str, Any]:
    """Return the attempts of a turn, in order."""
    return {"executions": await state.executions.of_turn(tenant, turn)}


@router.get("/capabilities")
async def capabilities(tenant: Tenant, state: Here) -> dict[str, Any]:
    """Return every capability of this process with its health."""
    return {"capabilities": [state.registry.described(entry) for entry in state.registry.entries()]}
