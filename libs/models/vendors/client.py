"""Vendor clients: open the vendor library's model for a choice over our HTTP client, and import only that library."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from pydantic_ai.models import Model as Theirs

from libs.models.choice import Choice
from libs.models.vendors import transport
from libs.models.vendors.errors import NotAModel

NO_KEY = "none"
"""The libraries require a key even where the server needs none."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one call, in seconds, tokens and characters."""

    connect: float = 10.0
    first: float = 60.0
    """Until the first output; some models think for a minute before."""
    pause: float = 30.0
    """Between two pieces of output."""
    whole: float = 300.0
    output_tokens: int = 16_000
    input_letters: int = 200_000


@dataclass(frozen=True, slots=True)
class Opened:
    """A vendor's model and its HTTP client."""

    choice: Choice
    bounds: Bounds
    model: Theirs
    http: httpx2.AsyncClient

    async def listed(self) -> int:
        """Return the HTTP status of the vendor's list of models; the request is free.

        Raises:
            NotAModel: the server answers with an error and the status of success, as LM Studio does beside its API.
        """
        response = await self.http.get(_models_url(self.choice), headers=_headers(self.choice))
        if response.status_code == httpx2.codes.OK and _is_error(response.content):
            hint = "" if "/v1" in self.choice.url else "; SUMA_MODEL_URL usually ends with /v1"
            raise NotAModel(f"{self.choice.url} is not the address of a model's API{hint}")
        return response.status_code


@asynccontextmanager
async def opened(choice: Choice, bounds: Bounds) -> AsyncIterator[Opened]:
    """Open the vendor's model without sending anything. Its library is imported in a thread, which takes seconds."""
    async with transport.client(choice.url, connect_seconds=bounds.connect) as http:
        model = await asyncio.to_thread(OPENERS[choice.provider.name], choice, http)
        yield Opened(choice, bounds, model, http)


def _is_error(content: bytes) -> bool:
    try:
        said = json.loads(content)
    except ValueError:
        return False
    return isinstance(said, dict) and bool(said.get("error"))


def _secret(choice: Choice) -> str:
    return choice.key.get_secret_value() if choice.key is not None else NO_KEY


def _openai(choice: Choice, http: httpx2.AsyncClient) -> Theirs:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=choice.url, api_key=_secret(choice), http_client=http)
    return OpenAIChatModel(choice.model, provider=provider, profile=_careful(newest=True))


def _compatible(choice: Choice, http: httpx2.AsyncClient) -> Theirs:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider(
        choice.provider.name, base_url=choice.url, api_key=_secret(choice), http_client=http
    )
    return OpenAIChatModel(choice.model, provider=provider, profile=_careful())


def _ollama(choice: Choice, http: httpx2.AsyncClient) -> Theirs:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    provider = OllamaProvider(base_url=choice.url, api_key=_secret(choice), http_client=http)
    return OllamaModel(choice.model, provider=provider, profile=_careful())


def _anthropic(choice: Choice, http: httpx2.AsyncClient) -> Theirs:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(base_url=choice.url, api_key=_secret(choice), http_client=http)
    return AnthropicModel(choice.model, provider=provider)


OPENERS: dict[str, Callable[[Choice, httpx2.AsyncClient], Theirs]] = {
    "openai": _openai,
    "openai-compatible": _compatible,
    "ollama": _ollama,
    "anthropic": _anthropic,
}


def _careful(*, newest: bool = False) -> Any:
    """Return a profile that treats a stream without a finish reason as interrupted, and names the token limit as the
    server knows it: compatible servers know the older name, and ignore the newer one.
    """
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(
        openai_chat_streaming_requires_finish_reason=True,
        openai_chat_supports_max_completion_tokens=newest,
        # The library finds tags only in pieces of their own, and loses the reply after any other: no text has these.
        thinking_tags=("\0", "\0"),
    )


def _models_url(choice: Choice) -> str:
    return f"{choice.url}/v1/models" if choice.provider.name == "anthropic" else f"{choice.url}/models"


def _headers(choice: Choice) -> dict[str, str]:
    if choice.provider.name == "anthropic":
        return {"x-api-key": _secret(choice), "anthropic-version": "2023-06-01"}
    return {"Authorization": f"Bearer {_secret(choice)}"}
