"""The memory service's settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    facts_most: int = Field(default=100, ge=1)
    """Facts in the `<memory>` block of a prompt, latest first."""
    block_most: int = Field(default=8_000, ge=200)
    """Characters of that block."""
