"""docs/security.md names the test of each defence, and each named test exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "security.md"
WEB = TESTS.parent / "services" / "gateway" / "web" / "tests"
NAMED = re.compile(r"`([\w/]*test_\w+\.py|[\w-]+\.test\.tsx?)`")
SAME = "the same"
"""The test of the row above."""


def exists(name: str) -> bool:
    """Return whether a test file is where the page says."""
    if not name.endswith(".py"):
        return (WEB / name).is_file()
    return (TESTS / name).is_file() if "/" in name else any((TESTS / "services" / "gateway").rglob(name))


def test_each_test_of_the_threat_model_exists() -> None:
    assert [name for name in NAMED.findall(PAGE.read_text("utf-8")) if not exists(name)] == []


def defences() -> Iterator[tuple[str, str]]:
    """Yield each threat of the page with the cell that names its test."""
    for table in PAGE.read_text("utf-8").split("\n\n"):
        head, *rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")] or [[""]]
        if head[-1] == "test":
            yield from ((row[0], row[-1]) for row in rows)


def test_each_defence_of_the_threat_model_names_a_test() -> None:
    found = list(defences())
    assert len(found) > 30
    assert [threat for threat, test in found if not NAMED.search(test) and SAME not in test] == []
