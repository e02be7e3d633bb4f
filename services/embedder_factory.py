"""The embedder factory: creates the configured embedder, where a service needs one.

`libs.search` is imported late, as it imports numpy, which the command line should not wait for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pydantic import SecretStr

from libs.errors import Rejected
from libs.resilience import GuardedCalls
from services.settings import BadSettings, Process, variable

if TYPE_CHECKING:
    from libs.search import Embedder

GUARD = "embedder"
EMBEDDING = frozenset(("memory_service", "tool_executor"))
"""The services that embed texts; only these need a server's key."""
KEY_MOST = 8192
"""Most characters of a key file; a longer file is not a key file."""


@asynccontextmanager
async def opened(settings: Process, names: Sequence[str]) -> AsyncIterator[Callable[[GuardedCalls], Embedder]]:
    """Yield a function that creates the embedder behind its guard. Nothing is sent yet. Raises `BadSettings`."""
    kind, _, model = settings.embedder.partition(":")
    if kind == "hashed" or not EMBEDDING.intersection(names):
        from libs.search import HashedEmbedder

        embedder: Embedder = HashedEmbedder()
        yield lambda guarded_calls: embedder
    elif kind == "wordllama":
        static = _static()
        yield lambda guarded_calls: static
    else:
        from libs.clients.outside import outside
        from libs.search.endpoint import ANSWER_BYTES_MOST, SECONDS, EndpointEmbedder

        key = _key(settings)
        async with outside(private=True, seconds=SECONDS, most=ANSWER_BYTES_MOST) as http:
            yield lambda guarded_calls: EndpointEmbedder(
                model,
                settings.embedder_url,
                http,
                guarded_calls.to(GUARD),
                key=key,
                dimensions=settings.embedder_dimensions,
                query_prefix=settings.embedder_query_prefix,
                document_prefix=settings.embedder_document_prefix,
            )


def _static() -> Embedder:
    from libs.search.static import StaticEmbedder

    try:
        return StaticEmbedder()
    except Rejected as wrong:
        raise BadSettings(f"{variable(('embedder',))}: {wrong}") from None


def _key(settings: Process) -> SecretStr | None:
    file, given = settings.embedder_key_file, settings.embedder_key
    text = given.get_secret_value() if given is not None else None
    where = ("embedder_key",) if file is None else ("embedder_key_file",)
    try:
        text = file.expanduser().read_text("ascii") if file is not None else text
    except (OSError, ValueError) as error:
        raise BadSettings(f"{variable(where)}: {file} cannot be read ({type(error).__name__})") from None
    if text is None:
        return None
    # It becomes an HTTP header.
    if not (text := text.strip()) or len(text) > KEY_MOST or not (text.isascii() and text.isprintable()) or " " in text:
        raise BadSettings(f"{variable(where)} does not contain a valid key")
    return SecretStr(text)
