"""The executor's settings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, field_validator, model_validator

from libs.guards import programs
from libs.multimodal.ports import CostTier
from libs.multimodal.ranking import Ranking
from libs.remote_tools import RemoteServer
from libs.remote_tools.settings import NAME, RESERVED
from libs.workspace.roots import Root
from services.tool_executor.multimodal.asset_settings import Retention
from services.tool_executor.multimodal.provider_settings import ImageProvider, VisionModel
from services.tool_executor.tools.limits import Limits


class Web(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    allow_hosts: tuple[str, ...] = ()
    """Hosts of this machine or network that `web.fetch` may read, each as `host` or `host:port`; all tenants may."""
    ports: tuple[int, ...] = (80, 443)
    """Ports that `web.fetch` may read from."""
    seconds: float = Field(default=10.0, gt=0)
    """How long a page may take, with all its redirects."""
    bytes_most: int = Field(default=1_000_000, ge=1)
    """Maximum of one page, unpacked; of a longer text the beginning is read."""
    cache_seconds: float = Field(default=300.0, ge=0)
    """How long a page is kept for its tenant; 0 keeps none."""

    @field_validator("allow_hosts")
    @classmethod
    def _lower(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(host.lower() for host in hosts)


class Multimodal(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    cost_tier: CostTier = CostTier.HIGH
    """The highest cost tier of a capability that may be used: free, low, medium or high."""
    ranking: Ranking = Ranking.SHADOW
    """Whether the ranking by earlier outcomes only logs where it differs, or breaks ties: shadow or active."""
    local_producers: bool = True
    """Whether the producers of this machine are offered: Mermaid, Graphviz, charts, Pillow, documents and so on."""
    plantuml: Path | None = None
    """The jar of PlantUML, if there is one."""
    producers: tuple[str, ...] = ()
    """Producers from outside: each `module:attribute` or an entry point of `suma.multimodal`, with `@sha256:…` where
    pinned.
    """


class Settings(Limits):
    roots: tuple[Annotated[Root, BeforeValidator(Root.of)], ...] = ()
    """Folders whose sub-folders may be workspaces; `roots.json` of the data directory adds what a person allowed."""
    tools: tuple[str, ...] = ()
    """Tools from outside: each `module:attribute` or an entry point of `suma.tools`, with `@sha256:…` where pinned."""
    mcp_servers: dict[str, RemoteServer] = Field(default_factory=dict)
    """MCP servers whose tools are offered once they are approved, by the prefix of their tools' names."""
    a2a_agents: dict[str, RemoteServer] = Field(default_factory=dict)
    """Other agents, by the prefix of the tool that sends them a message. `url` is the address below which their card is
    (`/.well-known/agent-card.json`).
    """
    web: Web = Field(default_factory=Web)
    """How the tool `web.fetch` reads pages."""
    image_providers: dict[Annotated[str, StringConstraints(pattern=NAME)], ImageProvider] = Field(default_factory=dict)
    """Services that make pictures from words, by the name that policy, budgets and results give them."""
    vision: VisionModel | None = None
    """The model that judges pictures; without one they are judged by heuristics alone, and the verdict says so."""
    multimodal: Multimodal = Field(default_factory=Multimodal)
    """How pictures and documents are made, where the deployment enables it."""
    commands: tuple[str, ...] = tuple(sorted(programs.ALLOWED))
    """Programs that a command may name (S2-20)."""
    calls_at_once: int = Field(default=16, ge=1)
    """Tool calls that this process runs at once."""
    calls_at_once_per_tenant: int = Field(default=8, ge=1)
    """One tenant's share of these."""
    effects_at_once: int = Field(default=16, ge=1)
    """Calls of tools from outside; others do not wait for these."""
    effects_at_once_per_tenant: int = Field(default=8, ge=1)
    """One tenant's share of these."""
    effect_attempts: int = Field(default=8, ge=1)
    """Tries to run, probe or undo, with growing pauses; then an effect that is in doubt is unknown."""
    probe_seconds: float = Field(default=30.0, gt=0)
    """How long one probe or undo may take."""
    settle_seconds: float = Field(default=1.0, ge=0)
    """Before an effect in doubt is probed or undone, so that what was on its way when its attempt ended has arrived."""
    cancel_seconds: float = Field(default=5.0, ge=0)
    """How long a cancel lets an effect end that could not be asked about afterwards."""
    workspaces_bytes_most: int = Field(default=128 << 20, ge=0)
    """Memory for open workspaces, estimated; the longest unused are let go, and read again when they are needed."""
    workspaces_idle_seconds: float = Field(default=300.0, ge=0)
    """An open workspace that is not used for so long is let go."""
    history_days: float = Field(default=30.0, ge=0)
    """How long a commit can be undone; then the files that it replaced or deleted are removed."""
    history_bytes_most: int = Field(default=10 * 1000**3, ge=0)
    """Maximum of each folder. Beyond it, history is removed, the oldest commit first."""
    rescan_seconds: float = Field(default=30.0, ge=0)
    """A kept tree older than this is read again before a call."""
    index_files_most: int = Field(default=20_000, ge=1)
    """Files of one folder in the index for content search."""
    index_text_bytes_most: int = Field(default=64 << 20, ge=1)
    """Maximum of all files of one folder; a search counts the others as stale."""
    index_passages_most: int = Field(default=20_000, ge=0)
    """Passages of one folder that are found by their meaning, of 0.8 KB each; other files are found by their words."""
    assets: Retention = Field(default_factory=Retention)
    """How long made pictures and documents are kept, and which of them are encrypted."""
    block_on_stale: bool = False
    """Refuse a search while files are not indexed as they are, instead of a warning in its answer (S4-23)."""

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if both := self.mcp_servers.keys() & self.a2a_agents.keys():
            raise ValueError(f"{', '.join(sorted(both))}: a name is that of an MCP server or of an agent, not of both")
        if programs_there := sorted(name for name, agent in self.a2a_agents.items() if agent.command):
            raise ValueError(f"{', '.join(programs_there)}: an agent has a url, not a command")
        return self

    @field_validator("mcp_servers", "a2a_agents")
    @classmethod
    def _named(cls, servers: dict[str, RemoteServer]) -> dict[str, RemoteServer]:
        for name in servers:
            if not re.fullmatch(NAME, name) or name in RESERVED:
                raise ValueError(f"{name!r} cannot be a server's name: use a-z, 0-9, `-` and `_`, not a name of Suma's")
        return servers
