"""Finding by meaning: words and concepts, vectors, ranking. Used to match skills, to search content, and by the
memory service.
"""

from libs.retrieval.chunks import chunks
from libs.retrieval.content import ContentIndex, ContentMatch, Found
from libs.retrieval.ports import DIMS, Embedder, Matrix, Vector
from libs.retrieval.rank import confident, fuse
from libs.retrieval.retriever import Retriever
from libs.retrieval.vectors import Match, VectorStore

__all__ = [
    "DIMS",
    "ContentIndex",
    "ContentMatch",
    "Embedder",
    "Found",
    "Match",
    "Matrix",
    "Retriever",
    "Vector",
    "VectorStore",
    "chunks",
    "confident",
    "fuse",
]
