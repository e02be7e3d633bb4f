"""The vector store finds the nearest, and equal ones always in the same order."""

from __future__ import annotations

import numpy as np
import pytest

from libs.retrieval import Vector, VectorStore
from libs.retrieval.vectors import WrongDimensions


def unit(*values: float) -> Vector:
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


@pytest.fixture
def store() -> VectorStore:
    store = VectorStore(2)
    store.put({"c": unit(1, 0), "a": unit(1, 0), "b": unit(0, 1), "d": unit(1, 0)})
    return store


@pytest.mark.requirement("S4-45")
def test_the_nearest_come_first_and_equal_ones_by_id(store: VectorStore) -> None:
    assert [match.id for match in store.search(unit(1, 0.1), 4)] == ["a", "c", "d", "b"]


@pytest.mark.requirement("S4-45")
@pytest.mark.parametrize("top_k", [1, 2, 3])
def test_a_tie_at_the_cut_is_decided_by_id(store: VectorStore, top_k: int) -> None:
    assert [match.id for match in store.search(unit(1, 0), top_k)] == ["a", "c", "d"][:top_k]


def test_a_vector_can_be_replaced_and_removed(store: VectorStore) -> None:
    store.put({"b": unit(1, 0)})
    store.remove("a")
    store.remove("never there")
    assert [match.id for match in store.search(unit(1, 0), 9)] == ["b", "c", "d"]
    assert len(store) == 3


def test_an_empty_store_finds_nothing() -> None:
    assert VectorStore(2).search(unit(1, 0), 3) == ()


def test_a_vector_of_another_embedder_is_refused(store: VectorStore) -> None:
    with pytest.raises(WrongDimensions):
        store.put({"x": np.zeros(3, np.float32)})
