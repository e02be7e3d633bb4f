"""Typed rows and the SQL that reads them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from libs.changes.rows import NUMBERS, Row, names_of
from services import conversation_worker, tool_executor
from services.conversation_worker import rows as conversation_rows
from services.tool_executor import rows as executor_rows

ROWS = {conversation_worker: conversation_rows, tool_executor: executor_rows}
PARAGRAPH = re.compile(r"jsonb_to_recordset\(changes -> '([a-z.]+)'\)\s+as \w\s*\(([^)]+)\)")
WRITERS_OWN = {"i", "tenant_id"}


@pytest.mark.parametrize("service", ROWS, ids=lambda service: service.__name__.rpartition(".")[2])
def test_each_row_has_the_columns_that_its_sql_reads(service: object) -> None:
    sql = (Path(str(service.__file__)).parent / "apply.sql").read_text()  # type: ignore[attr-defined]
    read: dict[str, set[str]] = {}
    for kind, columns in PARAGRAPH.findall(sql):
        read.setdefault(kind, set()).update(column.split()[0] for column in columns.split(","))
    declared = [row for row in vars(ROWS[service]).values() if isinstance(row, type) and issubclass(row, Row)]  # type: ignore[index]
    written = {row.into[1]: set(names_of(row)) for row in declared if row is not Row}
    assert not any(NUMBERS & columns for columns in written.values()), "the writer numbers rows itself"
    assert written == {kind: columns - WRITERS_OWN for kind, columns in read.items()}
