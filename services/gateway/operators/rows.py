"""The rows of dead letters: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from libs.changes import Row, row
from services.gateway.schema import GROUP


@row(GROUP, "dead.close")
class DeadLetterClosed(Row):
    """The replay or discard of an open dead letter; one that is closed conflicts."""

    letter_id: str
    state: str
    closed_by: str
    reason: str
