"""Lists and codes propose the nearest vectors; embedders without a server are known by name."""

import numpy as np
import pytest

from libs.search import DIMS, HashedEmbedder, Matrix, offline
from libs.search.lists import centroids, codes, halves, nearest, nearest_of, rank


def clustered(count: int) -> Matrix:
    source = np.random.default_rng(1)
    rows = source.standard_normal((20, DIMS))[source.integers(0, 20, count)] + source.standard_normal((count, DIMS)) / 3
    unit: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def test_neighbours_share_the_nearest_lists() -> None:
    rows = clustered(400)
    centers = centroids(rows, 20)
    places = nearest(rows, centers)
    near = np.argsort(-(rows[:20] @ rows.T), axis=1)[:, :10]
    ranks = [rank(rows[n], centers, places[other]) for n in range(20) for other in near[n]]
    assert np.mean(np.array(ranks) <= 3) > 0.9


def test_neighbours_found_in_parts_are_those_of_the_whole() -> None:
    rows = clustered(400)
    near = [rows[:0]] * 5
    for start in range(0, len(rows), 7):
        near = list(nearest_of(rows[:5], near, rows[start : start + 7], 10))
    for n in range(5):
        assert near[n] == pytest.approx(rows[np.argsort(-(rows @ rows[n]))[:10]])


def test_codes_of_sparse_vectors_differ_by_their_angle() -> None:
    rows = HashedEmbedder().embed(
        ["invoices in the blue folder", "the blue folder has invoices", "trains leave at nine"]
    )
    bits = np.array([np.frombuffer(bytes.fromhex(code), np.uint8) for code in codes(rows)])
    apart = np.bitwise_count(bits ^ bits[0]).sum(axis=1) / DIMS
    assert apart == pytest.approx(np.arccos(np.clip(rows @ rows[0], -1, 1)) / np.pi, abs=0.06)


def test_vectors_are_read_from_pgvectors_format() -> None:
    row = np.arange(DIMS, dtype=np.float32) / 1024
    sent = DIMS.to_bytes(2, "big") + bytes(2) + row.astype(">f2").tobytes()
    assert halves([sent])[0] == pytest.approx(row, abs=1e-3)


@pytest.mark.parametrize(("name", "known"), [(HashedEmbedder.name, True), ("offline-hashed-1", False), ("x", False)])
def test_embedder_without_a_server_is_known_by_name(name: str, known: bool) -> None:
    found = offline(name)
    assert (found is not None and found.name == name) is known
