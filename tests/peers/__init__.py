"""Environments of others, made once from pinned requirements and kept in the user's cache."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent


async def python(peer: str) -> str:
    """The interpreter of the environment that `<peer>.txt` pins; made when it is not there yet."""
    pinned = HERE / f"{peer}.txt"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    made = _cache() / f"{peer}-{version}-{hashlib.sha256(pinned.read_bytes()).hexdigest()[:12]}"
    if not (made / "complete").exists():
        shutil.rmtree(made, ignore_errors=True)
        await _run(sys.executable, "-m", "venv", str(made))
        await _install(made, pinned)
        (made / "complete").touch()
    return str(made / "bin" / "python")


async def _install(made: Path, pinned: Path) -> None:
    """With uv where there is one: it is faster, and does the same."""
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    interpreter = str(made / "bin" / "python")
    with_uv = (uv, "pip", "install", "--quiet", "--python", interpreter) if uv else None
    with_pip = (interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    await _run(*(with_uv or with_pip), "--require-hashes", "-r", str(pinned))


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "suma" / "peers"


async def _run(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(*command)
    if await process.wait() != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
