"""The audit worker's settings."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    checkpoints: Path | None = None
    """The checkpoint file outside Postgres, best on a volume that the database's owner cannot write. Default:
    `audit/checkpoints.jsonl` in the data directory.
    """
    look_seconds: float = Field(default=1.0, gt=0)
    """Seconds between checks for due checkpoints."""
