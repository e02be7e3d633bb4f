"""How turns are run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Mode = Literal["model", "mock"]
Keep = Literal["none", "failed", "all"]


@dataclass(frozen=True)
class Config:
    """The settings of the committee worker (docs/turn-runner.md)."""

    program: Path
    mode: Mode = "model"
    script: Path | None = None
    """The script of the mode `mock`: JSON, a list of rounds."""
    seconds: float = 600.0
    """The deadline of a container."""
    idle_seconds: float = 60.0
    """How long a container waits for its calls; after that, another one goes on with their results."""
    at_once: int = 8
    at_once_per_tenant: int = 4
    keep: Keep = "failed"
    """The containers of which a record is kept."""
    keep_seconds: float = 86_400.0
    home: Path | None = None
    """The folder of the records."""
