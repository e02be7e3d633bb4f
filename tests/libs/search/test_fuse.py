"""Fusion of rankings, a second opinion, and the choice of different matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.search import Match, diversify, fuse, rerank

IDS = st.text("abcdefgh", min_size=1, max_size=2)
RANKINGS = st.dictionaries(st.sampled_from(["vectors", "words", "dates"]), st.lists(IDS, unique=True), min_size=1)


def order(matches: Sequence[Match]) -> list[str]:
    return [match.id for match in matches]


def test_an_id_high_in_both_rankings_comes_first() -> None:
    assert order(fuse({"vectors": ["a", "b", "c"], "words": ["b", "d"]})) == ["b", "a", "d", "c"]


def test_ties_are_ordered_by_id() -> None:
    assert order(fuse({"vectors": ["b"], "words": ["a"]})) == ["a", "b"]


def test_each_source_explains_its_share_of_a_score() -> None:
    first, second = fuse({"vectors": ["a", "b"], "words": ["a"]})
    assert [(one.name, one.rank, one.contribution) for one in first.sources] == [("vectors", 1, 0.5), ("words", 1, 0.5)]
    assert (first.score, round(second.score, 4)) == (1.0, round(61 / 62 / 2, 4))


@given(RANKINGS)
def test_first_in_every_ranking_stays_first(rankings: Mapping[str, Sequence[str]]) -> None:
    best = fuse({name: ["!", *ids] for name, ids in rankings.items()})[0]
    assert (best.id, best.score) == ("!", 1.0)


@given(RANKINGS)
def test_order_does_not_depend_on_the_order_of_rankings(rankings: Mapping[str, Sequence[str]]) -> None:
    turned = dict(reversed([*rankings.items()]))
    assert order(fuse(rankings)) == order(fuse(turned))


@given(RANKINGS)
def test_every_id_is_scored_once_by_its_sources(rankings: Mapping[str, Sequence[str]]) -> None:
    matches = fuse(rankings)
    assert sorted(order(matches)) == sorted({id for ids in rankings.values() for id in ids})
    assert all(match.score == pytest.approx(sum(one.contribution for one in match.sources)) for match in matches)
    assert all(0 < match.score <= 1 for match in matches)


@given(RANKINGS, st.frozensets(IDS))
def test_filtered_ids_take_no_place(rankings: Mapping[str, Sequence[str]], dropped: frozenset[str]) -> None:
    without = {name: [id for id in ids if id not in dropped] for name, ids in rankings.items()}
    assert fuse(rankings, keep=lambda id: id not in dropped) == fuse(without)


def test_fusion_looks_at_each_place_once() -> None:
    seen: list[str] = []
    ids = [str(n) for n in range(2_000)]
    fuse({"vectors": ids, "words": ids[::-1]}, keep=lambda id: not seen.append(id))  # type: ignore[func-returns-value]
    assert len(seen) == 2 * len(ids)


@given(RANKINGS, st.integers(0, 10), st.floats(0, 1))
def test_diversity_never_returns_a_match_twice(
    rankings: Mapping[str, Sequence[str]], most: int, balance: float
) -> None:
    matches = fuse(rankings)
    chosen = diversify(matches, lambda one, other: float(one[0] == other[0]), most, balance=balance)
    assert len(chosen) == len({*order(chosen)}) == min(most, len(matches))
    assert {*chosen} <= {*matches}


@given(RANKINGS, st.integers(0, 10))
def test_diversity_compares_each_match_with_each_chosen_one(rankings: Mapping[str, Sequence[str]], most: int) -> None:
    compared: list[tuple[str, str]] = []

    def alike(one: str, other: str) -> float:
        compared.append((one, other))
        return 0.0

    matches = fuse(rankings)
    assert diversify(matches, alike, most, balance=0.5) == matches[:most]
    assert len(compared) <= most * len(matches)


def test_a_match_like_a_better_one_comes_later() -> None:
    matches = fuse({"vectors": ["a1", "a2", "b"]})
    chosen = diversify(matches, lambda one, other: float(one[0] == other[0]), 3, balance=0.5)
    assert order(chosen) == ["a1", "b", "a2"]


class ByLength:
    """A reranker that prefers long texts."""

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [len(text) / 10 for text in texts]


async def test_reranker_replaces_order_and_scores() -> None:
    matches = await rerank("?", fuse({"vectors": ["a", "b"]}), {"a": "short", "b": "longer"}, ByLength())
    assert [(match.id, match.score) for match in matches] == [("b", 0.6), ("a", 0.5)]
    assert [(one.name, one.rank) for one in matches[0].sources] == [("vectors", 2), ("reranker", 1)]
