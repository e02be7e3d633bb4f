"""The rows of answers of requests: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from libs.changes import Row
from services.gateway.schema import GROUP


@dataclass(frozen=True, slots=True)
class ReceiptPut(Row):
    """The receipt of an idempotent request, kept for `keep` seconds; a second one with its key conflicts."""

    into: ClassVar = (GROUP, "idempotency.put")

    principal: str
    key: str
    body_hash: str
    receipt: Mapping[str, Any]
    keep: float
