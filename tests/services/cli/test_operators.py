"""Times as an operator writes them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.cli.errors import Usage
from services.cli.operators import moment

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("30m", "2026-01-31T11:30:00+00:00"),
        ("2h", "2026-01-31T10:00:00+00:00"),
        ("7d", "2026-01-24T12:00:00+00:00"),
        ("2026-01-30", "2026-01-30T00:00:00+00:00"),
        ("2026-01-30T08:00:00+02:00", "2026-01-30T08:00:00+02:00"),
    ],
)
def test_time_is_an_age_or_a_date(said: str, meant: str) -> None:
    assert moment(said, NOW) == meant


@pytest.mark.parametrize("said", ["", "soon", "7", "7w", "999999d", "2026-13-01"])
def test_invalid_time_is_a_usage_error(said: str) -> None:
    with pytest.raises(Usage, match="is not a time"):
        moment(said, NOW)
