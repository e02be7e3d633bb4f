"""Typed rows and the SQL that reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from libs.changes.rows import Row, names_of

SERVICES = Path(__file__).parents[2] / "services"
HOMES = sorted(rows.parent.relative_to(SERVICES) for rows in SERVICES.rglob("rows.py"))
PARAGRAPH = re.compile(
    r"jsonb_to_recordset\((?:coalesce\()?changes -> '([a-z.]+)'(?:, '\[\]'\))?\)\s+as \w\s*\(([^)]+)\)"
)
LOOP = re.compile(
    r"array array\[([^\]]+)\] loop(?:(?!end loop).)*?jsonb_to_recordset\(changes -> kind\) as \w\(([^)]+)\)", re.DOTALL
)
"""A paragraph that several kinds share."""
APART = re.compile(r"(?<!recordset)(?<!recordset\(coalesce)\(changes -> '([a-z.]+)'")
"""A kind whose rows are read by a function of their own, or together with those of other kinds."""
WRITERS_OWN = {"i", "tenant_id"}
NUMBERS = {"n", "i"}
"""Columns that the writer adds: the number of the changeset in its batch, and that of the row."""


@pytest.mark.parametrize("home", HOMES, ids=str)
def test_each_row_has_the_columns_that_its_sql_reads(home: Path) -> None:
    sql = "\n".join(file.read_text() for file in sorted((SERVICES / home).glob("*.sql")))
    read: dict[str, set[str]] = {}
    for kind, columns in _paragraphs(sql):
        read.setdefault(kind, set()).update(column.split()[0].strip('"') for column in columns.split(","))
    rows = import_module(".".join(("services", *home.parts, "rows")))
    declared = [row for row in vars(rows).values() if isinstance(row, type) and issubclass(row, Row)]
    written: dict[str, set[str]] = {}
    for row in declared:
        if row is not Row:
            written.setdefault(row.into[1], set()).update(names_of(row))
    assert not any(NUMBERS & columns for columns in written.values()), "the writer numbers rows itself"
    apart, names = set(APART.findall(sql)), set(re.findall(r"\w+", sql))
    for kind in apart & written.keys():
        assert written.pop(kind) <= names, kind
    assert written == {kind: columns - WRITERS_OWN for kind, columns in read.items() if kind not in apart}


def _paragraphs(sql: str) -> Iterator[tuple[str, str]]:
    yield from PARAGRAPH.findall(sql)
    for kinds, columns in LOOP.findall(sql):
        yield from ((kind, columns) for kind in re.findall(r"'([a-z.]+)'", kinds))
