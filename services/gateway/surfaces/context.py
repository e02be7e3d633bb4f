"""The state of the surfaces: all that a protocol sees of the gateway."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from services.gateway.http.admission import ConcurrencyLimiter
from services.gateway.http.context import state_of
from services.gateway.http.refusals import RefusalLog
from services.gateway.sessions.context import Sessions
from services.gateway.surfaces.a2a.push import Webhooks


@dataclass(frozen=True)
class Gateway(Sessions):
    refusals: RefusalLog
    concurrency: ConcurrencyLimiter
    webhooks: Webhooks
    surfaces: dict[str, object] = field(default_factory=dict)
    """By class, what serves a protocol once it is used (`surfaces.loading`)."""


Here = Annotated[Gateway, state_of("surfaces")]
