"""Rows of any kind, for the services that only tests have, and to write what no service would."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from libs.changes.rows import Row


@dataclass(frozen=True, slots=True)
class AnyRow(Row):
    into: tuple[str, str]  # type: ignore[misc]
    values: Mapping[str, Any]

    @override
    def columns(self) -> Mapping[str, Any]:
        return self.values


def any_row(schema: str, kind: str, /, **columns: Any) -> Row:
    """Return a row with these columns."""
    return AnyRow((schema, kind), columns)
