"""A model that edits texts: it reads, sees what it read, edits, and a person sees the diff of the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import TurnEnded
from tests.support.platform import plan, run_platform, scripted_model

READ = ("edit-files.read", {"path": "area.py"})
EDIT = ("edit-files.edit", {"path": "area.py", "old": "return width + height", "new": "return width * height"})
BROKEN = "def area(width, height):\n    return width + height\n"


@pytest.mark.requirement("S0-14", "P4", "P5")
async def test_text_is_read_edited_shown_and_rolled_back(home: Dsns, tmp_path: Path) -> None:
    model = scripted_model(plan(READ, complete=False), plan(EDIT))
    async with run_platform(home, tmp_path, model=model) as at:
        file = at.root / "area.py"
        file.write_text(BROKEN)
        turn = await at.say("mend the area", session="s", root=at.root, hitl="bypass")
        asked = await at.asked(session="s")
        assert asked.diff is not None
        (entry,) = asked.diff.entries
        assert (entry.change, entry.path) == ("changed", "area.py")
        assert "-    return width + height\n+    return width * height" in (entry.preview or "")
        assert file.read_text() == BROKEN
        await at.decide(asked, session="s")
        ended = await at.until(TurnEnded, session="s", where=lambda event: event.turn_id == turn)
        assert ended.state == "completed"
        assert file.read_text() == BROKEN.replace("+", "*")
        undo = await at.roll_back(session="s")
        await at.until(TurnEnded, session="s", where=lambda event: event.turn_id == undo)
        assert file.read_text() == BROKEN
