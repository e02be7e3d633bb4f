"""A small workspace with one of every known difficulty."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.libs.workspace.trees import grow

DOWNLOADS: dict[str, bytes | str | None] = {
    "README": "read me",
    "report.pdf": b"%PDF report" * 50,
    "report copy.pdf": b"%PDF report" * 50,
    "empty.txt": "",
    "binary.bin": bytes(range(256)),
    "\u00e9t\u00e9.txt": "NFC",
    "e\u0301te\u0301.txt": "NFD",
    "docs/letter.txt": "dear",
    "docs/old/invoice.txt": "invoice",
    "docs/old/report.pdf": b"%PDF report" * 50,
    "photos/a.jpg": b"aaaa",
    "photos/b.jpg": b"bbbb",
    "photos/raw/c.jpg": b"cc",
    "hollow": None,
    "link": "-> docs",
}


@pytest.fixture
def disk() -> Iterator[Path]:
    """Yield a folder on a real file system, as `tmp_path` may be in memory."""
    with tempfile.TemporaryDirectory(prefix="suma-disk-") as folder:
        yield Path(folder).resolve()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return grow(tmp_path / "work", DOWNLOADS)
