"""Search: the full text of a folder, passages and their vectors, fused rankings, and summaries by extraction."""

from libs.search.embedder import HashedEmbedder
from libs.search.extract import summarize
from libs.search.fuse import Match, Source, diversify, fuse, rerank
from libs.search.index import ContentIndex, ContentMatch, Found
from libs.search.offline import offline
from libs.search.passages import Near, Passages, Place
from libs.search.ports import DIMS, GAP, LIKELY, NOTHING, Embedder, Matrix, Reranker, Vector

__all__ = [
    "DIMS",
    "GAP",
    "LIKELY",
    "NOTHING",
    "ContentIndex",
    "ContentMatch",
    "Embedder",
    "Found",
    "HashedEmbedder",
    "Match",
    "Matrix",
    "Near",
    "Passages",
    "Place",
    "Reranker",
    "Source",
    "Vector",
    "chunks",
    "diversify",
    "endpoint",
    "fuse",
    "index",
    "lists",
    "offline",
    "rerank",
    "static",
    "summarize",
    "words",
]
