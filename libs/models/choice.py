"""Which model is meant: `provider:name`, where it is, and with which key. Nothing is imported or called for it.

A key comes from the environment or from a file of its own, never from anything that is shown, logged or recorded.
"""

from __future__ import annotations

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
"""Bytes of a file that holds a key; more is another file."""


Output = Literal["tool", "schema", "text"]
"""How JSON is asked for: as the call of a tool, by a schema that the server enforces, or in the prompt alone."""
WAYS: tuple[Output, ...] = get_args(Output)


class BadModel(Rejected):
    """The model that is configured cannot be used as it is configured."""

    code = "BAD_MODEL"


@dataclass(frozen=True, slots=True)
class Provider:
    """A vendor, or a protocol that many speak."""

    name: str
    about: str
    url: str | None
    """Where it is unless SUMA_MODEL_URL says otherwise; None where that must."""
    variable: str | None = None
    """The vendor's own variable for its key."""
    keyed: bool = True
    """At its own address it answers nobody without a key."""
    output: Output = "tool"
    """How it is best asked for JSON."""
    example: str = ""
    free: bool = False
    """It runs on hardware of one's own, so no token has a price."""


PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider(
            "openai",
            "OpenAI, or a proxy to it",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            example="openai:gpt-5-mini",
        ),
        Provider(
            "anthropic",
            "Anthropic, or a proxy to it",
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            example="anthropic:claude-sonnet-4-5",
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
    """A model that can be asked."""

    provider: Provider
    model: str
    url: str
    output: Output
    key: SecretStr | None = None

    @property
    def name(self) -> str:
        return f"{self.provider.name}:{self.model}"


def named(text: str) -> tuple[Provider, str]:
    """The provider and the model of `provider:name`. Raises `BadModel`."""
    vendor, colon, model = text.partition(":")
    if vendor not in PROVIDERS or not colon or not model.strip():
        known = ", ".join(f"{name}:…" for name in PROVIDERS)
        raise BadModel(f"{text!r} is no model: say `{OFFLINE}`, or provider:name with one of {known}")
    if not model.isprintable() or len(model) > 200:
        raise BadModel(f"the model's name after `{vendor}:` is no name")
    return PROVIDERS[vendor], model.strip()


def located(url: str) -> str:
    """The address, if it is one that a key may be sent to. Raises `BadModel`; never shows what stands in the URL."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError
    except ValueError:
        raise BadModel("an address that begins with http:// or https://, such as http://localhost:8000/v1") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadModel(f"an address without a user, a password or a query: a key goes into {KEY}")
    return url.rstrip("/")


@dataclass(frozen=True, slots=True)
class Key:
    """Where a key may be: given, in a file, or in the vendor's own variable."""

    given: SecretStr | None
    file: Path | None
    environment: Mapping[str, str]

    def of(self, provider: Provider) -> SecretStr | None:
        if self.given is not None and self.file is not None:
            raise BadModel(f"{KEY} and {KEY_FILE} are two places for one key: set one of them")
        if self.given is not None:
            return _checked(self.given.get_secret_value(), KEY)
        if self.file is not None:
            return _checked(_read(self.file), KEY_FILE)
        found = self.environment.get(provider.variable or "")
        return _checked(found, str(provider.variable)) if found else None


def chosen(text: str, *, url: str | None, key: Key, output: Output | Literal["auto"] = "auto") -> Choice:
    """The model that the settings mean, ready to be asked. Raises `BadModel`."""
    provider, model = named(text)
    address = located(url) if url else provider.url
    if address is None:
        raise BadModel(f"{text} needs {URL}: where the server is, such as http://localhost:8000/v1")
    secret = key.of(provider)
    if secret is None and provider.keyed and not url:
        raise BadModel(f"{text} needs a key: set {provider.variable}, {KEY} or {KEY_FILE}")
    how = provider.output if output == "auto" else output
    return Choice(provider, model, _with_version(provider, address), how, secret)


def _with_version(provider: Provider, url: str) -> str:
    """Ollama is known by its host alone, and speaks OpenAI's language under /v1; Anthropic's clients add theirs."""
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
        raise BadModel(f"{KEY_FILE}: {file} holds no key") from None


def _checked(text: str, where: str) -> SecretStr:
    """It becomes an HTTP header, where a line break or a letter beyond ASCII has no place."""
    # The command line reads the table of providers for its help alone, and is not to wait for pydantic.
    from pydantic import SecretStr

    text = text.strip()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise BadModel(f"{where} holds no key")
    return SecretStr(text)
