"""Search: the full text of a folder, vectors of short texts, fused rankings, and summaries by extraction."""

from libs.search.embedder import HashedEmbedder
from libs.search.extract import summarize
from libs.search.fuse import fuse
from libs.search.index import ContentIndex, ContentMatch, Found
from libs.search.ports import DIMS, Embedder, Matrix, Vector

__all__ = [
    "DIMS",
    "ContentIndex",
    "ContentMatch",
    "Embedder",
    "Found",
    "HashedEmbedder",
    "Matrix",
    "Vector",
    "endpoint",
    "fuse",
    "index",
    "static",
    "summarize",
    "words",
]
