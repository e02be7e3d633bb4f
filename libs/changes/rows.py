"""Typed rows: a frozen dataclass for each kind of change, instead of a name and keyword arguments.

A service declares its kinds in its own `rows.py`; the fields are the columns that `<schema>.apply` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar, dataclass_transform

R = TypeVar("R", bound="Row")


@dataclass(frozen=True, slots=True)
class Row:
    """A change of one row. `into` names its schema and its paragraph in `<schema>.apply`; its tenant is the
    changeset's.
    """

    into: ClassVar[tuple[str, str]]

    def columns(self) -> Mapping[str, Any]:
        """Return the columns by name, without those that are null."""
        # Left out, because Postgres reads an absent column of a JSON row as null.
        return {name: value for name in names_of(type(self)) if (value := getattr(self, name)) is not None}


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def row(schema: str, kind: str) -> Callable[[type[R]], type[R]]:
    """Declare a class as the rows of this kind, whose columns are its fields."""

    def declared(cls: type[R]) -> type[R]:
        cls.into = schema, kind
        return dataclass(frozen=True, slots=True)(cls)

    return declared


def names_of(row: type[Row]) -> tuple[str, ...]:
    """Return the columns of a kind of row."""
    return tuple(row.__match_args__)
