"""The wheel in an empty environment, as `uv tool install .` installs it, without the checkout."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest

from services.cli.evals import cases

ROOT = Path(__file__).parents[2]
INSTALL_SECONDS = 900
SECONDS = 300.0


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The programs of an environment with the built wheel and its dependencies."""
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("uv is not here, and the wheel is installed with it")
    place = tmp_path_factory.mktemp("wheel")
    _by(uv, "build", "--wheel", "--out-dir", place, ROOT)
    (wheel,) = place.glob("*.whl")
    _by(uv, "venv", "--python", sys.executable, place / "venv")
    pinned = ("--constraint", ROOT / "requirements.txt")
    _by(uv, "pip", "install", "--python", place / "venv", *pinned, wheel)
    yield place / "venv" / "bin"
    shutil.rmtree(place / "venv")


def _by(uv: Path, *arguments: str | Path) -> None:
    done = subprocess.run([uv, "--quiet", *arguments], capture_output=True, text=True, timeout=INSTALL_SECONDS)
    if done.returncode and any(word in done.stderr for word in ("Failed to fetch", "error sending request", "offline")):
        pytest.skip(f"the package index cannot be reached: {done.stderr.strip()[-300:]}")
    assert done.returncode == 0, done.stderr


async def _suma(programs: Path, environment: Mapping[str, str], *arguments: str) -> tuple[int, str]:
    """Return a command that runs outside the checkout."""
    process = await asyncio.create_subprocess_exec(
        programs / "suma",
        *arguments,
        env=dict(environment),
        cwd=environment["HOME"],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    assert process.returncode is not None
    return process.returncode, out.decode()


def _environment(place: Path) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "HOME": str(place),
        "SUMA_DATA_DIR": str(place / "data"),
        "SUMA_CONFIG": os.devnull,
        "SUMA_PORT": "0",
        "SUMA_MEMORY_PORT": "0",
    }


async def test_wheel_runs_a_task_without_the_checkout(installed: Path, tmp_path: Path) -> None:
    environment, folder = _environment(tmp_path), tmp_path / "Downloads"
    folder.mkdir()
    for name in ("song.mp3", "pic.jpg"):
        (folder / name).write_text(name)
    up = await asyncio.create_subprocess_exec(
        installed / "suma", "up", env=environment, cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    assert up.stdout is not None
    try:
        ready = re.search(r"is ready at (\S+)", (await asyncio.wait_for(up.stdout.readline(), SECONDS)).decode())
        assert ready
        async with httpx.AsyncClient() as browser:
            page = await browser.get(ready[1], headers={"Accept": "text/html"})
        assert "/assets/" in page.text
        code, said = await _suma(installed, environment, "run", "sort by type", "--in", str(folder), "--yes")
        assert code == 0, said
        assert (folder / "Audio" / "song.mp3").exists()
        code, said = await _suma(installed, environment, "stop")
        assert code == 0, said
        assert await asyncio.wait_for(up.wait(), SECONDS) == 0
    finally:
        if up.returncode is None:
            up.kill()
            await up.wait()


async def test_wheel_plays_the_demo(installed: Path, tmp_path: Path) -> None:
    code, said = await _suma(installed, _environment(tmp_path), "demo")
    assert code == 0, said
    assert "before and after are equal" in said


async def test_wheel_evaluates_a_bundled_case(installed: Path, tmp_path: Path) -> None:
    code, said = await _suma(installed, _environment(tmp_path), "eval", "--only", cases.half("held-out").cases[0].id)
    assert code == 0, said
    assert "wrong changes: 0" in said
