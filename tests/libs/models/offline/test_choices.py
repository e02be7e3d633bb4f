"""What a listing chooses is said as people say it: a time by its years, its months or its days."""

from __future__ import annotations

from typing import Any

import pytest

from libs.models.offline.choices import Choosing
from libs.skills import Categories

pytestmark = pytest.mark.requirement("S4-44", "S4-46")


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ({"modified_after": "2023-01-01", "modified_before": "2024-01-01"}, "files from 2023"),
        ({"modified_after": "2021-01-01", "modified_before": "2024-01-01"}, "files from 2021–2023"),
        ({"modified_after": "2023-05-01", "modified_before": "2023-06-01"}, "files from 2023-05"),
        ({"modified_after": "2026-03-01", "modified_before": "2026-05-01"}, "files from 2026-03–2026-04"),
        ({"modified_after": "2026-07-02", "modified_before": "2026-07-03"}, "files from 2026-07-02"),
        ({"modified_after": "2026-07-02", "modified_before": "2026-07-09"}, "files from 2026-07-02–2026-07-08"),
        ({"modified_before": "2024-01-01"}, "files from before 2024"),
        ({"modified_after": "2024-05-01"}, "files since 2024-05-01"),
        ({"larger_than": 10, "modified_before": "2024-03-02"}, "files over 10 from before 2024-03-02"),
    ],
)
def test_a_time_is_said_in_one(categories: Categories, bounds: dict[str, Any], told: str) -> None:
    assert Choosing("en", categories, str).what({"node_kind": "file", **bounds}) == told


def test_those_of_some_files_are_told_by_what_bounds_them(categories: Categories) -> None:
    bounds = {"include": ["a.jpg"], "modified_after": "2026-07-02", "modified_before": "2026-07-03"}
    assert Choosing("en", categories, str).of_these("2 files", bounds) == "those of 2 files from 2026-07-02"
