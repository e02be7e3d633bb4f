"""Typed rows and the SQL that reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from libs.changes.rows import Row, names_of
from services import audit_worker, conversation_worker, gateway, memory_service, tool_executor
from services.audit_worker import rows as audit_rows
from services.conversation_worker import rows as conversation_rows
from services.gateway.sessions import rows as gateway_rows
from services.memory_service import rows as memory_rows
from services.tool_executor import rows as executor_rows

ROWS = {
    audit_worker: audit_rows,
    conversation_worker: conversation_rows,
    gateway: gateway_rows,
    memory_service: memory_rows,
    tool_executor: executor_rows,
}
PARAGRAPH = re.compile(
    r"jsonb_to_recordset\((?:coalesce\()?changes -> '([a-z.]+)'(?:, '\[\]'\))?\)\s+as \w\s*\(([^)]+)\)"
)
LOOP = re.compile(
    r"array array\[([^\]]+)\] loop(?:(?!end loop).)*?jsonb_to_recordset\(changes -> kind\) as \w\(([^)]+)\)", re.DOTALL
)
"""A paragraph that several kinds share."""
WRITERS_OWN = {"i", "tenant_id"}
NUMBERS = {"n", "i"}
"""Columns that the writer adds: the number of the changeset in its batch, and that of the row."""


@pytest.mark.parametrize("service", ROWS, ids=lambda service: service.__name__.rpartition(".")[2])
def test_each_row_has_the_columns_that_its_sql_reads(service: ModuleType) -> None:
    sql = (Path(str(service.__file__)).parent / "apply.sql").read_text()
    read: dict[str, set[str]] = {}
    for kind, columns in _paragraphs(sql):
        read.setdefault(kind, set()).update(column.split()[0].strip('"') for column in columns.split(","))
    declared = [row for row in vars(ROWS[service]).values() if isinstance(row, type) and issubclass(row, Row)]
    written: dict[str, set[str]] = {}
    for row in declared:
        if row is not Row:
            written.setdefault(row.into[1], set()).update(names_of(row))
    assert not any(NUMBERS & columns for columns in written.values()), "the writer numbers rows itself"
    assert written == {kind: columns - WRITERS_OWN for kind, columns in read.items()}


def _paragraphs(sql: str) -> Iterator[tuple[str, str]]:
    yield from PARAGRAPH.findall(sql)
    for kinds, columns in LOOP.findall(sql):
        yield from ((kind, columns) for kind in re.findall(r"'([a-z.]+)'", kinds))
