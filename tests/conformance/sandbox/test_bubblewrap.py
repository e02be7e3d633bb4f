"""What only namespaces of an ordinary user have: limits that they cannot give are reported, never passed over."""

from __future__ import annotations

import asyncio
import concurrent.futures.thread  # noqa: F401 - that user may not be able to import it later
import json
import os
import select
import shutil
import signal
import tempfile
import traceback
from functools import partial
from pathlib import Path

import pytest

from deploy.local.runner_image import RUNNER
from libs.sandbox import Command, Limits, NoSandbox, Piece, Sandboxes, scratch_folder
from libs.sandbox.bubblewrap import Bubblewrap
from libs.sandbox.probe import guest

ORDINARY = 12345
"""A user without rights of its own; a forked child becomes it, because the checkout may be root's alone."""


def as_ordinary_user(runner: Path) -> dict[str, list[str]]:
    """Probe as a user without rights; return the name, state and cure of each check."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(ORDINARY, ORDINARY, ORDINARY)
            os.setresuid(ORDINARY, ORDINARY, ORDINARY)
            os.write(writer, json.dumps(asyncio.run(_probed(runner))).encode())
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        raw = answer.read()
    os.waitpid(child, 0)
    found: dict[str, list[str]] = json.loads(raw or b"{}")
    return found


async def _probed(runner: Path) -> dict[str, list[str]]:
    try:
        async with Sandboxes(Bubblewrap(runner)) as backend:
            report = await backend.probe()
    except NoSandbox as error:
        return {"start": ["missing", str(error)]}
    return {check.name: [check.state, check.cure or check.detail] for check in report.checks}


@pytest.mark.skipif(shutil.which("bwrap") is None or os.geteuid() != 0, reason="needs bubblewrap, and root to leave")
@pytest.mark.requirement("S2-11", "S2-19")
def test_ordinary_user_gets_walls_and_cures_for_lacks() -> None:
    # Read now, and copied: that user may not reach the checkout.
    guest()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        runner = Path(shutil.copy(RUNNER / "runner.py", folder))
        runner.chmod(0o644)
        found = as_ordinary_user(runner)
    missing = {name: cure for name, (state, cure) in found.items() if state == "missing"}
    assert found.keys() >= {"network", "root", "user", "capabilities", "calls", "leftovers", "time", "workspace"}
    assert missing.keys() == {"disk", "memory"}
    assert "TMPDIR" in missing["disk"]
    assert "Delegate" in missing["memory"]


async def test_absent_program_is_reported_with_its_cure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSandbox, match="bwrap is not installed") as caught:
        async with Sandboxes(Bubblewrap(RUNNER / "runner.py")):
            pass
    assert "bubblewrap" in caught.value.cure


async def test_refused_namespaces_are_reported_with_their_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        program = Path(folder, "bwrap")
        program.write_text(
            "#!/bin/sh\n[ $1 = --help ] && echo --disable-userns\n"
            "echo 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        async with Sandboxes(Bubblewrap(RUNNER / "runner.py")) as backend:
            with pytest.raises(NoSandbox, match="setting up uid map") as caught:
                await backend.open("refused", Path(folder))
    assert "apparmor" in caught.value.cure


async def test_old_program_is_reported_with_its_cure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho usage: bwrap --unshare-all\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(NoSandbox, match="too old") as caught:
        async with Sandboxes(Bubblewrap(RUNNER / "runner.py")):
            pass
    assert "0.8.0" in caught.value.cure


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_sandbox_ends_with_the_process_that_holds_it() -> None:
    reader, writer = os.pipe()
    marked = f"3600.{os.getpid()}"
    child = os.fork()
    if child == 0:
        asyncio.run(_hold(marked, writer))
        os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as started:
        assert started.read(7) == b"started"
    (sleeping,) = [path for path in Path("/proc").glob("[0-9]*/cmdline") if marked in _words(path)]
    watched = os.pidfd_open(int(sleeping.parent.name))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert select.select([watched], [], [], 10)[0] == [watched]
    os.close(watched)


async def _hold(marked: str, writer: int) -> None:
    limits = Limits()
    async with scratch_folder(None, limits) as folder, Sandboxes(Bubblewrap(RUNNER / "runner.py")) as backend:
        session = await backend.open("held", folder, limits)
        script = "import time; print('started', flush=True); time.sleep(3600)"
        await session.run(Command(("python3", "-c", script, marked)), partial(_passed, writer))


def _passed(writer: int, piece: Piece) -> None:
    os.write(writer, piece.data)


def _words(path: Path) -> str:
    """Return the arguments of a sleeping `python3`; nothing of other processes, or of one that has ended."""
    try:
        program, _, words = path.read_text("utf-8", "replace").partition("\0")
    except OSError:
        return ""
    return words if program == "python3" else ""
