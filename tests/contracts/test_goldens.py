"""Examples of every event, written by hand: they load for ever, and match the published schemas."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from libs.events import registry
from libs.events.contracts import document, read
from libs.events.envelope import Malformed

PROTO = Path(__file__).resolve().parents[2] / "proto"
GOLDENS = sorted((PROTO / "golden").glob("*.json"))


def loaded(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text("utf-8")))


def test_every_event_has_an_example() -> None:
    assert {loaded(path)["type"] for path in GOLDENS} == set(registry)


def test_examples_survive_a_round_trip() -> None:
    examples = {golden.stem: loaded(golden) for golden in GOLDENS}
    assert [(name, part) for name, said in examples.items() for part in lost(said, document(read(said)))] == []


def test_examples_fit_the_written_schemas() -> None:
    assert [(golden.stem, message) for golden in GOLDENS for message in unfit(loaded(golden))] == []


@pytest.mark.parametrize("name", sorted(registry))
def test_every_field_has_a_value_in_an_example(name: str) -> None:
    """A later field gets another example, `<type>.2.json`: the first one stays unchanged."""
    shown: dict[type[BaseModel], set[str]] = defaultdict(set)
    for said in map(loaded, GOLDENS):
        if said["type"] == name:
            for part in parts(read(said).data):
                shown[type(part)] |= {field for field in type(part).model_fields if getattr(part, field) is not None}
    assert {cls: set(cls.model_fields) for cls in shown} == shown


@pytest.mark.parametrize("attribute", ["id", "type", "source", "time", "tenantid", "partitionkey", "data"])
def test_an_event_without_one_of_its_attributes_is_malformed(attribute: str) -> None:
    said = loaded(GOLDENS[0])
    del said[attribute]
    with pytest.raises(Malformed, match=f"lacks {attribute}"):
        read(said)


def test_unknown_fields_are_ignored() -> None:
    said = loaded(GOLDENS[0])
    newer = {**said, "newattribute": "x", "data": {**said["data"], "new_field": 1}}
    assert read(newer) == read(said)


def unfit(said: Mapping[str, Any]) -> Iterator[str]:
    """Return what the written schema of its type finds wrong."""
    schema = loaded(PROTO / "events" / f"{said['type']}.json")
    Draft202012Validator.check_schema(schema)
    checker = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    yield from (problem.message for problem in checker.iter_errors(said))


def lost(said: Any, kept: Any, at: str = "") -> Iterator[str]:
    """Return the parts of `said` that `kept` lacks or changes."""
    if isinstance(said, Mapping) and isinstance(kept, Mapping):
        for name, value in said.items():
            yield from lost(value, kept.get(name), f"{at}.{name}")
    elif isinstance(said, list) and isinstance(kept, list) and len(said) == len(kept):
        for place, (value, held) in enumerate(zip(said, kept, strict=True)):
            yield from lost(value, held, f"{at}.{place}")
    elif said != kept:
        yield at


def parts(value: Any) -> Iterator[BaseModel]:
    """Yield every event and the values within it."""
    if isinstance(value, BaseModel):
        yield value
        for field in type(value).model_fields:
            yield from parts(getattr(value, field))
    elif isinstance(value, tuple):
        for item in value:
            yield from parts(item)
