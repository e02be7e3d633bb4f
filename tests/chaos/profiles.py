"""Profiles: what stands, as data. `embedded` is one process with servers of its own, `split` the six services as
processes on one Postgres and Redis, `production` the same on Kafka, OPA and S3 as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

ALONE = ""
"""The name of everything in one process, where a service's name would stand."""
USERS = {
    "redis": ("gateway", "conversation_worker"),
    "opa": ("gateway", "conversation_worker", "committee_worker", "tool_executor", "memory_service"),
    "s3": ("conversation_worker", "committee_worker", "tool_executor"),
}
"""Who really speaks to a server, where that is not everyone: the others' ways to it carry nothing."""
SHARED = ("kafka",)
"""Servers to which there is one way for all: they tell their clients where to come."""
PROCESS_FAULTS = {"kill": 6, "kill_two": 1, "freeze": 3, "restart": 2}
LINK_FAULTS = {"cut": 3, "hold": 2, "slow": 2, "refuse": 2}


@dataclass(frozen=True)
class Profile:
    """What a run stands on, and what may happen to it."""

    name: str
    replicas: Mapping[str, int]
    """Service → how many processes."""
    servers: tuple[str, ...]
    """Those that the harness runs, and services reach through links."""
    own_servers: tuple[str, ...] = ()
    """Those that the platform runs itself, and starts again."""
    weights: Mapping[str, int] = field(default_factory=dict)
    """Kind of fault → how often, in proportion."""
    gap: tuple[float, float] = (3.0, 12.0)
    """Seconds between two faults, at least and at most."""

    @property
    def programs(self) -> Sequence[str]:
        """The names of its processes."""
        return [f"{service or 'suma'}-{n}" for service, count in self.replicas.items() for n in range(1, count + 1)]

    @property
    def links(self) -> Sequence[str]:
        """Every way between processes."""
        ways = [self.way(program, server) for server in self.servers for program in self.programs]
        inner = [f"services>{name}" for name in ("tool_executor", "memory_service") if name in self.replicas]
        return list(dict.fromkeys(["clients>gateway", *inner, *ways]))

    def way(self, program: str, server: str) -> str:
        """The link by which a process reaches a server."""
        return f"services>{server}" if server in SHARED else f"{program}>{server}"

    def users(self, server: str) -> Sequence[str]:
        """The processes that cannot do without a server."""
        return [program for program in self.programs if _is_used(program, server)]

    @property
    def busy_links(self) -> Sequence[str]:
        """Those over which something is said."""
        return [link for link in self.links if _is_used(*link.split(">"))]

    def targets(self, kind: str) -> Sequence[str]:
        """What a kind of fault can hit."""
        match kind:
            case "kill" | "kill_two" | "freeze" | "restart":
                return self.programs
            case "cut" | "hold" | "slow" | "refuse":
                return self.busy_links
            case "outage" | "crash" | "stall":
                return self.servers
            case "bereave":
                return self.own_servers
            case "join":
                return list(self.replicas)
            case _:  # rebalance, redeliver
                return ("bus",)


def _is_used(one: str, other: str) -> bool:
    users = USERS.get(other)
    return users is None or one.rpartition("-")[0] in users


EMBEDDED = Profile(
    "embedded",
    {ALONE: 1},
    servers=(),
    own_servers=("postgres", "redis"),
    weights={"kill": 6, "freeze": 2, "restart": 2, "cut": 3, "hold": 1, "slow": 1, "refuse": 1, "bereave": 4},
    # All of it dies at once, and needs a while to be back.
    gap=(5.0, 15.0),
)
SPLIT = Profile(
    "split",
    {"gateway": 2, "conversation_worker": 2, "committee_worker": 2, "tool_executor": 2}
    | {"audit_worker": 1, "memory_service": 1},
    servers=("postgres", "redis"),
    weights={**PROCESS_FAULTS, **LINK_FAULTS, "outage": 1, "crash": 1, "stall": 1, "rebalance": 1, "redeliver": 2},
)
PRODUCTION = Profile(
    "production",
    SPLIT.replicas,
    servers=("postgres", "redis", "kafka", "opa", "s3"),
    weights={**SPLIT.weights, "outage": 2, "crash": 2, "stall": 2, "join": 2},
)
PROFILES = {profile.name: profile for profile in (EMBEDDED, SPLIT, PRODUCTION)}
