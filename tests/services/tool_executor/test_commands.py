"""Commands where there is no sandbox, and commands that no sandbox is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import ToolFailed
from tests.support.platform import plan, run_platform, scripted_model


@pytest.mark.requirement("S2-15", "S2-20", "A3")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("ls -l", "NO_SANDBOX"),
        ("ls -l | wc", "COMMAND_BLOCKED"),
        ("ls $(pwd)", "COMMAND_BLOCKED"),
        ("/bin/ls", "COMMAND_BLOCKED"),
        ("nc example.org 80", "COMMAND_BLOCKED"),
        ("find . -exec ls +", "COMMAND_BLOCKED"),
    ],
)
async def test_command_that_may_not_run_fails_with_the_reason(
    home: Dsns, tmp_path: Path, command: str, code: str
) -> None:
    model = scripted_model(plan(("run-commands.run", {"command": command})))
    async with run_platform(home, tmp_path, model=model) as at:
        turn = await at.say("run it", session="s", root=at.folder("a.txt"), hitl="bypass")
        await at.ended(turn, session="s")
        (failed,) = [event for event in await at.logged("s") if isinstance(event, ToolFailed)]
        assert failed.code == code
