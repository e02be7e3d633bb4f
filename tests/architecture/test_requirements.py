"""Each marker names an existing row, and the requirements page matches the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proofs import PAGE, marks, page, proofs, rows


def test_every_mark_is_a_row() -> None:
    known = {row.id for row in rows()}
    unknown = {row: files for row, files in proofs().items() if row not in known}
    assert unknown == {}


def test_every_row_has_one_line() -> None:
    ids = [row.id for row in rows()]
    assert len(set(ids)) == len(ids)
    assert {"P1", "S0-01", "S3-75", "S4-62", "A1", "A17b", "A38"} <= set(ids)


@pytest.mark.parametrize(
    "mark", ["@pytest.mark.requirement('S9-99', 'A1')", "pytestmark = pytest.mark.requirement('S9-99', 'A1')"]
)
def test_marks_of_functions_and_modules_are_found(tmp_path: Path, mark: str) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(
        f"import pytest\n{mark}\ndef test() -> None: ...\n" if mark[0] == "@" else f"import pytest\n{mark}\n"
    )
    assert list(marks(file)) == ["S9-99", "A1"]


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `make requirements`"
