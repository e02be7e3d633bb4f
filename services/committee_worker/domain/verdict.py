"""What a model critic said, read strictly: anything but a clear approval is a rejection (acceptance 1)."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict

from libs.events.values import Review

REASON_MOST = 1000


class Spoken(BaseModel):
    """The shape asked of the critic (S0-17)."""

    model_config = ConfigDict(strict=True, extra="ignore")

    approved: bool
    reason: str = ""
    step: int | None = None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that says no key twice: of two verdicts neither counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is said twice")
    return found


def read(text: str) -> Review:
    """The verdict in a critic's words: prose, nothing, malformed or truncated JSON is a rejection."""
    try:
        spoken = Spoken.model_validate(json.loads(text, object_pairs_hook=_once))
    except (ValueError, RecursionError):
        return Review(
            approved=False, reason="The critic did not give a verdict that can be read. Rejected.", by="model"
        )
    return Review(approved=spoken.approved, reason=spoken.reason[:REASON_MOST], by="model", step=spoken.step)
