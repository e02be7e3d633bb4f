"""A platform killed at any point of a container's turn goes on after the next start, and does each thing once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from tests.infrastructure.vendor import APPROVED, Asked, Turn, Vendor, called, planned, said
from tests.infrastructure.wish import answered, asked, files, post
from tests.journeys.installation import Installation, installation
from tests.services.gateway.sse import Sse, opened, read

SLOW = "import time\nprint('begun by itself', flush=True)\ntime.sleep(1)\nopen('made.txt', 'a').write('once')\n"
CALL = ("run-commands.run", {"command": "python3 -B slow.py"})
POINTS = (
    "before the container starts",
    "while the model thinks",
    "while the command runs",
    "while the model thinks again",
    "while a person is asked",
)


class Story:
    """The vendor's script: run the command, then answer. It stops at the point at which the platform is killed."""

    def __init__(self, point: str) -> None:
        self.point, self.reached, self.go_on = point, asyncio.Event(), asyncio.Event()

    def __call__(self, asked: Asked) -> Turn:
        if asked.form == "judge":
            return APPROVED
        if asked.form != "propose":
            return said("Done.")
        again = "begun by itself" in asked.text
        turn = called({"kind": "answer", "text": "Done."}) if again else planned(CALL, complete=False)
        if self.point == (POINTS[3] if again else POINTS[1]) and not self.reached.is_set():
            self.reached.set()
            return Turn(turn.chunks, turn.call, turn.finish, held=self.go_on)
        return turn


@pytest_asyncio.fixture
async def own(in_bubblewrap: Mapping[str, str], tmp_path: Path) -> AsyncIterator[Installation]:
    """A platform whose turns run in containers of bubblewrap."""
    containers = {
        "SUMA_COMMITTEE_WORKER__CONTAINERS__ENABLED": "true",
        "SUMA_COMMITTEE_WORKER__CONTAINERS__KEEP": "all",
    }
    async with installation(tmp_path / "installation", **in_bubblewrap, **containers) as made:
        (made.folder / "slow.py").write_text(SLOW)
        yield made


@pytest.mark.requirement("S1-34", "A32", "P1", "P2")
@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.replace(" ", "-"))
async def test_killed_platform_ends_the_turn_with_one_effect(own: Installation, there: Vendor, point: str) -> None:
    there.script = story = Story(point)
    await own.start()
    async with own.api() as client:
        session = (await post(client, "/v1/sessions", {"root": str(own.folder), "hitl": "bypass"}))["session_id"]
        turn = (await post(client, f"/v1/sessions/{session}/messages", {"text": "run it"}))["turn_id"]
        if point in (POINTS[1], POINTS[3]):
            await asyncio.wait_for(story.reached.wait(), 60)
        elif point == POINTS[2]:
            async with opened(client, session) as chunks:
                await read(chunks, Sse(), until="delta")
        elif point == POINTS[4]:
            await asked(client, session)
    await own.end(signal.SIGKILL)
    story.go_on.set()
    async with asyncio.timeout(10):
        while agents(turn):
            await asyncio.sleep(0.05)
    assert not (own.folder / "made.txt").exists()
    await own.start()
    async with own.api() as client:
        ended = await answered(client, session, turn)
    assert (ended["type"], ended["data"]["state"]) == ("turn.ended", "completed")
    assert files(own.folder) == ["made.txt", "slow.py"]
    assert (own.folder / "made.txt").read_text() == "once"
    assert list((own.data / "turns").glob(f"{turn}-*"))
    assert not agents(turn)


def agents(turn: str) -> list[str]:
    """Return the processes of a turn's containers that still live."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            own = f"SUMA_TURN={turn}".encode() in (place / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        found += [words] if own and words.startswith("python3 /program/agent.py") else []
    return found
