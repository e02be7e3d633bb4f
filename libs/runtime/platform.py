"""The platform: every port that a service may use, as one frozen bundle. Only `services.wiring` makes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from libs.bus.parked import ParkedEvents
    from libs.bus.ports import Bus
    from libs.cache.ports import Deltas
    from libs.changes.writer import Writer
    from libs.clock import Clock
    from libs.database import Database
    from libs.keys.ports import Keys
    from libs.leases.ports import Leases
    from libs.models.ports import Model
    from libs.objects.ports import Objects
    from libs.policy.ports import Policy
    from libs.retrieval import Embedder
    from libs.skills import Skills


def nowhere(point: str) -> None:
    """The ordinary process: nothing happens at a point of the catalogue of kills."""


@dataclass(frozen=True)
class Platform:
    """What the process offers its services. Ports that a small test does not use may be absent."""

    member: str
    """This process's name among its kind; new at every start."""
    clock: Clock
    database: Database
    bus: Bus
    leases: Leases
    parked: ParkedEvents
    writer: Writer
    policy: Policy
    keys: Keys
    objects: Objects
    deltas: Deltas
    model: Model
    skills: Skills
    embedder: Embedder
    data_dir: Path
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of services, by service name; each parses its own."""
    clients: Mapping[str, Callable[[], httpx.AsyncClient]] = field(default_factory=dict)
    """How to reach another service's HTTP API, by service name."""
    point: Callable[[str], None] = nowhere
    """Told of every point of the catalogue of kills (bus.md, Proving it)."""
