"""A run: start a platform, furnish it, explore it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from services.gateway import contract
from tests.exploration import protocols
from tests.exploration.explorer import Explorer, Findings
from tests.exploration.protocols import Protocols
from tests.exploration.world import SETTINGS, TENANTS, folder_of, furnish
from tests.journeys.installation import installation


async def explored(place: Path, *, cases: int, sequences: int, steps: int, seed: int = 1) -> Findings:
    """Explore a platform in `place`; return what was found."""
    roots = [f"{tenant}={folder_of(place / 'Downloads', tenant)}" for tenant in TENANTS]
    async with installation(place, **SETTINGS, SUMA_ROOTS=os.pathsep.join(roots)) as own:
        await own.start()
        parties, owner = await furnish(own)
        async with own.api() as api:
            document = (await api.get("/openapi.json")).json()
        explorer = Explorer(own.url, document, parties, owner, seed)
        await asyncio.to_thread(explorer.each, cases)
        if sequences:
            await asyncio.to_thread(explorer.sequences, sequences, steps)
        await Protocols(own.url, parties, explorer.found, seed).each(max(1, cases // 10))
        documented = {f"{method.upper()} {path}" for path, method, _ in contract.operations(document)}
        assert explorer.found.asked.keys() == documented | protocols.explored().keys(), "a route was never asked"
        assert "request crashed" not in own.complaints, own.complaints
        return explorer.found
