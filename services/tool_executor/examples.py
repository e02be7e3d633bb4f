"""Example workspaces: fresh messy folders in the data directory, so that a first task needs no path.

Each is an ordinary workspace of its tenant. Nothing else of the data directory may be one (`libs.workspace.roots`).
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

from libs import ids
from libs.errors import Rejected
from libs.workspace.examples import worked_example

MOST = 10
"""Example folders of one tenant; each has 20 MB."""
FOLDER = "Downloads"


class TooManyExamples(Rejected):
    """This tenant has 10 example folders; use one of them, or delete some of `examples` in the data directory."""

    code = "TOO_MANY_EXAMPLES"


async def create(place: Path) -> dict[str, Any]:
    """Create an example folder below a tenant's place. Raises TooManyExamples."""
    return await asyncio.to_thread(_create, place)


def _create(place: Path) -> dict[str, Any]:
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sum(1 for _ in place.iterdir()) >= MOST:
        raise TooManyExamples
    home = place / ids.new()
    home.mkdir(mode=0o700)
    root = home / FOLDER
    try:
        root.mkdir()
        worked_example(root)
    except OSError:
        shutil.rmtree(home, ignore_errors=True)
        raise
    files = [path for path in root.rglob("*") if path.is_file()]
    return {"root": str(root), "files": len(files), "bytes": sum(path.stat().st_size for path in files)}
