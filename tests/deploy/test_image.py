"""The image: its build stages run natively, then it runs as declared: unprivileged, on a read-only root."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from deploy.local.cache import Unprovided, in_memory
from deploy.local.ports import free_port
from tests.infrastructure.image import DOCKERFILE, Stage, image, run
from tests.infrastructure.parsers import parsed

SECONDS = 120.0
USER = 10001


@pytest.fixture(scope="module")
def built() -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="suma-image-", dir=in_memory()) as folder:
        # The image's user has no rights on this machine.
        Path(folder).chmod(0o755)
        try:
            yield image(Path(folder))
        except Unprovided as reason:
            pytest.skip(str(reason))


@dataclass
class Container:
    """The running image."""

    stage: Stage
    data: Path
    port: int
    process: asyncio.subprocess.Process

    async def exec(self, *command: str) -> int:
        """Run a command beside it, as `docker exec` would."""
        line = run(self.stage, self.data, *command, SUMA_PORT=str(self.port))
        return await (await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.DEVNULL)).wait()

    async def healthy(self, *more: str) -> None:
        """Wait until the image's health check succeeds; an engine also repeats it."""
        async with asyncio.timeout(SECONDS):
            while await self.exec(*self.stage.healthcheck, *more) != 0:
                pass


@pytest_asyncio.fixture(loop_scope="session")
async def container(built: Stage) -> AsyncIterator[Container]:
    """Run the whole platform in one container, the image's default."""
    # A short path, because it contains sockets.
    data, port = Path("/tmp") / f"suma-image-{os.getpid()}", free_port()
    data.mkdir(mode=0o700)
    os.chown(data, USER, USER)
    variables = {"SUMA_PORT": str(port), "SUMA_MEMORY_PORT": "0", "SUMA_HOST": "127.0.0.1"}
    process = await asyncio.create_subprocess_exec(*run(built, data, **variables), stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(SECONDS):
            assert b"Suma is ready at" in await process.stdout.readline()
        yield Container(built, data, port, process)
    finally:
        if process.returncode is None:
            process.kill()
        shutil.rmtree(data, ignore_errors=True)


def test_buildkit_reports_no_warning() -> None:
    try:
        assert parsed("dockerfile", DOCKERFILE)["Warnings"] == []
    except Unprovided as reason:
        pytest.skip(str(reason))


def test_image_holds_only_runtime_files(built: Stage) -> None:
    app = built.root / "opt/suma/app"
    code = ["LICENSE", "build", "deploy", "libs", "services", "skills"]
    assert sorted(path.name for path in app.iterdir()) == code
    assert (app / "build" / "web" / "index.html").is_file()
    assert not [*app.rglob("*.tsx"), *built.root.rglob("node_modules"), *built.root.glob("build")]
    assert sorted(path.name for path in (app / "deploy").iterdir()) == ["healthcheck.py", "opa", "runner"]
    assert not [*app.rglob("*_test.rego"), *app.rglob("test_*.py"), *built.root.glob("root/.cache/*")]
    assert not (built.root / "opt/suma/venv/bin/pip").exists()


def test_application_files_are_read_only_in_the_image(built: Stage) -> None:
    places = [path for path in (built.root / "opt").rglob("*") if not path.is_symlink()]
    assert not [path for path in places if path.stat().st_mode & 0o022 or path.stat().st_uid != 0]
    assert {path.stat().st_mtime for path in places} == {1577836800.0}


async def test_image_runs_unprivileged_and_read_only_and_stops_cleanly(container: Container) -> None:
    await container.healthy()
    await container.healthy("/readyz")
    assert await container.exec("touch", "/opt/suma/app/x") != 0
    assert (container.data / "key").stat().st_uid == USER
    # bwrap, which replaces the engine here, forwards no signals: the process inside is its only child.
    inside = Path(f"/proc/{container.process.pid}/task/{container.process.pid}/children").read_text().split()
    os.kill(int(inside[0]), signal.SIGTERM)
    async with asyncio.timeout(SECONDS):
        assert await container.process.wait() == 0


async def test_the_health_check_fails_where_nothing_answers(built: Stage, tmp_path: Path) -> None:
    os.chown(tmp_path, USER, USER)
    line = run(built, tmp_path, *built.healthcheck, SUMA_PORT=str(free_port()))
    process = await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.DEVNULL)
    assert await process.wait() == 1
