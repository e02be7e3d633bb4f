"""The embedder that the settings choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.resilience import GuardedCalls
from services import embedder_factory, settings


async def named(*services: str) -> str:
    async with embedder_factory.opened(settings.process(), services) as create:
        return create(GuardedCalls()).name


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No file of settings."""
    monkeypatch.setenv("SUMA_CONFIG", str(tmp_path / "config.yaml"))


@pytest.mark.requirement("S0-36", "S0-05")
@pytest.mark.parametrize(
    ("chosen", "name"),
    [("", "offline-hashed"), ("wordllama", "wordllama-"), ("endpoint:nomic-embed-text", "endpoint:nomic-embed-text")],
)
async def test_setting_chooses_the_embedder(monkeypatch: pytest.MonkeyPatch, chosen: str, name: str) -> None:
    monkeypatch.setenv("SUMA_EMBEDDER", chosen)
    assert (await named("memory_service")).startswith(name)


async def test_service_that_embeds_nothing_needs_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUMA_EMBEDDER", "endpoint:nomic-embed-text")
    monkeypatch.setenv("SUMA_EMBEDDER_KEY_FILE", str(tmp_path / "absent"))
    assert await named("gateway") == "offline-hashed-2"
    with pytest.raises(settings.BadSettings, match="SUMA_EMBEDDER_KEY_FILE"):
        await named("memory_service")


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "ключ"])
async def test_key_that_is_no_header_is_refused(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("SUMA_EMBEDDER", "endpoint:nomic-embed-text")
    monkeypatch.setenv("SUMA_EMBEDDER_KEY", key)
    with pytest.raises(settings.BadSettings, match="SUMA_EMBEDDER_KEY does not contain a valid key") as refused:
        await named("memory_service")
    assert key not in str(refused.value)


@pytest.mark.parametrize("chosen", ["endpoint:", "endpoint:a b", "faiss"])
def test_unknown_embedder_is_refused(monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    monkeypatch.setenv("SUMA_EMBEDDER", chosen)
    with pytest.raises(settings.BadSettings, match="SUMA_EMBEDDER"):
        settings.process()
