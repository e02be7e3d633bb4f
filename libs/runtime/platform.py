"""The platform: every port that a service may use, as one frozen bundle. Only `services.wiring` makes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from libs.bus.trimming import consumers
from libs.cache.ports import NoBoard, NoCache
from libs.cache.windows import LocalWindows
from libs.hooks import Gates
from libs.resilience import GuardedCalls
from libs.runtime.effective_settings import EffectiveSetting
from libs.runtime.shutdown import Shutdown

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from libs.budgets import Budgets
    from libs.bus.parked import ParkedEvents
    from libs.bus.ports import Bus
    from libs.bus.relay import Route
    from libs.bus.trimming import Readers
    from libs.cache.ports import Board, Cache, Deltas
    from libs.cache.windows import Windows
    from libs.changes.writer import Writer
    from libs.clients.calls import Query
    from libs.clock import Clock
    from libs.database import Database
    from libs.keys.ports import Keys
    from libs.leases.ports import Leases
    from libs.models.ports import Model
    from libs.objects.ports import Objects
    from libs.policy.ports import Policy
    from libs.runtime.agents import Agent
    from libs.sandbox import Sandboxes
    from libs.search import Embedder
    from libs.skills import Catalogue, Skills
    from libs.tools import Tool


ESSENTIAL = frozenset(("postgres", "policy", "bus", "redis", "objects"))
"""Dependencies that a process needs to be ready, unless its settings name others."""


def nowhere(point: str) -> None:
    """Do nothing at a kill point; the default outside tests."""


@dataclass(frozen=True)
class Platform:
    """All ports that the process offers its services. Ports that a small test does not use may be absent."""

    member: str
    """The unique name of this process; new at every start."""
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
    """None where no service in this process uses a model."""
    budgets: Budgets
    """The limits on model calls and the accounts that pay for them."""
    catalogue: Catalogue
    """The skills and tools, reloaded when they change on disk; `skills` is the current view."""
    embedder: Embedder
    data_dir: Path
    board: Board = field(default_factory=NoBoard)
    windows: Windows = field(default_factory=LocalWindows)
    cache: Cache = field(default_factory=NoCache)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """External tools, by name; `skills` also lists them, for services that do not run them."""
    agents: Mapping[str, Agent] = field(default_factory=dict)
    """The agents that a message may choose, by name; without a choice, the conversation worker's setting holds."""
    gates: Gates = field(default_factory=Gates)
    """The hooks that are asked before an action."""
    sandboxes: Sequence[Sandboxes] = ()
    """The sandbox backends, the preferred one first; empty where no service here runs commands."""
    fuses: bool = True
    """Whether what an input causes in this process may be handled in its commit."""
    trims: bool = True
    """Whether this process trims the log and old accounts; of services that run alone, only the gateway's role may."""
    log_readers: Readers = consumers
    """Groups that read the log itself, by topic: records that all of them have read may be trimmed."""
    route: Route | None = None
    """The relay route from the log to the bus, when the bus is not the log itself."""
    guarded_calls: GuardedCalls = field(default_factory=GuardedCalls)
    """The guards of external dependencies, shared by all their callers."""
    essential: frozenset[str] = ESSENTIAL
    """Dependencies that the process needs to be ready."""
    leaving: Shutdown = field(default_factory=Shutdown)
    """The shutdown state of the process."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings by service name; each service parses its own."""
    effective_settings: Callable[[], Sequence[EffectiveSetting]] = field(default=list)
    """The settings in force, for operators."""
    clients: Mapping[str, Callable[[], httpx.AsyncClient]] = field(default_factory=dict)
    """HTTP transports to the other services' APIs, by service name."""
    near: Mapping[str, Mapping[str, Query]] = field(default_factory=dict)
    """Queries of the services in this process, by service name: called instead of their APIs."""
    point: Callable[[str], None] = nowhere
    """Callback at every kill point of the catalogue (docs/bus.md, Kill points)."""

    @property
    def skills(self) -> Skills:
        """The current skills. Read it once for decisions that must agree."""
        return self.catalogue.skills
