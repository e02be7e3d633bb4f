"""The committee's settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    rejections_most: int = Field(default=3, ge=1, le=10)
    """After so many rejections the task fails safely, and no tool has run (S0-20)."""
    policy_seconds: float = Field(default=60.0, gt=0)
    """How long an unanswered policy question is asked again before the plan is refused as POLICY_UNAVAILABLE."""
    calls_at_once: int = Field(default=128, ge=1)
    """Model calls that this process makes side by side."""
    calls_at_once_per_tenant: int = Field(default=64, ge=1)
    """Of these, one tenant's: fewer than all, so that nobody's slow model keeps another waiting."""
