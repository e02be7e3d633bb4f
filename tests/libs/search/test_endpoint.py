"""The endpoint embedder, against a server over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
import structlog.testing
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from libs.clients.outside import outside
from libs.errors import Unavailable
from libs.resilience import CircuitOpen, GuardedCall, State
from libs.search import DIMS
from libs.search.endpoint import ANSWER_BYTES_MOST, BATCH, SECONDS, EmbedderBroke, EndpointEmbedder
from services import http_server

KEY = "sk-hush-hush"


def vectors(asked: dict[str, Any], dimensions: int = 4) -> list[dict[str, Any]]:
    """One vector for each text, by its length; the last text comes first, as the protocol permits."""
    made = [
        {"object": "embedding", "index": n, "embedding": [float(len(text)), *[1.0] * (dimensions - 1)]}
        for n, text in enumerate(asked["input"])
    ]
    return made[::-1]


def answer(data: Any) -> Response:
    return Response(json.dumps({"object": "list", "data": data}), media_type="application/json")


@dataclass
class Server:
    """A server with `/v1/embeddings`; `replies` are sent first, each once, then valid vectors."""

    port: int
    replies: list[Callable[[dict[str, Any]], Response]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        assert (request.method, request.url.path) == ("POST", "/v1/embeddings")
        self.asked.append(await request.json())
        self.keys.append(request.headers.get("authorization", ""))
        reply = self.replies.pop(0) if self.replies else lambda asked: answer(vectors(asked))
        await reply(self.asked[-1])(scope, receive, send)


@pytest_asyncio.fixture(loop_scope="session")
async def server() -> AsyncIterator[Server]:
    with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as door:
        made = Server(door.getsockname()[1])
        async with http_server.serving(made, door):
            yield made


@pytest.fixture
def guard() -> GuardedCall:
    return GuardedCall("embedder")


@pytest_asyncio.fixture(loop_scope="session")
async def embedder(server: Server, guard: GuardedCall) -> AsyncIterator[EndpointEmbedder]:
    async with outside(private=True, seconds=SECONDS, most=ANSWER_BYTES_MOST) as http:
        url = f"http://127.0.0.1:{server.port}/v1/"
        yield EndpointEmbedder("tiny", url, http, guard, key=SecretStr(KEY))


async def test_vectors_are_ordered_unit_length_and_padded(embedder: EndpointEmbedder) -> None:
    rows = await embedder.embed_documents(["a", "long text", ""])
    assert rows.shape == (3, DIMS)
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 1, 0])
    assert rows[1, 0] > rows[0, 0]
    assert not rows[:, 4:].any()
    assert (embedder.name, embedder.dimensions) == ("endpoint:tiny", 4)


async def test_request_is_as_openai_and_ollama_expect(embedder: EndpointEmbedder, server: Server) -> None:
    await embedder.embed_query("a")
    assert server.asked == [{"model": "tiny", "input": ["a"], "encoding_format": "float"}]
    assert server.keys == [f"Bearer {KEY}"]


async def test_many_texts_are_sent_in_batches_once(embedder: EndpointEmbedder, server: Server) -> None:
    texts = [f"text {n}" for n in range(BATCH + 1)]
    rows = await embedder.embed_documents([*texts, *texts])
    assert [len(asked["input"]) for asked in server.asked] == [BATCH, 1]
    assert (rows[: BATCH + 1] == rows[BATCH + 1 :]).all()
    await embedder.embed_query(texts[0])
    assert len(server.asked) == 2


async def test_busy_server_is_asked_again(embedder: EndpointEmbedder, server: Server) -> None:
    server.replies = [lambda asked: Response(status_code=503), lambda asked: Response(status_code=429)]
    assert (await embedder.embed_query("a")).any()
    assert len(server.asked) == 3


async def test_long_retry_after_is_left_to_the_caller(embedder: EndpointEmbedder, server: Server) -> None:
    server.replies = [lambda asked: Response(status_code=429, headers={"Retry-After": "3600"})]
    with pytest.raises(Unavailable, match="HTTP 429"):
        await embedder.embed_query("a")
    assert len(server.asked) == 1


async def test_failing_server_opens_the_circuit(embedder: EndpointEmbedder, server: Server, guard: GuardedCall) -> None:
    server.replies = [lambda asked: Response(status_code=500)] * 6
    for _ in range(2):
        with pytest.raises(Unavailable):
            await embedder.embed_query("a")
    assert guard.state is State.OPEN
    with pytest.raises(CircuitOpen):
        await embedder.embed_query("a")


def row(embedding: Any, index: int = 0) -> dict[str, Any]:
    return {"index": index, "embedding": embedding}


REFUSED: dict[str, Callable[[dict[str, Any]], Response]] = {
    "missing": lambda asked: answer(vectors(asked)[1:]),
    "repeated": lambda asked: answer([row([1.0]), row([1.0])]),
    "unequal": lambda asked: answer([row([1.0]), row([1.0, 2.0], 1)]),
    "nan": lambda asked: answer([row([float("nan")]), row([1.0], 1)]),
    "huge number": lambda asked: answer([row([1e300]), row([1.0], 1)]),
    "words": lambda asked: answer([row(["1"]), row([1.0], 1)]),
    "empty": lambda asked: answer([row([]), row([], 1)]),
    "too wide": lambda asked: answer(vectors(asked, DIMS + 1)),
    "not JSON": lambda asked: Response("<html>", media_type="text/html"),
    "too large": lambda asked: Response(b" " * (ANSWER_BYTES_MOST + 1)),
    "wrong key": lambda asked: Response(f"bad key {KEY}", status_code=401),
    "redirect": lambda asked: RedirectResponse("http://elsewhere.example/"),
}


@pytest.mark.parametrize("reply", REFUSED.values(), ids=REFUSED)
async def test_unusable_answer_is_refused_without_a_retry(
    embedder: EndpointEmbedder, server: Server, reply: Callable[[dict[str, Any]], Response]
) -> None:
    server.replies = [reply]
    with structlog.testing.capture_logs() as logs, pytest.raises(EmbedderBroke) as refused:
        await embedder.embed_documents(["a", "b"])
    assert len(server.asked) == 1
    assert KEY not in f"{refused.value!r} {logs}"
    # Nothing of it was kept.
    assert (await embedder.embed_documents(["a", "b"])).any()


async def test_changed_number_of_dimensions_is_refused(embedder: EndpointEmbedder, server: Server) -> None:
    server.replies = [lambda asked: answer(vectors(asked)), lambda asked: answer(vectors(asked, 5))]
    await embedder.embed_query("a")
    with pytest.raises(EmbedderBroke, match="5 numbers instead of 4"):
        await embedder.embed_query("b")


async def test_wanted_dimensions_are_requested_and_named(server: Server, guard: GuardedCall) -> None:
    async with outside(private=True, seconds=SECONDS, most=ANSWER_BYTES_MOST) as http:
        embedder = EndpointEmbedder("tiny", f"http://127.0.0.1:{server.port}/v1", http, guard, dimensions=4)
        await embedder.embed_query("a")
    assert embedder.name == "endpoint:tiny/4"
    assert server.asked[0]["dimensions"] == 4


async def test_unreachable_server_is_unavailable(guard: GuardedCall) -> None:
    with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as door:
        url = f"http://127.0.0.1:{door.getsockname()[1]}/v1"
    async with outside(private=True, seconds=SECONDS, most=ANSWER_BYTES_MOST) as http:
        with pytest.raises(Unavailable, match="cannot be reached"):
            await EndpointEmbedder("tiny", url, http, guard).embed_query("a")


async def test_metadata_service_is_never_called(guard: GuardedCall) -> None:
    async with outside(private=True, seconds=SECONDS, most=ANSWER_BYTES_MOST) as http:
        with pytest.raises(Unavailable, match="cannot be reached"):
            await EndpointEmbedder("tiny", "http://169.254.169.254/v1", http, guard).embed_query("a")


async def test_prefixes_begin_searches_and_kept_texts(server: Server, guard: GuardedCall) -> None:
    async with outside(private=True, seconds=SECONDS, most=ANSWER_BYTES_MOST) as http:
        url = f"http://127.0.0.1:{server.port}/v1"
        embedder = EndpointEmbedder("e5", url, http, guard, query_prefix="query: ", document_prefix="passage: ")
        await embedder.embed_documents(["a lease", " "])
        await embedder.embed_query("a lease")
    assert [asked["input"] for asked in server.asked] == [["passage: a lease"], ["query: a lease"]]
    # A vector of another prefix is no vector of this embedder.
    assert embedder.name == "endpoint:e5+passage:"
