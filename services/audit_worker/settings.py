"""The audit worker's settings."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    checkpoints: Path | None = None
    """The file of checkpoints outside Postgres. Best on a volume where the database's owner has no say.
    Unless given: `audit/checkpoints.jsonl` in the data directory."""
    look_seconds: float = Field(default=1.0, gt=0)
    """How often it is looked whether a checkpoint is due."""
