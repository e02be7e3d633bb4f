"""The vendors: a choice becomes the library's model over an HTTP client of our own. Only the chosen one is imported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from pydantic_ai.models import Model as Theirs

from libs.models.choice import Choice
from libs.models.vendors import transport

NO_KEY = "none"
"""The libraries insist on a key, also where the server wants none."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one call may take. Seconds, tokens, letters."""

    connect: float = 10.0
    first: float = 60.0
    """Until the model says its first word; some think for a minute before."""
    pause: float = 30.0
    """Between two words."""
    whole: float = 300.0
    output_tokens: int = 16_000
    input_letters: int = 200_000


@dataclass(frozen=True, slots=True)
class Opened:
    """A vendor's model, and the client that it speaks through."""

    choice: Choice
    bounds: Bounds
    model: Theirs
    http: httpx2.AsyncClient

    async def listed(self) -> int:
        """The status with which the vendor answers a question for its models: it costs nothing."""
        async with self.http.stream("GET", _models_url(self.choice), headers=_headers(self.choice)) as response:
            return response.status_code


@asynccontextmanager
async def opened(choice: Choice, bounds: Bounds) -> AsyncIterator[Opened]:
    """Nothing is sent yet. The vendor's library is imported in a thread: that takes seconds."""
    async with transport.client(connect_seconds=bounds.connect) as http:
        model = await asyncio.to_thread(OPENERS[choice.provider.name], choice, http)
        yield Opened(choice, bounds, model, http)


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
    """A stream that ends without saying why was cut off on its way. Other servers know the older name of the limit on
    tokens, and take no notice of the newer one."""
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(
        openai_chat_streaming_requires_finish_reason=True, openai_chat_supports_max_completion_tokens=newest
    )


def _models_url(choice: Choice) -> str:
    return f"{choice.url}/v1/models" if choice.provider.name == "anthropic" else f"{choice.url}/models"


def _headers(choice: Choice) -> dict[str, str]:
    if choice.provider.name == "anthropic":
        return {"x-api-key": _secret(choice), "anthropic-version": "2023-06-01"}
    return {"Authorization": f"Bearer {_secret(choice)}"}
