"""The outcomes of capabilities, as the memory service sums them up, for the ranking (S3-20, S3-67).

They are remembered for five minutes. Without an answer the ranking knows nothing, and the router's order holds.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping

from libs.clients import memory
from libs.errors import Unavailable
from libs.multimodal.ports import StepType
from libs.multimodal.ranking import Outcomes
from libs.runtime import Platform
from libs.telemetry import logger

KEPT_SECONDS, KEPT_MOST = 300.0, 1_000

log = logger("multimodal")


class OutcomeCache:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._kept: OrderedDict[tuple[str, StepType], tuple[float, Mapping[str, Outcomes]]] = OrderedDict()

    async def of(self, tenant: str, step_type: StepType) -> Mapping[str, Outcomes]:
        """Return a tenant's outcomes by capability; none if the memory service does not answer."""
        now, key = time.monotonic(), (tenant, step_type)
        since, found = self._kept.get(key, (float("-inf"), {}))
        if now - since < KEPT_SECONDS:
            return found
        try:
            rows = await memory.outcomes(self._platform, tenant, step_type.value)
        except Unavailable as error:
            log.warning("could not read outcomes", error=str(error))
            return found
        fresh = {f"{row.pop('provider')}/{row.pop('tool_id')}": Outcomes(**row) for row in map(dict, rows)}
        self._kept[key] = now, fresh
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT_MOST:
            self._kept.popitem(last=False)
        return fresh
