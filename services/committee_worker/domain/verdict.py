"""Strict parsing of a model critic's verdict: anything but a clear approval is a rejection (acceptance 1)."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict

from libs.events import Review

REASON_MOST = 1000


class CriticVerdict(BaseModel):
    """The JSON that the critic must return (S0-17)."""

    # Strict: the string "true" or the number 1 is no approval.
    model_config = ConfigDict(strict=True, extra="ignore")

    approved: bool
    reason: str = ""
    step: int | None = None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a dict; reject duplicate keys, since two contradictory verdicts are none."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def read(text: str) -> Review:
    """Parse the critic's verdict. Prose, empty text and malformed or truncated JSON are rejections."""
    try:
        verdict = CriticVerdict.model_validate(json.loads(text, object_pairs_hook=_unique_keys))
    # Brackets that nest without end exhaust the parser's stack.
    except (ValueError, RecursionError):
        return Review(approved=False, reason="The critic's verdict is not readable. Rejected.", by="model")
    return Review(approved=verdict.approved, reason=verdict.reason[:REASON_MOST], by="model", step=verdict.step)
