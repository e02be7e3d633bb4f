"""How long assets are kept, and which of them are encrypted."""

from __future__ import annotations

import re
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class RetentionClass(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    days: float | None = Field(default=None, ge=0)
    """How long its assets are kept; without it, until their session is erased."""
    encrypted: bool = True
    """Whether contents are encrypted in the object store, each with a key of its own."""

    @property
    def seconds(self) -> float | None:
        return None if self.days is None else self.days * 86_400


class Retention(BaseModel):
    """The classes of assets, by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    classes: dict[str, RetentionClass] = Field(
        default_factory=lambda: {
            "ephemeral": RetentionClass(days=7),
            "standard": RetentionClass(days=365),
            "permanent": RetentionClass(),
        }
    )
    """A class that is removed while assets of it are kept stays readable, with the keys of the deployment."""
    default: str = "standard"
    """The class of an asset whose call names none."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if wrong := next((name for name in self.classes if not re.fullmatch("[a-z][a-z0-9-]{0,30}", name)), None):
            raise ValueError(f"{wrong!r} cannot be a class of assets: use a-z, 0-9 and `-`")
        if self.default not in self.classes:
            raise ValueError(f"the default class {self.default!r} is none of {', '.join(sorted(self.classes))}")
        return self
