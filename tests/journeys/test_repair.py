"""Commands on each sandbox, from the plan to the approved diff and back: a repair as coding agents do it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from libs.database import Dsns
from libs.events import StepChanged, ToolSucceeded
from libs.sandbox import Sandboxes
from tests.conformance.sandbox.rigs import Rig
from tests.support import web_site
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model
from tests.support.repairs import BROKEN, COUNT, EDIT, MENDED, READ, RUN, TESTS, counting

WRITES = "open('new.txt', 'w').write('x'); open('a.txt', 'a').write('y'); import os; os.remove('b.txt')"


async def results(at: RunningPlatform) -> list[dict[str, Any]]:
    """Return the results of the commands, in order."""
    done = [event for event in await at.logged("s") if isinstance(event, ToolSucceeded)]
    return [each.data.json_ for each in done if isinstance(each.data.json_, dict) and "exit_code" in each.data.json_]


@pytest.mark.requirement("S2-08", "S2-15", "S2-16", "S2-17", "S3-05", "P4", "P5")
async def test_failing_test_is_repaired_with_one_approval(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    model = scripted_model(plan(READ, RUN, complete=False), plan(EDIT, RUN))
    async with run_platform(where, tmp_path, model=model, sandboxes=(Sandboxes(rig.launcher()),)) as at:
        (at.root / "area.py").write_text(BROKEN)
        (at.root / "test_area.py").write_text(TESTS)
        turn = await at.say("mend the area", session="s", root=at.root, hitl="bypass")
        asked = await at.asked(session="s")
        assert asked.diff is not None
        assert [(entry.change, entry.path) for entry in asked.diff.entries] == [("changed", "area.py")]
        assert (at.root / "area.py").read_text() == BROKEN
        before, after = await results(at)
        assert (before["exit_code"], after["exit_code"]) == (1, 0)
        assert "AssertionError: 7 != 12" in before["output"]
        await at.decide(asked, session="s")
        assert (await at.ended(turn, session="s")).state == "completed"
        assert (at.root / "area.py").read_text() == MENDED
        undo = await at.roll_back(session="s")
        await at.ended(undo, session="s")
        assert (at.root / "area.py").read_text() == BROKEN


@pytest.mark.requirement("S2-12", "S2-18", "P4", "P5")
async def test_changes_of_a_command_wait_for_approval(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    steps = plan(
        ("edit-files.write", {"path": "change.py", "content": WRITES}),
        ("run-commands.run", {"command": "python3 -B change.py"}),
    )
    async with run_platform(where, tmp_path, model=scripted_model(steps), sandboxes=(Sandboxes(rig.launcher()),)) as at:
        folder = at.folder("a.txt", "b.txt")
        await at.say("run it", session="s", root=folder, hitl="bypass")
        asked = await at.asked(session="s")
        assert sorted(path.name for path in folder.iterdir() if path.is_file()) == ["a.txt", "b.txt"]
        assert asked.diff is not None
        assert {(entry.change, entry.path) for entry in asked.diff.entries} == {
            ("changed", "a.txt"),
            ("deleted", "b.txt"),
            ("created", "new.txt"),
            ("created", "change.py"),
        }
        await at.decide(asked, "deny", session="s")
        await at.ended(asked.turn_id, session="s")
        discarded = [event for event in await at.logged("s") if isinstance(event, StepChanged)][-1]
        assert (discarded.state, discarded.data["exit_code"]) == ("rolled_back", 0)


async def test_files_beyond_the_bound_are_not_staged(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    writes = "open('large.bin', 'w').write('x' * 200_000); open('small.txt', 'w').write('y')"
    steps = plan(
        ("edit-files.write", {"path": "change.py", "content": writes}),
        ("run-commands.run", {"command": "python3 -B change.py"}),
    )
    bound, sandboxes = {"tool_executor": {"staged_bytes_most": 100_000}}, (Sandboxes(rig.launcher()),)
    model = scripted_model(steps)
    async with run_platform(where, tmp_path, model=model, settings=bound, sandboxes=sandboxes) as at:
        await at.say("run it", session="s", root=at.folder("a.txt"), hitl="bypass")
        asked = await at.asked(session="s")
        assert asked.diff is not None
        assert {entry.path for entry in asked.diff.entries} == {"change.py", "small.txt"}
        (done,) = await results(at)
        assert [one["path"] for one in done["refused"]] == ["large.bin"]
        await at.decide(asked, "deny", session="s")


@pytest.mark.requirement("S2-08", "S2-20")
async def test_command_beyond_its_time_ends_with_its_output(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    steps = plan(
        ("edit-files.write", {"path": "slow.py", "content": "print('begun', flush=True)\nwhile True: pass\n"}),
        ("run-commands.run", {"command": "python3 -B slow.py", "seconds": 1}),
    )
    async with run_platform(where, tmp_path, model=scripted_model(steps), sandboxes=(Sandboxes(rig.launcher()),)) as at:
        await at.say("run it", session="s", root=at.folder("a.txt"), hitl="bypass")
        await at.asked(session="s")
        (done,) = await results(at)
        assert (done["limit"], done["output"]) == ("time", "begun\n")


async def test_step_shows_both_ends_of_a_long_output(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    steps = plan(
        ("edit-files.write", {"path": "long.py", "content": "print('begin' + 'x' * 100_000 + 'end')"}),
        ("run-commands.run", {"command": "python3 -B long.py"}),
    )
    sandbox = rig.launcher()
    async with run_platform(where, tmp_path, model=scripted_model(steps), sandboxes=(Sandboxes(sandbox),)) as at:
        await at.say("run it", session="s", root=at.folder("a.txt"), hitl="bypass")
        await at.asked(session="s")
        (shown,) = [event for event in await at.logged("s") if isinstance(event, StepChanged) and event.result]
        assert isinstance(shown.data, dict)
        assert (shown.data["exit_code"], shown.data["sandbox"]) == (0, sandbox.name)
        output = str(shown.data["output"])
        assert (output[:6], output[-5:], len(output) < 50_000) == ("beginx", "xend\n", True)


@pytest.mark.requirement("S2-08", "S2-09", "S3-05", "P4", "P5")
async def test_page_edit_and_command_of_one_plan_roll_back(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    async with web_site.serving() as site:
        site.paths["/words"] = web_site.page("three short words", "text/plain")
        steps = plan(*counting(site.url("/words", web_site.PRIVATE)))
        settings = {"tool_executor": {"web": {"allow_hosts": [f"{web_site.PRIVATE}:{site.port}"]}}}
        sandboxes = (Sandboxes(rig.launcher()),)
        async with run_platform(
            where, tmp_path, model=scripted_model(steps), settings=settings, sandboxes=sandboxes
        ) as at:
            (at.root / "count.py").write_text("pass\n")
            turn = await at.say("count the words of the page", session="s", root=at.root)
            assert (await at.finish(turn, session="s")).state == "completed"
            assert (at.root / "count.txt").read_text() == "3"
            assert (at.root / "count.py").read_text() == COUNT
            undo = await at.roll_back(session="s")
            await at.finish(undo, session="s")
            assert [path.name for path in at.root.iterdir() if path.is_file()] == ["count.py"]
            assert (at.root / "count.py").read_text() == "pass\n"
