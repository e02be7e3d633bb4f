"""The allowlist of an agent's tools."""

from __future__ import annotations

import pytest

from libs.guards.allowlist import allows, as_policy_reads


@pytest.mark.parametrize("entry", ["*", "a.b", "a.*"])
def test_a_tool_is_allowed_by_its_name_its_namespace_or_all(entry: str) -> None:
    assert allows([entry], "a.b")


@pytest.mark.parametrize("listed", [[], ["a"], ["a.b.*"], ["b.*"], ["A.b"], ["a.bc"], ["ab.*"]])
def test_nothing_else_is(listed: list[str]) -> None:
    assert not allows(listed, "a.b")


def test_policy_reads_a_namespace_as_the_name_that_is_asked_about() -> None:
    assert as_policy_reads(["a.*", "c"], "a.b") == ["a.*", "c", "a.b"]
    assert as_policy_reads(["a.*"], "b.c") == ["a.*"]
