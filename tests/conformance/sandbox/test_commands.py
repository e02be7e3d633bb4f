"""What every backend promises of a command: its words, its output, its end, and that nothing outlives it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import uvloop

from libs.guards.blocked import CommandBlocked
from libs.guards.programs import ALLOWED, check_command
from libs.sandbox import Broken, Command, Limits, Piece, Refused, Sandboxes, Session, scratch_folder
from tests.conformance.sandbox.conftest import LIMITS
from tests.conformance.sandbox.rigs import Rig, is_usable, output, said

pytestmark = pytest.mark.requirement("S2-10", "S2-16", "S2-20")
BEHIND = "for place in /etc /home /usr /workspace; do echo x > $place/suma-started; done; sleep 60 &"
STARTERS = {
    "find": ("find", ".", "-maxdepth", "0", "-exec", "sh", "-c", BEHIND, ";"),
    "awk": ("awk", f'BEGIN{{system("{BEHIND}")}}'),
    "env": ("env", "sh", "-c", BEHIND),
    "tar": ("tar", "--checkpoint=1", f"--checkpoint-action=exec={BEHIND}", "-cf", "/tmp/a", "/usr/bin/env"),
    "sh": ("sh", "-c", f"({BEHIND}) & wait $!"),
}
"""Commands whose arguments start another program; the guards refuse each before it comes here."""
COUNT = "import os; print(sum(name.isdigit() for name in os.listdir('/proc')))"
DAEMON = "import os, time\nif os.fork() == 0:\n os.setsid()\n while True: time.sleep(1)\nprint('started', flush=True)\n"


async def test_words_reach_the_program_unchanged(session: Session) -> None:
    words = ("$HOME", "a b", "", "*", "; rm -rf /", "ü\n")
    assert await said(session, "python3", "-c", "import sys; print(sys.argv[1:])", *words) == str(list(words))


@pytest.mark.requirement("A4")
@pytest.mark.parametrize("name", STARTERS)
async def test_program_that_arguments_start_is_as_closed_in(session: Session, name: str) -> None:
    with pytest.raises(CommandBlocked):
        check_command(list(STARTERS[name]), allowed=ALLOWED)
    assert (await session.run(Command(STARTERS[name]))).limit is None
    assert await said(session, "sh", "-c", "cat suma-started && rm suma-started") == "x"
    assert not [place for place in ("/etc", "/home", "/usr") if Path(place, "suma-started").exists()]
    assert await said(session, "python3", "-c", COUNT) == "2"


async def test_streams_exit_code_and_input_are_passed(session: Session) -> None:
    pieces: list[Piece] = []
    command = Command(("sh", "-c", "cat; echo err >&2; exit 3"), stdin=b"in")
    ended = await session.run(command, pieces.append)
    assert {piece.stream: piece.data for piece in pieces} == {"stdout": b"in", "stderr": b"err\n"}
    assert (ended.code, ended.limit, ended.truncated) == (3, None, False)


async def test_output_is_shown_while_the_command_runs(session: Session) -> None:
    seen = asyncio.Event()
    running = asyncio.create_task(session.run(Command(("sh", "-c", "echo first; sleep 30")), lambda piece: seen.set()))
    await asyncio.wait_for(seen.wait(), 10)
    await session.cancel()
    assert (await running).limit == "cancelled"


async def test_large_output_comes_whole_in_bounded_pieces(session: Session) -> None:
    pieces: list[Piece] = []
    ended = await session.run(Command(("head", "-c", "5000000", "/dev/zero")), pieces.append)
    assert sum(len(piece.data) for piece in pieces) == 5_000_000
    assert max(len(piece.data) for piece in pieces) <= 32 * 1024
    assert not ended.truncated


async def test_too_much_output_ends_the_command(session: Session) -> None:
    pieces: list[Piece] = []
    ended = await session.run(Command(("yes",)), pieces.append)
    assert (ended.limit, ended.truncated) == ("output", True)
    assert sum(len(piece.data) for piece in pieces) == LIMITS.output


@pytest.mark.requirement("A30")
async def test_time_limit_ends_all_processes(session: Session) -> None:
    text, ended = await output(session, Command(("python3", "-c", DAEMON + "time.sleep(30)"), seconds=1.0))
    assert (text, ended.limit) == ("started\n", "time")
    assert 1.0 <= ended.seconds < 2.0
    assert await said(session, "python3", "-c", COUNT) == "2"


async def test_cancelled_task_ends_all_processes(session: Session) -> None:
    started = asyncio.Event()
    command = Command(("python3", "-c", DAEMON + "time.sleep(30)"))
    running = asyncio.create_task(session.run(command, lambda piece: started.set()))
    await asyncio.wait_for(started.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await said(session, "python3", "-c", COUNT) == "2"


async def test_task_cancelled_before_it_began_leaves_the_session(session: Session) -> None:
    running = asyncio.create_task(session.run(Command(("sleep", "30"))))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await is_usable(session)


async def test_no_process_outlives_its_command(session: Session) -> None:
    assert await said(session, "python3", "-c", DAEMON) == "started"
    assert await said(session, "python3", "-c", COUNT) == "2"


async def test_unknown_program_ends_like_in_a_shell(session: Session) -> None:
    text, ended = await output(session, Command(("no-such-program",)))
    assert (text, ended.code) == ("no-such-program: No such file or directory\n", 127)


@pytest.mark.parametrize(
    "command",
    [
        Command(()),
        Command(("",)),
        Command(("echo", "a\0b")),
        Command(("echo", "\ud800")),
        Command(("echo",), cwd="/etc"),
        Command(("echo",), cwd="a/../../etc"),
        Command(("echo",), cwd="\0"),
        Command(("echo",), env={"A=B": "c"}),
        Command(("echo",), env={"A": "b\0c"}),
        Command(("echo", "x" * 300_000)),
        Command(("cat",), stdin=bytes(5_000_000)),
        Command(("true",), seconds=0.0),
        Command(("true",), seconds=float("nan")),
    ],
    ids=str,
)
async def test_impossible_command_is_refused(session: Session, command: Command) -> None:
    with pytest.raises(Refused):
        await session.run(command)
    assert await is_usable(session)


async def test_folder_and_variables_are_as_given(session: Session) -> None:
    await said(session, "mkdir", "-p", "sub/folder")
    command = Command(("sh", "-c", "pwd; echo $WORD; env | wc -l"), cwd="sub/folder", env={"WORD": "given"})
    text, _ = await output(session, command)
    assert text.split()[:2] == ["/workspace/sub/folder", "given"]
    assert int(text.split()[2]) < 8


async def test_link_as_folder_leads_nowhere_outside(session: Session) -> None:
    await said(session, "ln", "-s", "/", "way")
    text, _ = await output(session, Command(("ls", "-d", "home/runner", "root/.ssh"), cwd="way"))
    assert "cannot access 'root/.ssh'" in text


async def test_files_and_tmp_last_as_long_as_the_session(backend: Sandboxes) -> None:
    async with scratch_folder(None, LIMITS) as folder:
        first = await backend.open("lasting", folder, LIMITS)
        await said(first, "sh", "-c", "echo one > file; echo two > /tmp/file")
        assert await backend.open("lasting", folder, LIMITS) is first
        assert await said(first, "cat", "file", "/tmp/file") == "one\ntwo"
        await first.close()
        second = await backend.open("lasting", folder, LIMITS)
        assert await said(second, "sh", "-c", "cat file /tmp/file 2>/dev/null") == "one"
        await second.close()
        assert (folder / "file").read_text() == "one\n"


async def test_sessions_share_nothing(backend: Sandboxes, session: Session) -> None:
    async with scratch_folder(None, LIMITS) as folder:
        other = await backend.open("other", folder, LIMITS)
        await said(session, "sh", "-c", "echo secret > /tmp/mine; echo secret > mine")
        assert await said(other, "sh", "-c", "cat /tmp/mine mine 2>/dev/null") == ""
        await other.close()


async def test_commands_of_a_session_run_one_after_the_other(session: Session) -> None:
    script = "import os, time; os.mkdir('alone'); time.sleep(0.1); os.rmdir('alone')"
    ends = await asyncio.gather(*(session.run(Command(("python3", "-c", script))) for _ in range(4)))
    assert [ended.code for ended in ends] == [0, 0, 0, 0]


async def test_closed_session_runs_nothing(backend: Sandboxes) -> None:
    async with scratch_folder(None, LIMITS) as folder:
        session = await backend.open("closed", folder, LIMITS)
        await session.close()
        await session.close()
        with pytest.raises(Broken):
            await session.run(Command(("true",)))


@pytest.mark.parametrize("name", ["", "a/b", "-a", "a b", "x" * 65, "a\0"])
async def test_odd_id_of_a_session_is_refused(backend: Sandboxes, tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused):
        await backend.open(name, tmp_path)


async def test_idle_session_is_removed_and_a_busy_one_kept(rig_backend: tuple[Sandboxes, list[float]]) -> None:
    backend, now = rig_backend
    async with scratch_folder(None, LIMITS) as folder, scratch_folder(None, LIMITS) as another:
        idle = await backend.open("idle", folder, LIMITS)
        busy = await backend.open("busy", another, LIMITS)
        started = asyncio.Event()
        command = Command(("sh", "-c", "echo; sleep 30"))
        running = asyncio.create_task(busy.run(command, lambda piece: started.set()))
        await asyncio.wait_for(started.wait(), 10)
        now[0] += 3600.0
        assert await backend.reap() == ["idle"]
        with pytest.raises(Broken):
            await idle.run(Command(("true",)))
        await busy.cancel()
        assert (await running).limit == "cancelled"


async def test_report_cures_each_limit_that_is_missing(backend: Sandboxes) -> None:
    report = await backend.probe()
    found = {check.name: check.state for check in report.checks}
    assert len(found) == 16
    assert [check for check in report.missing if not check.cure] == []
    assert {name for name, state in found.items() if state == "missing"} <= {"disk", "memory", "cpu"}


async def test_lower_limits_hold(backend: Sandboxes) -> None:
    limits = Limits(processes=8, files=20, output=1000, seconds=1.0)
    async with scratch_folder(None, limits) as folder:
        session = await backend.open("lower", folder, limits)
        assert (await output(session, Command(("yes",))))[1].limit == "output"
        assert (await output(session, Command(("sleep", "9"), seconds=50.0)))[1].limit == "time"
        assert await said(session, "sh", "-c", "ulimit -n") == "20"
        await session.close()


def test_sandbox_runs_on_the_platforms_event_loop(rig: Rig) -> None:
    async def run() -> str:
        async with Sandboxes(rig.launcher()) as backend, scratch_folder(None, LIMITS) as folder:
            session = await backend.open("uvloop", folder, LIMITS)
            await session.run(Command(("sleep", "9"), seconds=0.1))
            return await said(session, "echo", "ok")

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(run()) == "ok"
