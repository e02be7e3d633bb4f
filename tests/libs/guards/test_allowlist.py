"""The allowlist of an agent's tools."""

from __future__ import annotations

import pytest

from libs.guards.allowlist import allows, as_policy_reads


@pytest.mark.parametrize("entry", ["*", "a.b", "a.*"])
def test_tool_is_allowed_by_name_namespace_or_wildcard(entry: str) -> None:
    assert allows([entry], "a.b")


@pytest.mark.parametrize("listed", [[], ["a"], ["a.b.*"], ["b.*"], ["A.b"], ["a.bc"], ["ab.*"]])
def test_unlisted_tool_is_refused(listed: list[str]) -> None:
    assert not allows(listed, "a.b")


def test_policy_sees_the_tool_name_that_a_namespace_allows() -> None:
    assert as_policy_reads(["a.*", "c"], "a.b") == ["a.*", "c", "a.b"]
    assert as_policy_reads(["a.*"], "b.c") == ["a.*"]
