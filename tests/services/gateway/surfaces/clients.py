"""What the tests of several protocols share: clients, and folders to work in."""

from __future__ import annotations

from pathlib import Path

import openai

from tests.support.stack import Stack

DUPLICATES = {"a_txt": "same", "b_txt": "same", "c_txt": "other", "d_txt": "other", "kept_txt": "alone"}
"""Two groups of duplicates, and a file of its own."""


def client_of(stack: Stack, key: str | None = None) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{stack.url}/v1", api_key=key or stack.key, max_retries=0, timeout=60)


def names(folder: Path) -> list[str]:
    """Return the names of a folder's files, without Suma's own."""
    return sorted(path.name for path in folder.iterdir() if path.name != ".suma")
