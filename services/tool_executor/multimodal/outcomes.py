"""The outcomes of capabilities, as the memory service sums them up, for the ranking (S3-20, S3-67).

They are cached for five minutes, for all processes. Without an answer the ranking knows nothing, and the router's order
holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress

from pydantic import TypeAdapter, ValidationError

from libs.clients import memory
from libs.errors import Unavailable
from libs.multimodal.ports import StepType
from libs.multimodal.ranking import Outcomes
from libs.runtime import Platform
from libs.telemetry import logger

KEPT_SECONDS = 300
CACHED = TypeAdapter(dict[str, Outcomes])

log = logger("multimodal")


async def outcomes(platform: Platform, tenant: str, step_type: StepType) -> Mapping[str, Outcomes]:
    """Return a tenant's outcomes by capability; none if the memory service does not answer."""
    name = f"outcomes:{step_type}"
    # Without the cache the memory service is asked each time; a value that others wrote into it is passed over.
    with suppress(Unavailable, ValidationError):
        if (kept := await platform.cache.get(tenant, name)) is not None:
            return CACHED.validate_json(kept)
    try:
        rows = await memory.outcomes(platform, tenant, step_type.value)
    except Unavailable as error:
        log.warning("could not read outcomes", error=str(error))
        return {}
    fresh = {f"{row.pop('provider')}/{row.pop('tool_id')}": Outcomes(**row) for row in map(dict, rows)}
    with suppress(Unavailable):
        await platform.cache.put(tenant, name, CACHED.dump_json(fresh).decode(), seconds=KEPT_SECONDS)
    return fresh


async def latencies(platform: Platform, tenant: str, step_types: Iterable[StepType]) -> Mapping[str, int]:
    """Return the mean time of a tenant's attempts in ms, by capability; of those that have any."""
    times: dict[str, int] = {}
    attempts: dict[str, int] = {}
    for found in await asyncio.gather(*(outcomes(platform, tenant, each) for each in step_types)):
        for name, sums in found.items():
            times[name] = times.get(name, 0) + sums.latency_ms
            attempts[name] = attempts.get(name, 0) + sums.attempts
    return {name: round(times[name] / tried) for name, tried in attempts.items() if tried}
