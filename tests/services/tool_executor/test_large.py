"""Large results travel as blobs, and no event exceeds 256 KiB (A17b)."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import ApprovalRequested, StepChanged, ToolRequested
from libs.events.envelope import MAX_EVENT_BYTES
from tests.support.platform import plan, run_platform, scripted_model

CLEAR = plan(
    ("manage-files.list", {"path": "."}),
    ("manage-files.delete", {"paths": "$step(1).nodes"}),
)
FILES = 3000


@pytest.mark.requirement("A17b", "S4-35")
async def test_thousands_of_paths_pass_approval_and_commit_as_a_blob(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(CLEAR)) as at:
        where = at.folder()
        for n in range(FILES):
            (where / f"{n:05}-{'ü' * 40}").touch()
        turn = await at.say("clear", session="s", root=where)
        assert (await at.finish(turn, session="s")).state == "completed"
        assert [path.name for path in where.iterdir() if not path.name.startswith(".")] == []
        events = await at.logged("s")
        assert max(len(event.model_dump_json()) for event in events) < MAX_EVENT_BYTES
        asked = next(e for e in events if isinstance(e, ApprovalRequested))
        called = next(e for e in events if isinstance(e, ToolRequested) and e.tool == "manage-files.delete")
        assert "$blob" in asked.args["paths"]
        assert asked.args == called.args
        assert asked.items


@pytest.mark.requirement("A17b")
@pytest.mark.parametrize(("files", "large"), [(3, False), (FILES, True)])
async def test_result_stored_as_a_blob_is_offered_as_a_file(
    home: Dsns, tmp_path: Path, files: int, large: bool
) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(("manage-files.list", {"path": "."})))) as at:
        where = at.folder()
        for n in range(files):
            (where / f"{n:05}-{'ü' * 40}").touch()
        await at.ended(await at.say("list", session="s", root=where), session="s")
        told = [event.result for event in await at.logged("s") if isinstance(event, StepChanged)]
        assert [result is not None for result in told] == [False] * (len(told) - 1) + [large]
        if told[-1] is not None:
            content = await at.platform.objects.get("local", told[-1].sha256)
            assert (len(content), told[-1].filename) == (told[-1].size, "step-1-manage-files.list.json")
