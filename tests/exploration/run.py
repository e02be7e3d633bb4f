"""A run: start a platform, furnish it, explore it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from tests.exploration.explorer import Explorer, Findings
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
        assert len(explorer.found.asked) == len(explorer.operations()), "an operation was never asked"
        return explorer.found
