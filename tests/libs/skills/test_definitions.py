"""Args are checked against a tool's schema: missing, extra and wrong ones are reported apart."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from libs.skills import Skills, ToolDefinition, ValidationResult, is_reference


@pytest.fixture(scope="module")
def skills() -> Skills:
    return Skills.load([Path(__file__).parents[3] / "skills"])


@pytest.fixture
def rename(skills: Skills) -> ToolDefinition:
    return skills.tool("manage-files.rename")


@pytest.mark.requirement("S4-32", "S4-43")
def test_args_that_fit_are_valid(rename: ToolDefinition) -> None:
    assert rename.validate({"path": "a.txt", "new_name": "b.txt"}) == ValidationResult()


@pytest.mark.requirement("S4-32", "S4-43")
def test_missing_and_extra_args_are_named(rename: ToolDefinition) -> None:
    result = rename.validate({"path": "a.txt", "force": True})
    assert (result.valid, result.missing, result.extra) == (False, ("new_name",), ("force",))


@pytest.mark.requirement("S4-32", "S4-43")
@pytest.mark.parametrize("name", ["", "a/b", "..", ".", "a\0b", 5, None, "x" * 256])
def test_a_new_name_is_one_name(rename: ToolDefinition, name: Any) -> None:
    assert rename.validate({"path": "a.txt", "new_name": name}).problems


@pytest.mark.requirement("S4-35")
def test_step_reference_is_accepted_in_place_of_a_value(skills: Skills) -> None:
    remove = skills.tool("remove-duplicates.remove")
    assert remove.validate({"groups": "$step(1).groups"}).valid
    assert not remove.validate({"groups": "step 1"}).valid
    assert remove.validate({"groups": [{"id": "g1"}]}).valid


@pytest.mark.requirement("S4-35")
@pytest.mark.parametrize("text", ["$step(1).nodes", "$step(12).by_category"])
def test_references_are_known(text: str) -> None:
    assert is_reference(text)


@pytest.mark.requirement("S4-35")
@pytest.mark.parametrize("text", ["$step(1)", "$step(x).nodes", "a $step(1).nodes", "$step(1).nodes.x", 1, None])
def test_other_values_are_no_references(text: object) -> None:
    assert not is_reference(text)


@pytest.mark.requirement("A22")
def test_pattern_of_a_tool_costs_linear_time(rename: ToolDefinition) -> None:
    params = {"type": "object", "properties": {"path": {"type": "string", "pattern": "^(a+)+$"}}}
    began = time.process_time()
    assert replace(rename, params=params).validate({"path": "a" * 50_000 + "!"}).problems
    assert time.process_time() - began < 1.0
