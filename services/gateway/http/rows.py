"""The rows of answers of requests: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from libs.changes import Row, row
from services.gateway.schema import GROUP


@row(GROUP, "idempotency.put")
class ReceiptPut(Row):
    """The receipt of an idempotent request, kept for `keep` seconds; a second one with its key conflicts."""

    principal: str
    key: str
    body_hash: str
    receipt: Mapping[str, Any]
    keep: float
