"""The executor's settings."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from libs.remote_tools import RemoteServer
from libs.remote_tools.settings import NAME, RESERVED
from libs.workspace.roots import Root
from services.tool_executor.tools.texts import Bounds
from services.tool_executor.tools.tool_context import Limits


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

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
    index_bytes_most: int = Field(default=256 * 1024, ge=1)
    """Maximum of each file, for content search."""
    index_files_most: int = Field(default=20_000, ge=1)
    """Files of one folder in the index for content search."""
    index_text_bytes_most: int = Field(default=64 << 20, ge=1)
    """Maximum of all files of one folder; a search counts the others as stale."""
    read_bytes_most: int = Field(default=4 << 20, ge=1)
    """Maximum of one file that is parsed, explained or summarised."""
    document_bytes_most: int = Field(default=32 << 20, ge=1)
    """Maximum of one PDF or office file that is read."""
    search_documents_most: int = Field(default=200, ge=0)
    """PDF and office files that one content search reads anew; the next one goes on."""
    search_documents_bytes_most: int = Field(default=256 << 20, ge=0)
    """Bytes of these files."""
    search_documents_seconds: float = Field(default=20.0, ge=0)
    """Seconds that one content search spends on reading them."""
    summary_files_most: int = Field(default=100, ge=1)
    """Files that one summary reads."""
    archive_bytes_most: int = Field(default=1 << 30, ge=1)
    """Packed or unpacked by one call, counted as they pass; the archive itself is also a blob (`blob_bytes_most`)."""
    archive_entries_most: int = Field(default=10_000, ge=1)
    """Files and folders in one archive."""
    archive_ratio_most: int = Field(default=200, ge=1)
    """Bytes that may come out of each byte of an archive, from ten megabytes on."""
    copy_bytes_most: int = Field(default=4 << 30, ge=1)
    """Copied by one call."""
    copy_entries_most: int = Field(default=10_000, ge=1)
    """Files and folders that one call copies, at every depth."""
    staged_bytes_most: int = Field(default=4 << 30, ge=1)
    """Contents that one turn may stage beside its log."""

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if both := self.mcp_servers.keys() & self.a2a_agents.keys():
            raise ValueError(f"{', '.join(sorted(both))}: a name is that of an MCP server or of an agent, not of both")
        return self

    @field_validator("mcp_servers", "a2a_agents")
    @classmethod
    def _named(cls, servers: dict[str, RemoteServer]) -> dict[str, RemoteServer]:
        for name in servers:
            if not re.fullmatch(NAME, name) or name in RESERVED:
                raise ValueError(f"{name!r} cannot be a server's name: use a-z, 0-9, `-` and `_`, not a name of Suma's")
        return servers

    @property
    def search(self) -> Bounds:
        """The bounds of one content search."""
        return Bounds(
            text_bytes=self.index_bytes_most,
            document_bytes=self.document_bytes_most,
            documents=self.search_documents_most,
            documents_bytes=self.search_documents_bytes_most,
            documents_seconds=self.search_documents_seconds,
        )

    @property
    def limits(self) -> Limits:
        """The bounds of one call."""
        return Limits(
            read_bytes=self.read_bytes_most,
            document_bytes=self.document_bytes_most,
            texts=self.summary_files_most,
            archive_bytes=self.archive_bytes_most,
            archive_entries=self.archive_entries_most,
            archive_ratio=self.archive_ratio_most,
            copy_bytes=self.copy_bytes_most,
            copy_entries=self.copy_entries_most,
            staged_bytes=self.staged_bytes_most,
        )
