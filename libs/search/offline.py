"""The embedders that need no server, by name: they can still embed queries for vectors that they made earlier."""

from __future__ import annotations

from functools import cache

from libs.search.embedder import HashedEmbedder
from libs.search.ports import Embedder


@cache
def offline(name: str) -> Embedder | None:
    """Return the embedder of this name; None if it needs a server, is not installed, or is of another version."""
    if name == HashedEmbedder.name:
        return HashedEmbedder()
    if name.startswith("wordllama-"):
        # It imports what only its users need.
        from libs.search.static import NotInstalled, StaticEmbedder

        try:
            static = StaticEmbedder()
        except NotInstalled:
            return None
        return static if static.name == name else None
    return None
