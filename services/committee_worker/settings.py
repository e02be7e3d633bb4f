"""The committee worker's settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    rejections_most: int = Field(default=3, ge=1, le=10)
    """Rejections after which the task fails safely, without running a tool."""  # S0-20
    calls_at_once: int = Field(default=128, ge=1)
    """Concurrent model calls of this process."""
    calls_at_once_per_tenant: int = Field(default=64, ge=1)
    """Concurrent model calls of one tenant: fewer than all, so that one tenant's slow model does not block others."""
