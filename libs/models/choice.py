"""The configured model: `provider:name`, its URL and its key, resolved without imports or network calls.

A key comes from the environment or from a file of its own, never from anything that is shown, logged or recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import urlsplit

from libs.errors import Rejected

if TYPE_CHECKING:
    from pydantic import SecretStr

OFFLINE = "offline"
KEY, KEY_FILE, URL = "SUMA_MODEL_KEY", "SUMA_MODEL_KEY_FILE", "SUMA_MODEL_URL"
KEY_MOST = 8192
"""Most bytes of a key file; a longer file is not a key file."""


Output = Literal["tool", "schema", "text"]
"""How JSON is requested: as a tool call, by a schema that the server enforces, or in the prompt alone."""
WAYS: tuple[Output, ...] = get_args(Output)
Pictures = Literal["auto", "yes", "no"]
"""Whether a model is shown pictures; `auto` goes by its name."""


class BadModel(Rejected):
    """The configured model cannot be used; correct SUMA_MODEL and its settings."""

    code = "BAD_MODEL"


@dataclass(frozen=True, slots=True)
class Provider:
    """A vendor, or a protocol that many servers implement."""

    name: str
    about: str
    url: str | None
    """The URL unless SUMA_MODEL_URL overrides it; None where SUMA_MODEL_URL is required."""
    variable: str | None = None
    """The vendor's own variable for its key."""
    keyed: bool = True
    """Whether the vendor's own URL requires a key."""
    output: Output = "tool"
    """How JSON is best requested."""
    example: str = ""
    sees: str = r"llava|vision|pixtral|gemma-?3|qwen[\d.]*-?vl|minicpm-v|moondream|llama-?4|gemini|gpt-[45]|claude"
    """The names of its models that see pictures, as a regular expression."""
    free: bool = False
    """Whether it runs on the user's own hardware, so that tokens have no price."""


PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider(
            "openai",
            "OpenAI, or a proxy to it",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            example="openai:gpt-5-mini",
            sees=r"gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-5|\bo1(?!-mini)|\bo3(?!-mini)|\bo4",
        ),
        Provider(
            "anthropic",
            "Anthropic, or a proxy to it",
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            example="anthropic:claude-sonnet-4-5",
            sees=r"claude-(?!2|instant)",
        ),
        Provider(
            "ollama",
            "Ollama on this machine or another",
            "http://localhost:11434/v1",
            "OLLAMA_API_KEY",
            keyed=False,
            output="schema",
            example="ollama:qwen3",
            free=True,
        ),
        Provider(
            "openai-compatible",
            "anything that speaks OpenAI's chat completions, such as vLLM, LM Studio or llama.cpp",
            None,
            keyed=False,
            example="openai-compatible:qwen3-32b",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A model that is ready to be called."""

    provider: Provider
    model: str
    url: str
    output: Output
    key: SecretStr | None = None
    sees: bool = False
    """Whether it is shown pictures."""

    @property
    def name(self) -> str:
        return f"{self.provider.name}:{self.model}"


def named(text: str) -> tuple[Provider, str]:
    """Parse `provider:name`. Raises `BadModel`."""
    vendor, colon, model = text.partition(":")
    if vendor not in PROVIDERS or not colon or not model.strip():
        known = ", ".join(f"{name}:…" for name in PROVIDERS)
        raise BadModel(f"{text!r} is not a valid model; use `{OFFLINE}`, or provider:name with one of {known}")
    if not model.isprintable() or len(model) > 200:
        raise BadModel(f"the text after `{vendor}:` is not a model name; use up to 200 printable characters")
    return PROVIDERS[vendor], model.strip()


def located(url: str) -> str:
    """Return the URL if a key may be sent to it. Raises `BadModel`, whose text never shows the URL."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError
    except ValueError:
        raise BadModel(
            "must be an address that begins with http:// or https://, such as http://localhost:8000/v1"
        ) from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadModel("must be an address without a user, a password or a query: set the key in its own setting")
    return url.rstrip("/")


@dataclass(frozen=True, slots=True)
class Key:
    """The sources of a key: a setting, a file, or the vendor's own variable."""

    given: SecretStr | None
    file: Path | None
    environment: Mapping[str, str]

    def of(self, provider: Provider) -> SecretStr | None:
        if self.given is not None and self.file is not None:
            raise BadModel(f"{KEY} and {KEY_FILE} are both set: set only one of them")
        if self.given is not None:
            return _checked(self.given.get_secret_value(), KEY)
        if self.file is not None and ((held := _read(self.file)).strip() or provider.keyed):
            return _checked(held, KEY_FILE)
        found = self.environment.get(provider.variable or "")
        return _checked(found, str(provider.variable)) if found else None


def chosen(
    text: str,
    *,
    url: str | None,
    key: Key,
    output: Output | Literal["auto"] = "auto",
    pictures: Pictures = "auto",
) -> Choice:
    """Resolve the settings to a model that is ready to be called. Raises `BadModel`."""
    provider, model = named(text)
    address = located(url) if url else provider.url
    if address is None:
        raise BadModel(f"{text} needs {URL}: set it to the server's address, such as http://localhost:8000/v1")
    secret = key.of(provider)
    if secret is None and provider.keyed and not url:
        raise BadModel(f"{text} needs a key: set {provider.variable}, {KEY} or {KEY_FILE}")
    how = provider.output if output == "auto" else output
    sees = pictures == "yes" or (pictures == "auto" and re.search(provider.sees, model, re.IGNORECASE) is not None)
    return Choice(provider, model, _with_version(provider, address), how, secret, sees)


def _with_version(provider: Provider, url: str) -> str:
    """Return the URL as the client needs it: Ollama serves OpenAI's protocol under /v1; Anthropic's client adds /v1
    itself.
    """
    if provider.name == "ollama" and not urlsplit(url).path.strip("/"):
        return f"{url}/v1"
    return url.removesuffix("/v1") if provider.name == "anthropic" else url


def _read(file: Path) -> str:
    try:
        with file.expanduser().open("rb") as opened:
            return opened.read(KEY_MOST).decode("ascii")
    except OSError as error:
        raise BadModel(f"{KEY_FILE}: {file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadModel(f"{KEY_FILE}: {file} does not contain a key") from None


def _checked(text: str, where: str) -> SecretStr:
    """Check a key, which becomes an HTTP header: no line breaks, no spaces, only ASCII."""
    # Imported here: the command line's help reads the table of providers and must not wait for pydantic.
    from pydantic import SecretStr

    text = text.strip()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise BadModel(f"{where} does not contain a valid key")
    return SecretStr(text)
