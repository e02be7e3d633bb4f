"""A plan carried out step by step."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import (
    ActionRecorded,
    ActionsRecorded,
    MessageCompleted,
    PlanRequested,
    RememberRequested,
    StepChanged,
    TurnEnded,
    TurnQueued,
)
from libs.events.values import Plan, Step, StepState
from libs.models.ports import PlanDraft
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model
from tests.support.scripted import Scripted

LIST = ("manage-files.list", {"path": "."})
LOOK = ("manage-files.get_metadata", {"path": "a.txt"})


@pytest.mark.requirement("S4-36")
async def test_dependents_of_a_failed_step_are_skipped_and_others_run(home: Dsns, tmp_path: Path) -> None:
    steps = plan(
        ("manage-files.get_metadata", {"path": "gone.txt"}),
        ("search-files.search", {"query": "x", "top_k": "$step(1).files"}),
        LIST,
    )
    async with run_platform(home, tmp_path, model=scripted_model(steps)) as at:
        turn = await at.say("look", session="s", root=at.folder("a.txt"))
        assert (await at.ended(turn, session="s")).state == "completed"
        assert await at.steps("s") == {1: StepState.FAILED, 2: StepState.SKIPPED, 3: StepState.SUCCEEDED}


@pytest.mark.requirement("S4-35")
async def test_reference_resolves_to_the_output_of_an_earlier_step(home: Dsns, tmp_path: Path) -> None:
    steps = plan(LIST, ("manage-files.delete", {"paths": "$step(1).nodes"}))
    async with run_platform(home, tmp_path, model=scripted_model(steps)) as at:
        await at.say("delete", session="s", root=at.folder("a.txt", "b.txt"))
        asked = await at.asked(session="s")
        assert asked.args == {"paths": ["a.txt", "b.txt"]}
        assert [item["id"] for item in asked.items] == ["a.txt", "b.txt"]


async def test_a_step_shows_policys_verdict_and_rule(home: Dsns, tmp_path: Path) -> None:
    steps = plan(LIST, ("manage-files.delete", {"paths": ["a.txt"]}))
    async with run_platform(home, tmp_path, model=scripted_model(steps)) as at:
        await at.say("delete", session="s", root=at.folder("a.txt"))
        asked = await at.asked(session="s")
        shown = {e.ordinal: (e.verdict, e.rule) for e in await at.logged("s") if isinstance(e, StepChanged)}
        assert {ordinal: verdict for ordinal, (verdict, _) in shown.items()} == {1: "allow", 2: "ask"}
        assert shown[2][1] == asked.rule


async def test_denied_change_names_the_missing_scope(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as at:
        folder = at.folder("a.txt")
        turn = await at.say("delete a.txt", session="s", root=folder, scopes=("chat", "files:read"))
        await at.ended(turn, session="s")
        answer = (await at.until(MessageCompleted, session="s")).text
        assert "the policy does not allow it; your key lacks the scope files:write" in answer
        assert (folder / "a.txt").exists()


@pytest.mark.requirement("S3-09")
async def test_an_answer_follows_the_last_step(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST))) as at:
        turn = await at.say("look", session="s", root=at.folder("a.txt"))
        assert (await at.until(MessageCompleted, session="s")).text == "done"
        assert (await at.ended(turn, session="s")) == TurnEnded(turn_id=turn, state="completed")
        await at.quiet()


@pytest.mark.requirement("S3-09")
async def test_message_and_answer_are_worth_remembering(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST))) as at:
        await at.finish(await at.say("look", session="s", root=at.folder()), session="s")
        kept = [e for e in await at.logged("s") if isinstance(e, RememberRequested)]
        assert [(e.kind, e.text) for e in kept] == [("message", "look"), ("answer", "done")]


async def test_answer_without_a_folder_names_the_option_for_one(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST))) as at:
        turn = await at.say("look", session="s")
        assert "--in DIR" in (await at.until(MessageCompleted, session="s")).text
        await at.ended(turn, session="s")
        assert await at.steps("s") == {}


async def test_a_later_message_waits_and_then_has_its_turn(home: Dsns, tmp_path: Path) -> None:
    steps = plan(("manage-files.create", {"path": ".", "name": "n", "type": "directory"}))
    async with run_platform(home, tmp_path, model=scripted_model(steps, plan(LIST))) as at:
        first = await at.say("make", session="s", root=at.folder())
        asked = await at.asked(session="s")
        second = await at.say("look", session="s")
        assert (await at.until(TurnQueued, session="s")).position == 1
        await at.decide(asked, "deny", session="s")
        assert (await at.ended(first, session="s")).state == "completed"
        assert (await at.ended(second, session="s")).state == "completed"


async def test_repeated_message_starts_no_second_turn(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST), plan(LIST))) as at:
        turn = await at.say("look", session="s", root=at.folder(), turn="t-1")
        await at.finish(turn, session="s")
        await at.say("look", session="s", turn="t-1")
        await at.finish(await at.say("look", session="s"), session="s")
        ends = [e for e in await at.logged("s") if isinstance(e, TurnEnded)]
        assert len(ends) == 2


async def test_incomplete_round_is_followed_by_one_with_its_observations(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST, complete=False), plan(LOOK))) as at:
        await at.finish(await at.say("look", session="s", root=at.folder("a.txt")), session="s")
        asked = [e for e in await at.logged("s") if isinstance(e, PlanRequested)]
        assert [e.round for e in asked] == [1, 2]
        assert [seen.data for seen in asked[1].task.observations] == [{"nodes": ["a.txt"], "count": 1}]


@pytest.mark.requirement("S0-04", "S0-28", "S0-31")
async def test_next_turn_is_given_its_own_sessions_history(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST), plan(LIST), plan(LIST))) as at:
        for session, text in (("s", "look"), ("other", "glance"), ("s", "look again")):
            await at.finish(await at.say(text, session=session, root=at.folder("a.txt")), session=session)
        asked = [e.task.history for e in await at.logged("s") if isinstance(e, PlanRequested)]
        assert asked[0] == ()
        assert [(each.text, each.answer, each.shown) for each in asked[1]] == [("look", "done", ("a.txt",))]
        recorded = [e for e in await at.logged("s") if isinstance(e, ActionRecorded | ActionsRecorded)]
        assert "tool.execute" in {e.action for e in recorded if isinstance(e, ActionRecorded)}


async def test_plan_ids_from_a_model_are_replaced(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST), plan(LOOK))) as at:
        where = at.folder("a.txt")
        await at.finish(await at.say("look", session="s1", root=where), session="s1")
        await at.finish(await at.say("look", session="s2", root=where), session="s2")
        assert await _kept(at) == [("s1", "manage-files.list"), ("s2", "manage-files.get_metadata")]


async def test_plan_with_impossible_dependencies_is_resolved_again(home: Dsns, tmp_path: Path) -> None:
    step = Step(step_id="s", ordinal=1, description="x", tool="manage-files.list", args={"path": "."}, depends_on=(1,))
    mended = plan(LIST)
    model = Scripted(plans=[PlanDraft(Plan(plan_id="p", steps=(step,)))], resolutions=[mended], answers=[("ok",)])
    async with run_platform(home, tmp_path, model=model) as at:
        turn = await at.say("look", session="s", root=at.folder())
        assert (await at.ended(turn, session="s")).state == "completed"
        assert model.asked == ["plan", "resolve", "answer"]


async def _kept(at: RunningPlatform) -> list[tuple[str, str]]:
    async with at.platform.database.read("conversation_worker", "local") as connection:
        rows = await connection.fetch("select session_id, tool from conversation.plan_steps order by 1")
    return [(row["session_id"], row["tool"]) for row in rows]
