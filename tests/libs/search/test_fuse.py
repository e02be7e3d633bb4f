"""Reciprocal rank fusion."""

from __future__ import annotations

from libs.search import fuse


def test_an_id_high_in_both_rankings_comes_first() -> None:
    assert [match.id for match in fuse(["a", "b", "c"], ["b", "d"])] == ["b", "a", "d", "c"]


def test_ties_are_ordered_by_id() -> None:
    assert [match.id for match in fuse(["b"], ["a"])] == ["a", "b"]
