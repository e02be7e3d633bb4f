"""Every decision, intent and outcome of a turn is recorded, by ids and without content (P6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from tests.support.platform import plan, run_platform, scripted_model

PLAN = plan(
    ("manage-files.list", {"path": "."}),
    ("manage-files.rename", {"path": "secret-name", "new_name": "other-name"}),
)
TURN = [
    ("conversation.send", "decision", "allow"),
    ("committee.review", "decision", "allow"),
    ("committee.required", "decision", "required"),
    ("committee.review", "decision", "allow"),
    ("tool.execute", "decision", "allow"),
    ("tool.execute", "decision", "allow"),
    ("tool.execute", "intent", "begin"),
    ("tool.execute", "outcome", "succeeded"),
    ("tool.execute", "decision", "ask"),
    ("approval.decide", "decision", "allow"),
    ("tool.execute", "decision", "allow"),
    ("tool.execute", "decision", "allow"),
    ("tool.execute", "intent", "begin"),
    ("tool.execute", "outcome", "succeeded"),
    ("workspace.commit", "decision", "ask"),
    ("approval.decide", "decision", "allow"),
    ("workspace.commit", "decision", "allow"),
    ("tool.execute", "decision", "allow"),
    ("tool.execute", "intent", "begin"),
    ("tool.execute", "outcome", "succeeded"),
    ("turn", "outcome", "completed"),
]


@pytest.mark.requirement("S3-11")
async def test_turn_leaves_records_of_every_decision_and_action(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(PLAN)) as at:
        turn = await at.say("a private wish", session="s", root=at.folder("secret-name"))
        await at.finish(turn, session="s")
        records = await at.audited("s")
        assert [(r.action, r.phase, r.verdict) for r in records] == TURN
        assert {r.turn_id for r in records} == {turn}
        assert all(r.revision for r in records if r.phase == "decision" and r.action != "committee.review")
        written = "".join(r.model_dump_json() for r in records)
        assert not any(content in written for content in ("secret-name", "other-name", "private wish"))
