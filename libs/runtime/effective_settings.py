"""A setting as it is in force in this process, with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Source = Literal["default", "environment", "file", "secret_file"]


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """One value in force. A secret's value is never here, only whether it is set."""

    name: str
    """The path of names, such as `gateway.web_hours`."""
    service: str
    """The service whose section it is in; `platform` for those that every process shares."""
    variable: str
    """The environment variable that sets it."""
    value: object
    """JSON; stars for a secret that is set."""
    secret: bool
    origin: Source
    source: str
    """The variable's name, the file's path, or `default`."""
    description: str

    @property
    def is_set(self) -> bool:
        return self.value is not None
