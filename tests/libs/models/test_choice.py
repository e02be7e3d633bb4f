"""The configured model: its name, its address and the sources of its key."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from libs.models.choice import BadModel, Key, chosen

NOTHING = Key(None, None, {})
SECRET = "sk-1234567890"


def told(text: str = "openai:gpt-5", url: str | None = None, **key: object) -> str | None:
    given = Key(
        SecretStr(str(key["given"])) if "given" in key else None,
        key.get("file"),  # type: ignore[arg-type]
        key.get("environment", {}),  # type: ignore[arg-type]
    )
    found = chosen(text, url=url, key=given).key
    return found.get_secret_value() if found is not None else None


def test_key_comes_from_the_environment_or_a_key_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\n")
    assert told(environment={"OPENAI_API_KEY": SECRET}) == SECRET
    assert told("anthropic:claude", environment={"ANTHROPIC_API_KEY": SECRET, "OPENAI_API_KEY": "x"}) == SECRET
    assert told(given=SECRET, environment={"OPENAI_API_KEY": "x"}) == SECRET
    assert told(file=file, environment={"OPENAI_API_KEY": "x"}) == SECRET


def test_vendor_key_is_not_sent_to_a_custom_server() -> None:
    assert told("openai-compatible:x", "http://localhost:8000/v1", environment={"OPENAI_API_KEY": SECRET}) is None


@pytest.mark.parametrize("text", ["", "openai", "openai:", "openai: ", "gemini:pro", "offline:x", "openai:a\nb"])
def test_malformed_model_name_is_refused(text: str) -> None:
    with pytest.raises(BadModel):
        chosen(text, url=None, key=Key(SecretStr(SECRET), None, {}))


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://x",
        "http://",
        "http://u:sk-1234567890@x/v1",
        "http://x/v1?key=sk-1234567890",
        "http://x:0",
    ],
)
def test_bad_address_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(BadModel) as refused:
        chosen("openai-compatible:x", url=url, key=NOTHING)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_vendor_is_not_asked_without_a_key(provider: str) -> None:
    with pytest.raises(BadModel, match=f"set {provider.upper()}_API_KEY, SUMA_MODEL_KEY or SUMA_MODEL_KEY_FILE"):
        chosen(f"{provider}:x", url=None, key=NOTHING)


@pytest.mark.parametrize("content", [b"", b"\n", b"two words", b"\xff\xfe", b"sk-\x00"])
def test_file_without_a_key_is_named_and_not_shown(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(BadModel, match="does not contain a") as refused:
        told(file=tmp_path / "key")
    assert "words" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="cannot be read: No such file"):
        told(file=tmp_path / "key")


def test_key_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="both set"):
        told(given=SECRET, file=tmp_path / "key")


@pytest.mark.parametrize(
    ("url", "where"),
    [
        (None, "http://localhost:11434/v1"),
        ("http://box:11434", "http://box:11434/v1"),
        ("http://box/ollama/v1/", "http://box/ollama/v1"),
    ],
)
def test_ollama_is_known_by_its_host(url: str | None, where: str) -> None:
    found = chosen("ollama:qwen3:8b", url=url, key=NOTHING)
    assert (found.url, found.model, found.output) == (where, "qwen3:8b", "schema")


def test_a_choice_does_not_show_its_key() -> None:
    assert SECRET not in repr(chosen("openai:x", url=None, key=Key(SecretStr(SECRET), None, {})))


@pytest.mark.parametrize(
    ("name", "sees"),
    [
        ("openai:gpt-5-mini", True),
        ("openai:gpt-4o", True),
        ("openai:o3-mini", False),
        ("openai:gpt-3.5-turbo", False),
        ("anthropic:claude-sonnet-4-5", True),
        ("ollama:qwen3", False),
        ("ollama:qwen2.5vl", True),
        ("ollama:gemma3", True),
        ("ollama:llama3.2-vision", True),
    ],
)
def test_name_of_a_model_says_whether_it_sees(name: str, sees: bool) -> None:
    key = Key(SecretStr(SECRET), None, {})
    assert chosen(name, url=None, key=key).sees is sees
    assert chosen(name, url=None, key=key, pictures="yes").sees
    assert not chosen(name, url=None, key=key, pictures="no").sees
