"""Reads of multimodal jobs, which are turns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql

from services.gateway.http.models import short
from services.gateway.multimodal.models import JobSummary
from services.gateway.schema import Reads
from services.gateway.sessions.store import Numbered

queries: Any = aiosql.from_path(Path(__file__).parent / "queries.sql", "asyncpg")

EVENTS_MOST = 5_000
"""Events of one job: each step has a few, and a plan has at most some hundred."""


class JobStore(Reads):
    async def jobs(
        self, tenant: str, *, reader: str | None, state: str | None, before: str | None, most: int
    ) -> Sequence[JobSummary]:
        """Return the newest jobs that `reader` sees; None sees all."""
        about = {"reader": reader, "state": state, "before": before, "most": most}
        return await self._rows(JobSummary, queries.jobs_before, tenant, **about)

    async def is_job(self, tenant: str, turn: str) -> bool:
        return await self._one(queries.job_by_id, tenant, job=turn) is not None

    async def events(self, tenant: str, session: str, job: str) -> Sequence[Numbered]:
        """Return the plans and the changes of the steps of a job, in order."""
        about = {"session": session, "job": job, "most": EVENTS_MOST}
        return await self._rows(_numbered, queries.job_events, tenant, **about)


def _numbered(
    *, seq: int, event_type: str, turn_id: str | None, occurred_at: datetime, data: str, correlation: str | None
) -> Numbered:
    return Numbered(seq, short(event_type), turn_id, occurred_at, data, correlation)
