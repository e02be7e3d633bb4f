"""The executor's settings."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    roots: tuple[Path, ...] = ()
    """Folders whose sub-folders may be workspaces; `roots.json` of the data directory adds what a person allowed."""
    calls_at_once: int = Field(default=16, ge=1)
    calls_at_once_per_tenant: int = Field(default=8, ge=1)
    policy_seconds: float = Field(default=60.0, gt=0)
    workspaces_kept: int = Field(default=32, ge=1)
    """Open trees in memory; others are read again when they are needed."""
    rescan_seconds: float = Field(default=30.0, ge=0)
    """A kept tree older than this is read again before a call."""
    index_bytes_most: int = Field(default=256 * 1024, ge=1)
    """Of each file, for content search."""
    index_files_most: int = Field(default=20_000, ge=1)
