"""A small workspace with one of everything that has ever gone wrong."""

from __future__ import annotations

import os
import shutil
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
def tmp_path() -> Iterator[Path]:
    """In memory where that can be: a commit waits for the whole file system to be on the disk, and so for everyone's
    writes.

    What a SIGKILL leaves is the same there; `disk` is for what a real file system does differently."""
    folder = Path(tempfile.mkdtemp(prefix="workspace-", dir=_in_memory()))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("disk")


def _in_memory() -> str | None:
    """Shared memory, if files there can have attributes (kernel 6.6)."""
    try:
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as tried:
            os.setxattr(tried.name, "user.tried", b"")
    except OSError:
        return None
    return "/dev/shm"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return grow(tmp_path / "work", DOWNLOADS)
