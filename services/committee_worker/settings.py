"""The committee worker's settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FilePath, model_validator

if TYPE_CHECKING:
    from libs.turn_runner import Config


class Containers(BaseModel):
    """Turns in containers (docs/turn-runner.md)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = False
    """Whether each turn runs in a container of its own, which asks for tools and the model over a socket."""
    mode: Literal["model", "mock"] = "model"
    """The mode of the bundled program: `model` asks the configured model, `mock` plays a script."""
    program: FilePath | None = None
    """A Python program to run in place of the bundled one."""
    script: FilePath | None = None
    """The script of the mode `mock`: JSON, a list of rounds."""
    seconds: float = Field(default=600.0, gt=0)
    """The deadline of a container."""
    idle_seconds: float = Field(default=60.0, ge=0)
    """How long a container waits for its calls; after that, another one goes on with their results."""
    at_once: int = Field(default=8, ge=1)
    """Containers of this process at once; each may take 512 MB."""
    at_once_per_tenant: int = Field(default=4, ge=1)
    """One tenant's share of these."""
    keep: Literal["none", "failed", "all"] = "failed"
    """The containers whose input, output and log are kept, in `turns` of the data directory."""
    keep_seconds: float = Field(default=86_400.0, ge=0)
    """How long they are kept."""

    @model_validator(mode="after")
    def _script_where_one_is_played(self) -> Self:
        if self.enabled and self.mode == "mock" and self.program is None and self.script is None:
            raise ValueError("the mode mock plays a script: set it")
        return self


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    rejections_most: int = Field(default=3, ge=1, le=10)
    """Rejections after which the task fails safely, without running a tool."""  # S0-20
    calls_at_once: int = Field(default=128, ge=1)
    """Concurrent model calls of this process."""
    calls_at_once_per_tenant: int = Field(default=64, ge=1)
    """Concurrent model calls of one tenant: fewer than all, so that one tenant's slow model does not block others."""
    containers: Containers = Containers()
    """Turns in containers."""

    def runner(self, *, bundled: Path, home: Path) -> Config | None:
        """Return how turns run in containers; None if they do not. `home` is the place of records of ended turns."""
        asked = self.containers
        if not asked.enabled:
            return None
        from libs.turn_runner import Config

        return Config(
            program=asked.program or bundled,
            mode=asked.mode,
            script=asked.script,
            seconds=asked.seconds,
            idle_seconds=asked.idle_seconds,
            at_once=asked.at_once,
            at_once_per_tenant=asked.at_once_per_tenant,
            keep=asked.keep,
            keep_seconds=asked.keep_seconds,
            home=home,
        )
