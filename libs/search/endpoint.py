"""The endpoint embedder: any server with `/embeddings` as OpenAI defined it, such as Ollama, vLLM or OpenAI itself."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Annotated

import httpx
import numpy as np
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from libs.errors import Unavailable
from libs.resilience import CallFailed, GuardedCall
from libs.search.ports import DIMS, NOTHING, Matrix, Vector, normalized

BATCH = 64
SECONDS = 30.0
"""For one batch; a model on a small machine needs about ten."""
ANSWER_BYTES_MOST = 8 * 1024 * 1024
"""64 vectors of 3,072 numbers, in 40 characters each."""
CACHED_MOST = 2_000
"""Vectors that are kept, of 3 KiB each: descriptions of skills and queries repeat."""
BUSY = (408, 425, 429)
WAIT_MOST = 10.0
"""A longer Retry-After is left to the caller's own retries."""


class EmbedderUnavailable(Unavailable):
    """The embedder's server does not answer; retry with backoff."""

    code = "EMBEDDER_UNAVAILABLE"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after, self.lasting = retry_after, (retry_after or 0) > WAIT_MOST


class EmbedderBroke(CallFailed):
    """The embedder's server refused a request, or its answer cannot be used; check SUMA_EMBEDDER and its settings."""

    code = "EMBEDDER_BROKE"


class _Embedding(BaseModel):
    model_config = ConfigDict(strict=True)

    index: int
    embedding: list[Annotated[float, Field(allow_inf_nan=False)]]


class _Answer(BaseModel):
    data: list[_Embedding]


class EndpointEmbedder:
    """Vectors of a server. It trusts nothing that the server sends: numbers, order and sizes are checked."""

    batch = BATCH

    def __init__(
        self,
        model: str,
        url: str,
        http: httpx.AsyncClient,
        guard: GuardedCall,
        *,
        key: SecretStr | None = None,
        dimensions: int | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
    ) -> None:
        """Request `dimensions` numbers of a model that can shorten vectors; by default its own number is used.

        The prefixes begin each text that is sent, for a model that was trained with them.
        """
        self.name = f"endpoint:{model}" + (f"/{dimensions}" if dimensions else "")
        # A document with another prefix has another vector.
        self.name += f"+{document_prefix.strip()}" if document_prefix else ""
        self.dimensions = dimensions
        self._model, self._url, self._http, self._guard = model, f"{url.rstrip('/')}/embeddings", http, guard
        self._headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key is not None else {}
        self._options = {"dimensions": dimensions} if dimensions else {}
        self._query_prefix, self._document_prefix = query_prefix, document_prefix
        self._cached: OrderedDict[str, Vector] = OrderedDict()

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        return await self._embed(self._document_prefix, texts)

    async def embed_query(self, text: str) -> Vector:
        vector: Vector = (await self._embed(self._query_prefix, [text]))[0]
        return vector

    def calibrate(self, cosine: float) -> float:
        """Return the cosine itself: how close unrelated texts are differs between models."""
        return min(1.0, max(0.0, cosine))

    async def _embed(self, prefix: str, said: Sequence[str]) -> Matrix:
        texts = [prefix + text if text.strip() else "" for text in said]
        # An empty input is refused by most servers, and has no words.
        found = {text: NOTHING for text in texts if not text.strip()}
        found |= {text: self._cached[text] for text in texts if text in self._cached}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        for start in range(0, len(missing), BATCH):
            part = missing[start : start + BATCH]
            found |= zip(part, await self._ask(part), strict=True)
        self._keep(found)
        return np.stack([found[text] for text in texts]) if texts else np.zeros((0, DIMS), np.float32)

    def _keep(self, found: dict[str, Vector]) -> None:
        for text, vector in found.items():
            self._cached[text] = vector
            self._cached.move_to_end(text)
        while len(self._cached) > CACHED_MOST:
            self._cached.popitem(last=False)

    async def _ask(self, texts: Sequence[str]) -> Matrix:
        content = await self._guard.repeat(lambda: self._post(texts), seconds=SECONDS)
        rows = _rows(content, len(texts))
        known = self.dimensions or rows.shape[1]
        if not 0 < rows.shape[1] == known <= DIMS:
            raise EmbedderBroke(
                f"{self._model} returned vectors of {rows.shape[1]} numbers instead of {min(known, DIMS)} or fewer;"
                f" set SUMA_EMBEDDER_DIMENSIONS to at most {DIMS}"
            )
        self.dimensions = known
        return normalized(rows)

    async def _post(self, texts: Sequence[str]) -> bytes:
        body = {"model": self._model, "input": texts, "encoding_format": "float", **self._options}
        try:
            answer = await self._http.post(self._url, json=body, headers=self._headers)
        except httpx.StreamError:
            raise EmbedderBroke("the embedder's answer exceeds the size limit") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # The text of an error may quote the server.
            raise EmbedderUnavailable(f"the embedder cannot be reached ({type(error).__name__})") from None
        status = answer.status_code
        if status in BUSY or status >= 500:
            raise EmbedderUnavailable(f"the embedder answered HTTP {status}", _seconds(answer))
        if status != httpx.codes.OK:
            raise EmbedderBroke(f"the embedder refused the request (HTTP {status}); check its address, model and key")
        return answer.content


def _seconds(answer: httpx.Response) -> float | None:
    asked = answer.headers.get("retry-after", "")
    return float(asked) if asked.isdecimal() else None


def _rows(content: bytes, count: int) -> Matrix:
    """Parse an answer: one vector for each text, in their order. Raises EmbedderBroke."""
    try:
        items = sorted(_Answer.model_validate_json(content).data, key=lambda item: item.index)
    except ValidationError:
        raise EmbedderBroke("the embedder's answer is not a list of vectors") from None
    if [item.index for item in items] != list(range(count)):
        raise EmbedderBroke(f"the embedder returned {len(items)} vectors for {count} texts, or repeated some")
    if len({len(item.embedding) for item in items}) > 1:
        raise EmbedderBroke("the embedder returned vectors of different sizes")
    with np.errstate(over="ignore"):
        rows = np.array([item.embedding for item in items], np.float32)
        finite = bool(np.isfinite(np.square(rows).sum()))
    if not finite:
        raise EmbedderBroke("the embedder returned numbers that are too large")
    return rows
