"""A command or a skill's program whose platform is killed runs again after the next start, reports once, and leaves no
process behind.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests.infrastructure.vendor import APPROVED, Vendor, planned, said
from tests.infrastructure.wish import answered, files, post
from tests.journeys.installation import Installation, installation
from tests.libs.skills.folders import skill
from tests.services.gateway.sse import Sse, opened, read

SLOW = "import time\nprint('begun', flush=True)\ntime.sleep(4)\nopen('made.txt', 'w').write('once')\n"
MARK = "python3 -B slow-and-named-by-this-test.py"
PROGRAM = "python3 -B /skill/scripts/slow.py"


@pytest_asyncio.fixture
async def own(in_bubblewrap: Mapping[str, str], tmp_path: Path) -> AsyncIterator[Installation]:
    """A platform that thinks with this vendor and runs commands in bubblewrap."""
    async with installation(tmp_path / "installation", **in_bubblewrap) as made:
        (made.folder / MARK.split()[-1]).write_text(SLOW)
        yield made


@pytest.mark.requirement("S2-16", "S2-22", "S3-05", "P1", "P2")
@pytest.mark.parametrize(
    ("call", "mark"),
    [
        (("run-commands.run", {"command": MARK}), MARK),
        (("skills.run", {"skill": "slow", "program": "scripts/slow.py"}), PROGRAM),
    ],
    ids=["command", "skill"],
)
async def test_killed_command_runs_again_and_reports_once(
    own: Installation, there: Vendor, call: tuple[str, dict[str, str]], mark: str
) -> None:
    there.play(planned(call), APPROVED, said("Done."))
    await own.start()
    skill(own.data / "skills", "slow", scripts__slow_dot_py=SLOW)
    async with own.api() as client:
        async with asyncio.timeout(10):
            while (await client.get("/v1/skills/slow")).status_code == httpx.codes.NOT_FOUND:
                await asyncio.sleep(0.05)
        session = (await post(client, "/v1/sessions", {"root": str(own.folder), "hitl": "bypass"}))["session_id"]
        turn = (await post(client, f"/v1/sessions/{session}/messages", {"text": "run it"}))["turn_id"]
        sse = Sse()
        async with opened(client, session) as chunks:
            await read(chunks, sse, until="delta")
    assert sse.events[-1][2]["text"] == "begun\n"
    await own.end(signal.SIGKILL)
    async with asyncio.timeout(10):
        while running(mark):
            await asyncio.sleep(0.05)
    assert not (own.folder / "made.txt").exists()
    await own.start()
    async with own.api() as client:
        ended = await answered(client, session, turn)
    assert (ended["type"], ended["data"]["state"]) == ("turn.ended", "completed")
    assert files(own.folder) == ["made.txt", MARK.split()[-1]]
    assert not running(mark)


def running(mark: str) -> list[str]:
    """Return the processes of the command that still live."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().decode(errors="replace").replace("\0", " ")
        except OSError:
            continue
        found += [words] if words.startswith(mark) else []
    return found
