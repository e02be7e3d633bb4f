"""A runner that a command has taken over may send anything: the host is bounded, ends the sandbox, and says so."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from libs.sandbox import Broken, Command, Limits, NoSandbox, Piece, Sandboxes, TimedOut, scratch_folder
from tests.conformance.sandbox.rigs import Rig

pytestmark = pytest.mark.requirement("S2-18")
LIMITS = Limits(seconds=1.0, output=100_000)
HONEST = """
import json, os, struct, time
def take():
    raw = b''
    while len(raw) < 4: raw += os.read(0, 4 - len(raw)) or os._exit(0)
    (left,) = struct.unpack('>I', raw)
    while left: left -= len(os.read(0, left))
def give(frame, raw=None):
    raw = json.dumps(frame).encode() if raw is None else raw
    push(struct.pack('>I', len(raw)) + raw)
def push(raw):
    while raw: raw = raw[os.write(1, raw):]
take()
give({'kind': 'ready', 'pid': 1})
take()
"""
OUTPUT = "{'kind': 'stdout', 'data': 'YWJj' * 4000}"
LIES = {
    "a huge frame": "push(b'\\xff\\xff\\xff\\xff' + b'x' * 10**6)",
    "a frame larger than any answer": "give(None, b'x' * 70000)",
    "no JSON": "give(None, b'\\x00\\xff{')",
    "JSON that nests": "give(None, b'[' * 60000)",
    "JSON of another kind": "give([1])",
    "an unknown kind": "give({'kind': 'grant'})",
    "no base64": "give({'kind': 'stdout', 'data': '%%%'})",
    "no text as output": "give({'kind': 'stdout', 'data': 7})\ngive({'kind': 'x'})",
    "a code that is none": "give({'kind': 'ended', 'code': 10**400, 'limit': None, 'seconds': 1})",
    "a time that is none": "give({'kind': 'ended', 'code': 0, 'limit': None, 'seconds': float('nan')})",
    "a long time": "give({'kind': 'ended', 'code': 0, 'limit': None, 'seconds': 10**400})",
    "a limit that is none": "give({'kind': 'ended', 'code': 0, 'limit': 'root', 'seconds': 1})",
    "more output than it may": f"while True: give({OUTPUT})",
    "its own end": "os._exit(1)",
    "a part of a frame": "push(b'\\x00\\x00\\x10\\x00{')\nos._exit(0)",
}
SILENT = {
    "nothing": "time.sleep(3600)",
    "half a frame": "push(b'\\x00\\x00\\x10\\x00{')\ntime.sleep(3600)",
    "an endless trickle": "while True: give({'kind': 'stdout', 'data': ''}); time.sleep(0.05)",
}


async def told(rig: Rig, folder: Path, runner: str) -> list[Piece]:
    """Run a command with a lying runner; return what was shown."""
    pieces: list[Piece] = []
    file = folder / "runner.py"
    file.write_text(runner)
    async with Sandboxes(rig.lying(file)) as backend, scratch_folder(None, LIMITS) as scratch:
        session = await backend.open("lied-to", scratch, LIMITS)
        try:
            await session.run(Command(("true",)), pieces.append)
        finally:
            assert sum(len(piece.data) for piece in pieces) <= LIMITS.output
            with pytest.raises(Broken):
                await session.run(Command(("true",)))
    return pieces


@pytest.mark.parametrize("lie", LIES)
async def test_lie_breaks_the_session(rig: Rig, tmp_path: Path, lie: str) -> None:
    with pytest.raises(Broken):
        await told(rig, tmp_path, HONEST + dedent(LIES[lie]))


@pytest.mark.parametrize("silence", SILENT)
async def test_runner_without_answer_is_killed(rig: Rig, tmp_path: Path, silence: str) -> None:
    with pytest.raises(TimedOut):
        await told(rig, tmp_path, HONEST + SILENT[silence])


@pytest.mark.parametrize("pid", ["7", "'1'", "None"])
async def test_runner_outside_its_own_namespace_is_refused(rig: Rig, tmp_path: Path, pid: str) -> None:
    with pytest.raises(NoSandbox, match="not process 1"):
        await told(rig, tmp_path, HONEST.replace("'pid': 1", f"'pid': {pid}"))


async def test_runner_that_ends_at_once_is_reported(rig: Rig, tmp_path: Path) -> None:
    with pytest.raises(NoSandbox, match="started no runner"):
        await told(rig, tmp_path, "raise SystemExit")
