"""The executor's settings."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    roots: tuple[Path, ...] = ()
    """Folders whose sub-folders may be workspaces; `roots.json` of the data directory adds what a person allowed."""
    tools: tuple[str, ...] = ()
    """Tools from outside: each `module:attribute` or an entry point of `suma.tools`, with `@sha256:…` where pinned."""
    calls_at_once: int = Field(default=16, ge=1)
    calls_at_once_per_tenant: int = Field(default=8, ge=1)
    effects_at_once: int = Field(default=16, ge=1)
    """Calls of tools from outside; others do not wait for these."""
    effects_at_once_per_tenant: int = Field(default=8, ge=1)
    effect_attempts: int = Field(default=8, ge=1)
    """Tries to run, probe or undo, with growing pauses; then an effect that is in doubt is unknown."""
    probe_seconds: float = Field(default=30.0, gt=0)
    """How long one probe or undo may take."""
    settle_seconds: float = Field(default=1.0, ge=0)
    """Before an effect in doubt is probed or undone, so that what was on its way when its attempt ended has arrived."""
    cancel_seconds: float = Field(default=5.0, ge=0)
    """How long a cancel lets an effect end that could not be asked about afterwards."""
    policy_seconds: float = Field(default=60.0, gt=0)
    workspaces_kept: int = Field(default=32, ge=1)
    """Open trees in memory; others are read again when they are needed."""
    rescan_seconds: float = Field(default=30.0, ge=0)
    """A kept tree older than this is read again before a call."""
    index_bytes_most: int = Field(default=256 * 1024, ge=1)
    """Of each file, for content search."""
    index_files_most: int = Field(default=20_000, ge=1)
