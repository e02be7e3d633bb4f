"""What a person decides counts for exactly what was asked, once, and in time."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import (
    ApprovalClosed,
    ApprovalRequested,
    FeedbackGiven,
    PlanRequested,
    StepChanged,
    ToolRequested,
    TurnEnded,
)
from libs.events.values import Hitl, StepState
from tests.support.platform import WHO, RunningPlatform, plan, run_platform, scripted_model

MAKE = ("manage-files.create", {"path": ".", "name": "n", "type": "directory"})
DAY = 24 * 3600.0
CLEAN = plan(
    ("remove-duplicates.scan", {"path": ".", "strategy": "hash"}),
    ("remove-duplicates.remove", {"groups": "$step(1).groups"}),
)

TIDY = plan(
    ("manage-files.list", {"path": ".", "include": ["*.tmp"]}),
    ("manage-files.delete", {"paths": "$step(1).nodes"}),
)


SETTLE = plan(
    ("manage-files.list", {"path": ".", "containing": "PAID"}),
    ("manage-files.delete", {"paths": "$step(1).nodes"}),
)


async def asked_to_make(at: RunningPlatform) -> tuple[str, ApprovalRequested]:
    turn = await at.say("make", session="s", root=at.folder("a.txt"))
    return turn, await at.asked(session="s")


async def closed(at: RunningPlatform) -> ApprovalClosed:
    return await at.until(ApprovalClosed, session="s")


async def calls(at: RunningPlatform) -> list[str]:
    return [e.tool for e in await at.logged("s") if isinstance(e, ToolRequested)]


@pytest.mark.requirement("A22a")
async def test_approval_with_another_digest_is_stale_and_runs_nothing(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        _, asked = await asked_to_make(at)
        await at.decide(asked, session="s", digest="of what was shown before")
        assert (await closed(at)).outcome == "stale"
        assert await calls(at) == []


@pytest.mark.requirement("A22a")
async def test_change_without_an_effect_needs_no_approval(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(CLEAN)) as at:
        await at.say("clean", session="s", root=at.folder("a.txt"))
        await at.until(TurnEnded, session="s")
        assert await calls(at) == ["remove-duplicates.scan"]
        assert not [e for e in await at.logged("s") if isinstance(e, ApprovalRequested)]


@pytest.mark.parametrize("hitl", [Hitl.BYPASS, Hitl.KEY])
async def test_question_counts_further_matches_in_subfolders(home: Dsns, tmp_path: Path, hitl: Hitl) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TIDY)) as at:
        folder = at.folder("a.tmp", "deep/b.tmp", "deep/er/c.tmp")
        await at.say("delete the tmp files", session="s", root=folder, hitl=hitl)
        asked = await at.asked(session="s")
        assert asked.detail == "2 more in subfolders; to include them, say: in all subfolders"


@pytest.mark.parametrize("hitl", [Hitl.BYPASS, Hitl.KEY])
async def test_question_quotes_the_matching_and_the_denying_lines(home: Dsns, tmp_path: Path, hitl: Hitl) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(SETTLE)) as at:
        folder = at.folder("a.txt", "b.txt", "c.txt")
        for name, text in {"a.txt": "one\nPAID in May", "b.txt": "Not paid yet", "c.txt": "two"}.items():
            (folder / name).write_text(text)
        await at.say("delete the bills that say PAID", session="s", root=folder, hitl=hitl)
        asked = await at.asked(session="s")
        assert asked.detail == "left out, since it says otherwise: b.txt (“Not paid yet”)"
        if asked.kind == "commit":
            assert [*asked.items] == [{"id": "a.txt", "change": "deleted", "says": "PAID in May"}]


async def test_end_of_a_turn_reports_matches_only_in_subfolders(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TIDY)) as at:
        turn = await at.say("delete the tmp files", session="s", root=at.folder("a.txt", "deep/b.tmp"))
        ended = await at.ended(turn, session="s")
        assert (ended.state, ended.reason) == ("completed", "MORE_BELOW")


@pytest.mark.parametrize("hitl", [Hitl.BYPASS, Hitl.KEY])
async def test_next_turn_knows_that_a_person_refused_this_one(home: Dsns, tmp_path: Path, hitl: Hitl) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(TIDY, TIDY)) as at:
        turn = await at.say("delete the tmp files", session="s", root=at.folder("a.tmp"), hitl=hitl)
        await at.decide(await at.asked(session="s"), "deny", session="s")
        assert (await at.ended(turn, session="s")).reason == "DENIED"
        await at.say("not a.tmp", session="s")
        await at.asked(session="s")
        planned = [event.task for event in await at.logged("s") if isinstance(event, PlanRequested)]
        assert [each.reason for each in planned[-1].history] == ["DENIED"]


@pytest.mark.requirement("A22a")
@pytest.mark.parametrize("hitl", [Hitl.KEY, Hitl.ALL, Hitl.BYPASS])
async def test_change_of_an_empty_list_needs_no_approval(home: Dsns, tmp_path: Path, hitl: Hitl) -> None:
    found = ("search-files.find", {"path": ".", "include": ["*.tmp"], "recursive": True})
    sort = ("organize-by-type.sort", {"source": "$step(1).nodes", "target": ".", "by": "extension_category"})
    async with run_platform(home, tmp_path, model=scripted_model(plan(found, sort))) as at:
        turn = await at.say("sort the tmp files", session="s", root=at.folder("a.txt"), hitl=hitl)
        await at.finish(turn, session="s")
        asked = [event.tool for event in await at.logged("s") if isinstance(event, ApprovalRequested)]
        assert "organize-by-type.sort" not in asked


@pytest.mark.requirement("A22a")
async def test_question_about_a_new_archive_counts_its_files_by_kind(home: Dsns, tmp_path: Path) -> None:
    listed = ("manage-files.list", {"path": "2021"})
    whole = ("archive-files.pack", {"paths": ["2021", "d.txt"], "archive": "whole.zip"})
    some = ("archive-files.pack", {"paths": "$step(1).nodes", "archive": "some.zip"})
    async with run_platform(home, tmp_path, model=scripted_model(plan(listed, whole, some))) as at:
        folder = at.folder(*(f"2021/{n}.csv" for n in range(5)), "d.txt")
        await at.say("zip it", session="s", root=folder, hitl=Hitl.BYPASS)
        told = {item["id"]: item["packs"] for item in (await at.asked(session="s")).items if isinstance(item, dict)}
        assert told == {
            "whole.zip": {"files": 6, "of": ["2021", "d.txt"], "more": 0},
            "some.zip": {"files": 5, "of": ["2021/0.csv", "2021/1.csv", "2021/2.csv"], "more": 2},
        }


@pytest.mark.requirement("A22a")
async def test_a_second_answer_changes_nothing(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        _, asked = await asked_to_make(at)
        await at.decide(asked, "deny", session="s")
        await at.decide(asked, session="s")
        assert [(await closed(at)).outcome, (await closed(at)).outcome] == ["denied", "stale"]
        assert await calls(at) == []


@pytest.mark.requirement("A22a")
async def test_answer_after_the_rules_changed_is_asked_for_again(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        turn, asked = await asked_to_make(at)
        at.judge.renamed["tool.execute"] = "a stricter rule"
        await at.decide(asked, session="s")
        assert (await closed(at)).outcome == "superseded"
        again = await at.asked(session="s")
        assert again.rule == "a stricter rule"
        assert await calls(at) == []
        await at.decide(again, session="s")
        assert (await at.finish(turn, session="s")).state == "completed"


@pytest.mark.requirement("A22a")
async def test_a_diff_approved_under_other_rules_is_asked_for_again(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        turn, step = await asked_to_make(at)
        await at.decide(step, session="s")
        commit = await at.asked(session="s")
        at.judge.renamed["workspace.commit"] = "a stricter rule"
        await at.decide(commit, session="s")
        again = await at.asked(session="s")
        assert again.kind == "commit"
        assert not (at.root / "work" / "n").exists()
        await at.decide(again, session="s")
        await at.ended(turn, session="s")
        assert (at.root / "work" / "n").is_dir()


@pytest.mark.requirement("A22a")
async def test_unanswered_approval_expires_and_runs_nothing(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        turn, asked = await asked_to_make(at)
        await at.later(DAY + 1)
        assert (await closed(at)).outcome == "expired"
        assert (await at.ended(turn, session="s")).state == "completed"
        await at.decide(asked, session="s")
        assert (await closed(at)).outcome == "stale"
        assert await calls(at) == []


@pytest.mark.requirement("A22a")
async def test_undecided_diff_expires_and_is_discarded(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        turn, step = await asked_to_make(at)
        await at.decide(step, session="s")
        await at.asked(session="s")
        await at.later(DAY + 1)
        assert (await at.ended(turn, session="s")).reason == "APPROVAL_EXPIRED"
        assert not (at.root / "work" / "n").exists()
        await at.quiet()


@pytest.mark.requirement("S4-34")
@pytest.mark.parametrize(
    ("hitl", "kinds"),
    [(Hitl.ALL, ["step", "step", "commit"]), (Hitl.KEY, ["step", "commit"]), (Hitl.BYPASS, ["commit"])],
)
async def test_each_mode_asks_for_its_own_approvals(home: Dsns, tmp_path: Path, hitl: Hitl, kinds: list[str]) -> None:
    async with run_platform(
        home, tmp_path, model=scripted_model(plan(("manage-files.list", {"path": "."}), MAKE))
    ) as at:
        await at.finish(await at.say("make", session="s", root=at.folder(), hitl=hitl), session="s")
        assert [e.kind for e in await at.logged("s") if isinstance(e, ApprovalRequested)] == kinds


@pytest.mark.requirement("A22a")
async def test_turn_asks_about_one_step_at_a_time(home: Dsns, tmp_path: Path) -> None:
    look = ("manage-files.list", {"path": "."}), ("manage-files.list", {"path": ".", "include": ["*.txt"]})
    async with run_platform(home, tmp_path, model=scripted_model(plan(*look))) as at:
        turn = await at.say("look", session="s", root=at.folder("a.txt"), hitl=Hitl.ALL)
        first = await at.asked(session="s")
        assert len([e for e in await at.logged("s") if isinstance(e, ApprovalRequested)]) == 1
        await at.decide(first, session="s")
        assert (await at.finish(turn, session="s")).state == "completed"
        assert await calls(at) == ["manage-files.list"] * 2


@pytest.mark.requirement("S4-49")
async def test_excluded_group_is_unchanged(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(CLEAN)) as at:
        where = at.folder()
        for name in ("a1", "a2", "b1", "b2"):
            (where / name).write_text(name[0])
        turn = await at.say("clean", session="s", root=where)
        asked = await at.asked(session="s")
        kept = asked.items[0]
        await at.decide(asked, "override", session="s", exclude=(kept["id"],))
        await at.finish(turn, session="s")
        left = {path.name for path in where.iterdir() if path.is_file()}
        assert set(kept["paths"]) <= left
        assert len(left) == 3


async def test_exclusion_of_an_unknown_name_leaves_the_question_open(home: Dsns, tmp_path: Path) -> None:
    steps = plan(("manage-files.list", {"path": "."}), ("manage-files.delete", {"paths": "$step(1).nodes"}))
    async with run_platform(home, tmp_path, model=scripted_model(steps)) as at:
        turn = await at.say("delete", session="s", root=at.folder("a", "b"))
        asked = await at.asked(session="s")
        await at.decide(asked, "override", session="s", exclude=("c",))
        assert (await closed(at)).reason == "nothing is called c"
        await at.decide(asked, "override", session="s", exclude=("a",))
        await at.finish(turn, session="s")
        assert {path.name for path in (at.root / "work").iterdir() if path.is_file()} == {"a"}


async def test_args_that_a_person_writes_must_fit_the_tool(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        turn, asked = await asked_to_make(at)
        await at.decide(asked, "override", session="s", args={"path": ".", "name": "../out", "type": "directory"})
        assert (await closed(at)).outcome == "stale"
        await at.decide(asked, "override", session="s", args={"path": ".", "name": "m", "type": "directory"})
        await at.finish(turn, session="s")
        assert (at.root / "work" / "m").is_dir()


@pytest.mark.requirement("S4-21", "A27")
async def test_stage_can_be_undone_while_a_person_is_asked(home: Dsns, tmp_path: Path) -> None:
    steps = plan(
        MAKE,
        ("manage-files.rename", {"path": "n", "new_name": "$step(1).created"}),
        ("manage-files.create", {"path": ".", "name": "m", "type": "directory"}),
    )
    async with run_platform(home, tmp_path, model=scripted_model(steps)) as at:
        turn, first = await asked_to_make(at)
        await at.decide(first, session="s")
        await at.asked(session="s")
        snapshot = next(e.snapshot for e in await at.logged("s") if isinstance(e, StepChanged) and e.snapshot)
        wish = await at.roll_back(session="s", snapshot=snapshot)
        assert (await at.ended(wish, session="s")).reason == "ROLLBACK"
        assert (await at.finish(turn, session="s")).state == "completed"
        assert await at.steps("s") == {1: StepState.ROLLED_BACK, 2: StepState.SKIPPED, 3: StepState.SUCCEEDED}
        assert [path.name for path in (at.root / "work").iterdir() if path.is_dir() and path.name in "nm"] == ["m"]


async def test_denied_changes_are_not_reported_as_made(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        turn, step = await asked_to_make(at)
        await at.decide(step, session="s")
        await at.decide(await at.asked(session="s"), "deny", session="s")
        assert (await at.until(TurnEnded, session="s")).turn_id == turn
        assert await at.steps("s") == {1: StepState.ROLLED_BACK}


@pytest.mark.parametrize(("verdict", "score"), [("approve", 1.0), ("deny", -1.0)])
async def test_a_verdict_on_a_diff_is_feedback_to_the_memory(
    home: Dsns, tmp_path: Path, verdict: str, score: float
) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        turn = await at.say("make", session="s", root=at.folder("a.txt"), hitl=Hitl.BYPASS)
        asked = await at.asked(session="s")
        await at.decide(asked, verdict, session="s")
        given = await at.until(FeedbackGiven, session="s")
        assert (given.subject, given.score, given.user) == (turn, score, WHO)
