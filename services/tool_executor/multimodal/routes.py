"""The executor's internal API of what it makes: attempts of a turn, and capabilities with their health."""

from typing import Any

from fastapi import APIRouter

from libs.multimodal.ports import StepType
from services.tool_executor.api import ROOT, Here, Tenant
from services.tool_executor.multimodal.outcomes import latencies

router = APIRouter(prefix=f"{ROOT}/multimodal")


@router.get("/turns/{turn}/executions")
async def executions(tenant: Tenant, state: Here, turn: str) -> dict[str, Any]:
    """Return the attempts of a turn, in order."""
    return {"executions": await state.executions.of_turn(tenant, turn)}


@router.get("/capabilities")
async def capabilities(tenant: Tenant, state: Here) -> dict[str, Any]:
    """Return every capability of this process with its health, and the mean time of the tenant's attempts in ms."""
    took = await latencies(state.platform, tenant, StepType)
    entries = state.registry.entries()
    return {
        "capabilities": [
            {**state.registry.described(each), "latency_ms": took.get(each.producer.capability.name)}
            for each in entries
        ]
    }
