"""The gate between two schemas of one version: changes that break an old event or its reader are refused."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel, Field, create_model

from libs.events.contracts import breaks


class Colour(Enum):
    RED, BLUE = "red", "blue"


class Fewer(Enum):
    RED = "red"


class Part(BaseModel):
    name: str
    note: str = ""


class PartWithoutNote(BaseModel):
    name: str


class Tree(BaseModel):
    children: list[Tree] = []


class Old(BaseModel):
    text: str = Field(max_length=100)
    size: float = 0
    count: int = Field(default=0, ge=0)
    colour: Colour = Colour.RED
    owner: str | None = None
    part: Part | None = None
    parts: list[Part] = []
    args: dict[str, Any] = {}
    tree: Tree | None = None


def versus(**fields: Any) -> list[str]:
    """Return the gate's findings for Old with other fields; None removes a field."""
    declared = {name: (info.annotation, info) for name, info in Old.model_fields.items()} | fields
    space: dict[str, Any] = {name: given for name, given in declared.items() if given is not None}
    new: type[BaseModel] = create_model("New", **space)
    return breaks(Old.model_json_schema(), new.model_json_schema())


def test_unchanged_fields_are_compatible() -> None:
    assert versus() == []


@pytest.mark.parametrize(
    "fields",
    [
        {"comment": (str, "")},
        {"comment": (str | None, None)},
        {"text": (str, Field(max_length=200))},
        {"text": (str, "optional now")},
        {"text": (str | None, ...)},
        {"count": (float, 0)},
        {"args": (Any, None)},
    ],
)
def test_an_optional_field_or_a_wider_type_passes(fields: dict[str, Any]) -> None:
    assert versus(**fields) == []


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"owner": None}, "field `owner` was removed"),
        ({"owner": None, "person": (str | None, None)}, "field `owner` was removed (renamed to person?)"),
        ({"count": (int, Field(ge=0))}, "field `count` became required"),
        ({"extra": (str, ...)}, "field `extra` is new and required; give it a default"),
        ({"size": (int, 0)}, "field `size` narrowed from integer or number to integer"),
        ({"owner": (str, "")}, "field `owner` no longer takes null"),
        ({"colour": (Fewer, Fewer.RED)}, "field `colour` no longer takes blue"),
        ({"args": (dict[str, int], {})}, "field `args{}` narrowed from anything to integer"),
        ({"part": (PartWithoutNote | None, None)}, "field `part.note` was removed"),
        ({"parts": (list[PartWithoutNote], [])}, "field `parts[].note` was removed"),
        ({"text": (str, Field(max_length=50))}, "field `text` narrowed: maxLength 100 → 50"),
        ({"count": (int, Field(default=0, ge=1))}, "field `count` narrowed: minimum 0 → 1"),
        ({"text": (str, Field(max_length=100, pattern="^a"))}, "field `text` narrowed: pattern none → ^a"),
    ],
)
def test_incompatible_schema_change_is_named(fields: dict[str, Any], sentence: str) -> None:
    assert versus(**fields) == [sentence]


def test_an_event_keeps_its_topic() -> None:
    assert breaks({"x-topic": "tool.requests"}, {"x-topic": "tool.results"}) == [
        "it moved from topic tool.requests to tool.results"
    ]
