"""The offline embedder: the same everywhere, of length 1, and near where the meaning is."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from libs.retrieval import DIMS, Embedder
from libs.retrieval.offline import HashedEmbedder


@pytest.fixture
def embedder() -> Embedder:
    return HashedEmbedder()


@pytest.mark.requirement("S4-16", "S4-45")
async def test_a_document_has_768_dimensions_and_length_one(embedder: Embedder) -> None:
    rows = await embedder.embed_document(["Find duplicate files.", "x"])
    assert rows.shape == (2, DIMS) == (2, 768)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert (await embedder.embed_document([])).shape == (0, 768)


async def test_a_text_without_a_word_is_zero_and_near_nothing(embedder: Embedder) -> None:
    assert not (await embedder.embed_query(" … ")).any()


async def test_vectors_do_not_depend_on_the_process(embedder: Embedder) -> None:
    vector = await embedder.embed_query("remove duplicates")
    assert hashlib.sha256(np.round(vector, 4).tobytes()).hexdigest()[:12] == "f8e5e5df68c5"


async def test_a_synonym_in_another_language_is_nearer_than_another_topic(embedder: Embedder) -> None:
    query = await embedder.embed_query("Lösche doppelte Dateien")
    same, other = await embedder.embed_document(["remove duplicate files", "rename a folder"])
    assert same @ query > other @ query + 0.3


def test_calibration_is_monotonic_from_zero_to_one(embedder: Embedder) -> None:
    scores = [embedder.calibrate(cosine / 100) for cosine in range(-100, 101)]
    assert scores == sorted(scores)
    assert (scores[0], scores[-1]) == (0.0, 1.0)
