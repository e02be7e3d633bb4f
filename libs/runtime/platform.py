"""The platform: every port that a service may use, as one frozen bundle. Only `services.wiring` makes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from libs.bus.trimming import consumers
from libs.cache.ports import NoBoard
from libs.cache.windows import LocalWindows
from libs.outbound import Doors
from libs.runtime import ESSENTIAL
from libs.runtime.leaving import Leaving

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from libs.budgets import Budgets
    from libs.bus.parked import ParkedEvents
    from libs.bus.ports import Bus
    from libs.bus.relay import Route
    from libs.bus.trimming import Readers
    from libs.cache.ports import Board, Deltas
    from libs.cache.windows import Windows
    from libs.changes.writer import Writer
    from libs.clock import Clock
    from libs.database import Database
    from libs.keys.ports import Keys
    from libs.leases.ports import Leases
    from libs.models.ports import Model
    from libs.objects.ports import Objects
    from libs.policy.ports import Policy
    from libs.retrieval import Embedder
    from libs.skills import Catalogue, Skills
    from libs.tools import Tool


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
    model: Model | None
    """None where nothing in this process asks one."""
    budgets: Budgets
    """What its calls may use, and who pays for them."""
    catalogue: Catalogue
    """The skills and tools, which follow what changes on disk; `skills` is how they are now."""
    embedder: Embedder
    data_dir: Path
    board: Board = field(default_factory=NoBoard)
    windows: Windows = field(default_factory=LocalWindows)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """Tools from outside, by name; `skills` lists them too, for those who do not run them."""
    log_readers: Readers = consumers
    """Which groups read the log itself, by topic: it is trimmed behind them."""
    route: Route | None = None
    """Where events are carried from the log, when the bus is not the log itself."""
    doors: Doors = field(default_factory=Doors)
    """The doors to what is called outside the process, shared by all that call it."""
    essential: frozenset[str] = ESSENTIAL
    """Dependencies without which the process is not ready."""
    leaving: Leaving = field(default_factory=Leaving)
    """Whether the process is on its way out."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of services, by service name; each parses its own."""
    clients: Mapping[str, Callable[[], httpx.AsyncClient]] = field(default_factory=dict)
    """How to reach another service's HTTP API, by service name."""
    point: Callable[[str], None] = nowhere
    """Told of every point of the catalogue of kills (bus.md, Proving it)."""

    @property
    def skills(self) -> Skills:
        """The view as of now. Whoever decides by it twice takes it once."""
        return self.catalogue.skills
