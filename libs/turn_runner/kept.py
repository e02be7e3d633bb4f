"""Folders of ended turns, kept for people: the input, the output and the log of each container, and its end."""

from __future__ import annotations

import shutil
from pathlib import Path

SWEEP_SECONDS = 300.0
KEPT_MOST = 200
"""Folders that are kept, the newest."""


def sweep(home: Path, until: float) -> None:
    """Remove the folders that are older, and the oldest beyond the most."""
    if not home.is_dir():
        return
    by_age = sorted(home.iterdir(), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for place, folder in enumerate(by_age):
        if place >= KEPT_MOST or folder.stat().st_mtime < until:
            shutil.rmtree(folder, ignore_errors=True)
