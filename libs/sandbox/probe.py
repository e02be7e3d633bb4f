"""The probe: a real run in a small sandbox that tries what must not work, and reports what held.

A setting that a kernel or an engine accepts may still enforce nothing. So no setting is believed: each wall is pushed.
Without the essential ones there is no sandbox; any other that does not hold is in the report, with its cure.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from libs.sandbox.ports import MB, Backend, Broken, Check, Command, Limits, NoSandbox, Piece, Report, Session, TimedOut
from libs.sandbox.quota import scratch_folder

SMALL = Limits(memory=96 * MB, processes=24, tmp=8 * MB, disk=16 * MB, entries=200, files=128, output=MB, seconds=30.0)
ESSENTIAL = frozenset(
    ("network", "root", "user", "capabilities", "privileges", "calls", "processes", "leftovers", "time", "workspace")
)
BOUNDS = {
    "tmp": SMALL.tmp,
    "cpu": SMALL.cpus,
    "process count": SMALL.processes,
    "memory of one": SMALL.memory,
    "memory": SMALL.memory,
}
LEFT = "import os, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0: time.sleep(3600)\n"
SEEN = "import os; print(len([name for name in os.listdir('/proc') if name.isdigit()]))"


@cache
def guest() -> bytes:
    """Return the source of what runs inside."""
    return Path(__file__).with_name("guest.py").read_bytes()


async def probe(backend: Backend, cures: Mapping[str, str]) -> Report:
    async with scratch_folder(None, SMALL) as folder:
        session = await backend.open(f"probe-{secrets.token_hex(4)}", folder, SMALL)
        try:
            found = await _tried(session, folder)
        except (Broken, TimedOut) as error:
            raise NoSandbox(f"the probe of {backend.name} failed ({error})", cures["start"]) from error
        finally:
            await session.close()
    checks = [
        Check(name, "enforced", detail) if held else Check(name, "missing", detail, cures.get(name, cures["start"]))
        for name, (held, detail) in found.items()
    ]
    for check in checks:
        if check.name in ESSENTIAL and check.state == "missing":
            raise NoSandbox(f"{backend.name} does not isolate: {check.name} ({check.detail})", check.cure)
    return Report(backend.name, checks)


async def _tried(session: Session, folder: Path) -> dict[str, tuple[bool, str]]:
    await asyncio.to_thread((folder / "given").write_text, "given")
    found = _findings(await _output(session, await _asking(BOUNDS)))
    full = await _output(session, await _asking({"disk": SMALL.disk}))
    found |= _findings(full) if full else {"disk": (False, "watched: more is written before the command is ended")}
    await _output(session, Command(("python3", "-c", LEFT)))
    left = await _output(session, Command(("python3", "-c", SEEN)))
    found["leftovers"] = left.strip() == "2", "killed with their command"
    late = await session.run(Command(("sleep", "30"), seconds=0.2))
    found["time"] = late.limit == "time", f"ended after {late.seconds:.1f} s"
    await session.run(Command(("cp", "given", "taken")))
    given = await asyncio.to_thread(lambda: (folder / "taken").is_file() and (folder / "taken").read_text() == "given")
    found["workspace"] = given, "shared"
    return found


async def _asking(limits: Mapping[str, int]) -> Command:
    return Command(("python3", "-I", "-", json.dumps(limits)), stdin=await asyncio.to_thread(guest))


def _findings(output: str) -> dict[str, tuple[bool, str]]:
    try:
        return {str(name): (bool(held), str(detail)) for name, (held, detail) in json.loads(output).items()}
    except ValueError as error:
        raise Broken(f"the probe's guest reported nothing: {output[-300:]!r}") from error


async def _output(session: Session, command: Command) -> str:
    pieces: list[Piece] = []
    await session.run(command, pieces.append)
    return b"".join(piece.data for piece in pieces).decode(errors="replace")
