"""The embedders that need no network: the same vectors everywhere, of length 1, near for synonyms."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from libs.search import DIMS, Embedder
from libs.search.embedder import HashedEmbedder
from libs.search.static import StaticEmbedder


@pytest.fixture(params=[HashedEmbedder, StaticEmbedder])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    made: Embedder = request.param()
    return made


async def test_a_document_has_768_dimensions_and_length_one(embedder: Embedder) -> None:
    rows = await embedder.embed_documents(["Find duplicate files.", "x"])
    assert rows.shape == (2, DIMS) == (2, 768)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert (await embedder.embed_documents([])).shape == (0, 768)


async def test_a_text_without_words_has_a_zero_vector(embedder: Embedder) -> None:
    assert not (await embedder.embed_query(" … ")).any()


async def test_vectors_do_not_depend_on_the_process() -> None:
    vector = await HashedEmbedder().embed_query("remove duplicates")
    assert hashlib.sha256(np.round(vector, 4).tobytes()).hexdigest()[:12] == "bbefed5c48c0"


async def test_a_synonym_is_nearer_than_another_topic(embedder: Embedder) -> None:
    query = await embedder.embed_query("erase identical photos")
    same, other = await embedder.embed_documents(["remove duplicate pictures", "write a letter"])
    assert same @ query > other @ query + 0.3


def test_calibration_is_monotonic_from_zero_to_one(embedder: Embedder) -> None:
    scores = [embedder.calibrate(cosine / 100) for cosine in range(-100, 101)]
    assert scores == sorted(scores)
    assert (scores[0], scores[-1]) == (0.0, 1.0)


def test_the_table_of_vectors_is_loaded_at_the_first_use() -> None:
    code = "import sys; from libs.search.static import StaticEmbedder as E; E(); sys.exit('wordllama' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
